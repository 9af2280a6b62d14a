import type { MailSettings } from "../lib/mailer.ts";
import { secretsInUrl } from "../lib/url-secrets.ts";
import { SettingLacking, usageError } from "./exit-code.ts";

export interface MailFlags {
  smtpUrl?: string;
  mailFrom?: string;
}

/** Where mails go out; null where the server sends none. Throws for settings that are half of it. */
export function mailSettings({ smtpUrl, mailFrom }: MailFlags): MailSettings | null {
  if (!smtpUrl && !mailFrom) return null;
  if (!smtpUrl) throw new SettingLacking("--mail-from says whom mails are from, and without --smtp-url none is sent.");
  if (!mailFrom)
    throw new SettingLacking("--smtp-url also needs --mail-from: whom mails are from, such as runnel@example.com.");
  const url = URL.parse(smtpUrl);
  // Never what was given: it has a password in it.
  if (!url || !/^smtps?:$/.test(url.protocol) || url.hostname === "" || url.search !== "")
    throw usageError("--smtp-url takes an address such as smtps://user:password@mail.example.com:465.");
  if (!/^([^<>\r\n]* )?<?[^\s@<>]+@[^\s@<>]+>?$/.test(mailFrom))
    throw usageError(`--mail-from takes an address such as "runnel <runnel@example.com>", not "${mailFrom}".`);
  return { url: smtpUrl, from: mailFrom };
}

/** What of it no line of the log may hold. */
export const mailSecrets = (settings: MailSettings | null): string[] => (settings ? secretsInUrl(settings.url) : []);
