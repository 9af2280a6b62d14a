import type { Command } from "commander";
import { discoverIssuer } from "../console/oidc.ts";
import { createMailer } from "../lib/mailer.ts";
import { type MailFlags, mailSettings } from "./mail-settings.ts";
import { type OidcFlags, oidcSettings } from "./oidc-settings.ts";
import { type OtlpFlags, otlpTarget } from "./otlp-target.ts";

type Environment = Record<string, string | undefined>;

/** What is wrong with a setting, or what is well; null where nothing is set. Throws with what would stop a server's start. */
type Look = (flags: OidcFlags & MailFlags & OtlpFlags, environment: Environment) => Promise<string | null>;

/** Settings that only a try shows to be right, by the name that the doctor calls them. */
export const settingLooks: Record<string, Look> = {
  "sign-in": async (flags) => {
    const settings = oidcSettings(flags);
    if (!settings) return null;
    const { issuer } = (await discoverIssuer(settings)).serverMetadata();
    const passwords = flags.localAccounts === "off" ? "nobody by a password" : "or by a password";
    return `at ${issuer}, ${passwords}`;
  },
  mail: async (flags) => {
    const settings = mailSettings(flags);
    if (!settings) return null;
    await createMailer(settings).verify();
    return `from ${settings.from} by ${new URL(settings.url).host}`;
  },
  collector: async (flags, environment) => otlpTarget(flags, environment)?.url ?? null,
};

/** The flags of a command as its variables say them. */
export const flagsFrom = (command: Pick<Command, "options">, environment: Environment): Record<string, string> =>
  Object.fromEntries(
    command.options.flatMap((option) => {
      const value = environment[option.envVar ?? ""]?.trim();
      return value ? [[option.attributeName(), value]] : [];
    }),
  );
