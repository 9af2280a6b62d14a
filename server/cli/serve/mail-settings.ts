import type { MailSettings } from "../../lib/mailer.ts";
import { secretsInUrl } from "../../lib/url-secrets.ts";
import { SettingLacking, usageError } from "../commands/exit-code.ts";

export interface MailFlags {
  smtpUrl?: string;
  mailFrom?: string;
}

/** Reads the mail server; null if the server sends no mail. Throws for incomplete settings. */
export function mailSettings({ smtpUrl, mailFrom }: MailFlags): MailSettings | null {
  if (!smtpUrl && !mailFrom) return null;
  if (!smtpUrl) throw new SettingLacking("--mail-from is the sender of mails, and without --smtp-url none is sent.");
  if (!mailFrom)
    throw new SettingLacking("--smtp-url also needs --mail-from: the sender of the mails, such as runnel@example.com.");
  const url = URL.parse(smtpUrl);
  // The message does not quote the URL, which contains a password.
  if (!url || !/^smtps?:$/.test(url.protocol) || url.hostname === "" || url.search !== "")
    throw usageError("--smtp-url takes an address such as smtps://user:password@mail.example.com:465.");
  if (!/^([^<>\r\n]* )?<?[^\s@<>]+@[^\s@<>]+>?$/.test(mailFrom))
    throw usageError(`--mail-from takes an address such as "runnel <runnel@example.com>", not "${mailFrom}".`);
  return { url: smtpUrl, from: mailFrom };
}

/** Returns the secrets in the settings, which the log must not contain. */
export const mailSecrets = (settings: MailSettings | null): string[] => (settings ? secretsInUrl(settings.url) : []);
