import type { Command } from "commander";
import { discoverIssuer } from "../../dashboard-api/oidc.ts";
import { isOwnHost } from "../../lib/ip-address.ts";
import { createMailer } from "../../lib/mailer.ts";
import { readStdioServers, type StdioServer } from "../../runtime/mcp/stdio-config.ts";
import { SettingLacking } from "../commands/exit-code.ts";
import { isSwitch, tidyEnvironment } from "../commands/option.ts";
import { type ListenFlags, type ListenPlan, planListener } from "./listen-plan.ts";
import { mailSettings } from "./mail-settings.ts";
import { oidcSettings } from "./oidc-settings.ts";
import { otlpTarget } from "./otlp-target.ts";
import { faultsOfSettings, publicUrlFrom, type ServeFlags, type Settings } from "./settings.ts";

type Environment = Record<string, string | undefined>;

/** A text if all is well, otherwise a warning or a failure. */
export type Verdict = string | { result: "warn" | "fail"; detail: string };

/** Checks a setting; null if it is not set. Throws if it would prevent a start. */
type SettingCheck = (flags: ServeFlags, environment: Environment) => Promise<Verdict | null>;

/** Settings that only a test can verify, by their name in the doctor's output. */
export const settingChecks: Record<string, SettingCheck> = {
  "sign-in": async (flags) => {
    const settings = oidcSettings(flags);
    if (!settings) return null;
    const { issuer } = (await orUnreachable(settings.issuer, discoverIssuer(settings))).serverMetadata();
    const passwords = flags.localAccounts === "off" ? "no user by a password" : "or by a password";
    return describeRedirect(flags, `at ${issuer}, ${passwords}`);
  },
  mail: async (flags) => {
    const settings = mailSettings(flags);
    if (!settings) return null;
    const { host } = new URL(settings.url);
    await orUnreachable(host, createMailer(settings).verify());
    return describeRedirect(flags, `from ${settings.from} by ${host}`);
  },
  collector: async (flags, environment) => otlpTarget(flags, environment)?.url ?? null,
  programs: async (_, environment) => {
    const programs = Object.entries(programsOf(environment));
    const lacking = programs.filter(([, { command }]) => !Bun.which(command, { PATH: environment.PATH ?? "" }));
    if (lacking.length > 0)
      return {
        result: "warn",
        detail: lacking
          .map(([name, { command }]) => `there is no program ${command}, which stdio:${name} needs`)
          .join("; "),
      };
    return programs.map(([name]) => `stdio:${name}`).join(", ") || null;
  },
};

/**
 * Checks that links in mails and the issuer lead to the public URL: an address of this machine is unreachable for
 * others.
 */
function describeRedirect(flags: ServeFlags, well: string): Verdict {
  const plan = listenerOf(flags);
  if (!plan) return well;
  const address = publicUrlFrom({ plan, publicUrl: flags.publicUrl })(plan.port);
  if (!isOwnHost(new URL(address).hostname)) return `${well}; it leads back to ${address}`;
  return {
    result: "warn",
    detail: `${well}; it leads back to ${address}, which only this machine reaches: set --public-url`,
  };
}

/** Returns none for invalid variables, which are reported as faults of settings. */
function programsOf(environment: Environment): Record<string, StdioServer> {
  try {
    return readStdioServers(environment);
  } catch {
    return {};
  }
}

/** Returns null for invalid flags, which are reported as faults of settings. */
export function listenerOf(flags: ListenFlags): ListenPlan | null {
  try {
    return planListener(flags);
  } catch {
    return null;
  }
}

const orUnreachable = <T>(name: string, work: Promise<T>): Promise<T> =>
  work.catch((error: unknown) => {
    throw new Error(`${name} cannot be used: ${error instanceof Error ? error.message : error}`);
  });

/** A fault of one setting. */
interface Fault {
  /** Null for a flag whose value is not one of its choices. */
  setting: keyof Settings | null;
  message: string;
  /** False if another setting is missing, which may be set elsewhere. */
  isCertain: boolean;
}

/** Returns all faults that would prevent a start with these variables, without checking files or the network. */
export function settingFaults(command: Pick<Command, "options">, environment: Environment): Fault[] {
  const flags = flagsFrom(command, environment);
  const values: Record<string, unknown> = { ...flags };
  const unknown = command.options.flatMap((option): Fault[] => {
    const value = values[option.attributeName()];
    if (!option.argChoices || option.argChoices.includes(value as string)) return [];
    const message = `${option.long} takes one of ${option.argChoices.join(", ")}, not "${value}".`;
    return [{ setting: null, message, isCertain: true }];
  });
  const unread = faultsOfSettings(flags, environment).map(
    ({ setting, error }): Fault => ({
      setting,
      message: error.message,
      isCertain: !(error instanceof SettingLacking),
    }),
  );
  return [...unknown, ...unread];
}

/** Returns the flags of `serve` from its variables. */
export function flagsFrom(command: Pick<Command, "options">, environment: Environment): ServeFlags {
  const tidied = { ...environment };
  tidyEnvironment(command, tidied);
  return Object.fromEntries(
    command.options.flatMap((option) => {
      const value = tidied[option.envVar ?? ""] ?? option.defaultValue;
      return value === undefined ? [] : [[option.attributeName(), isSwitch(option) || value]];
    }),
  ) as unknown as ServeFlags;
}
