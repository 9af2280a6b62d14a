import type { Command } from "commander";
import { discoverIssuer } from "../console/oidc.ts";
import { createMailer } from "../lib/mailer.ts";
import { SettingLacking } from "./exit-code.ts";
import { type MailFlags, mailSettings } from "./mail-settings.ts";
import { type OidcFlags, oidcSettings } from "./oidc-settings.ts";
import { tidyEnvironment } from "./option.ts";
import { type OtlpFlags, otlpTarget } from "./otlp-target.ts";
import { faultsOfSettings, type ServeFlags, type Settings } from "./settings.ts";

type Environment = Record<string, string | undefined>;

/** What is wrong with a setting, or what is well; null where nothing is set. Throws with what would stop a server's start. */
type Look = (flags: OidcFlags & MailFlags & OtlpFlags, environment: Environment) => Promise<string | null>;

/** Settings that only a try shows to be right, by the name that the doctor calls them. */
export const settingLooks: Record<string, Look> = {
  "sign-in": async (flags) => {
    const settings = oidcSettings(flags);
    if (!settings) return null;
    const { issuer } = (await reached(settings.issuer, discoverIssuer(settings))).serverMetadata();
    const passwords = flags.localAccounts === "off" ? "nobody by a password" : "or by a password";
    return `at ${issuer}, ${passwords}`;
  },
  mail: async (flags) => {
    const settings = mailSettings(flags);
    if (!settings) return null;
    const { host } = new URL(settings.url);
    await reached(host, createMailer(settings).verify());
    return `from ${settings.from} by ${host}`;
  },
  collector: async (flags, environment) => otlpTarget(flags, environment)?.url ?? null,
};

const reached = <T>(name: string, work: Promise<T>): Promise<T> =>
  work.catch((error: unknown) => {
    throw new Error(`${name} cannot be used: ${error instanceof Error ? error.message : error}`);
  });

/** A fault of one setting, in a sentence. */
interface Fault {
  /** Null of a flag whose value is none of its choices. */
  setting: keyof Settings | null;
  message: string;
  /** What is lacking may be said elsewhere. */
  isLacking: boolean;
}

/** Every fault that would stop the start of a server with these variables, as far as no file and no network says it. */
export function settingFaults(command: Pick<Command, "options">, environment: Environment): Fault[] {
  const flags = flagsFrom(command, environment);
  const given: Record<string, unknown> = { ...flags };
  const unknown = command.options.flatMap((option): Fault[] => {
    const value = given[option.attributeName()];
    if (!option.argChoices || option.argChoices.includes(value as string)) return [];
    const message = `${option.long} takes one of ${option.argChoices.join(", ")}, not "${value}".`;
    return [{ setting: null, message, isLacking: false }];
  });
  const unread = faultsOfSettings(flags, environment).map(
    ({ setting, error }): Fault => ({
      setting,
      message: error.message,
      isLacking: error instanceof SettingLacking,
    }),
  );
  return [...unknown, ...unread];
}

/** The flags of `serve` as its variables say them. */
export function flagsFrom(command: Pick<Command, "options">, environment: Environment): ServeFlags {
  const said = { ...environment };
  tidyEnvironment(command, said);
  return Object.fromEntries(
    command.options.flatMap((option) => {
      const value = said[option.envVar ?? ""] ?? option.defaultValue;
      const isSwitch = !option.required && !option.optional;
      return value === undefined ? [] : [[option.attributeName(), isSwitch || value]];
    }),
  ) as unknown as ServeFlags;
}
