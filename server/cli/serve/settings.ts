import { isHostName } from "../../domain/web-origin.ts";
import { createAddressRules } from "../../lib/egress-policy.ts";
import type { LogFormat } from "../../lib/log.ts";
import { masterKeyFrom } from "../../lib/master-key.ts";
import { readProxy } from "../../lib/proxy.ts";
import { readStdioServers } from "../../runtime/mcp/stdio-config.ts";
import { connectionsFromEnvironment } from "../../runtime/models/registry.ts";
import { type ClusterFlags, planCluster } from "../cluster/cluster-plan.ts";
import { readDays } from "../commands/duration.ts";
import { CliError, usageError } from "../commands/exit-code.ts";
import { addressOf, allowsLoopback, type ListenFlags, planListener, splitList } from "./listen-plan.ts";
import { type MailFlags, mailSettings } from "./mail-settings.ts";
import { type OidcFlags, oidcSettings } from "./oidc-settings.ts";
import { defaultWorkers } from "./open-files.ts";
import { readReserve, type StorageFlags } from "./open-storage.ts";
import { type OtlpFlags, otlpTarget } from "./otlp-target.ts";
import type { SandboxFlag } from "./sandbox-flags.ts";
import { type BackupFlags, planBackups } from "./scheduled-backup.ts";

export interface ServeFlags
  extends ListenFlags,
    StorageFlags,
    OtlpFlags,
    OidcFlags,
    MailFlags,
    ClusterFlags,
    BackupFlags {
  workers?: string;
  egressAllow?: string;
  revokeExposedKeys: "on" | "off";
  auditRetentionDays: string;
  minFreeDisk?: string;
  metricsToken?: string;
  publicUrl?: string;
  proxy?: string;
  sandbox: SandboxFlag;
  python?: string;
  logFormat: LogFormat;
  json?: boolean;
}

type Environment = Record<string, string | undefined>;

/** Reads each setting from flags and variables, without side effects. Throws if it would prevent a start. */
const readers = {
  plan: (flags: ServeFlags) => planListener(flags),
  workers: ({ workers }: ServeFlags) => readWorkers(workers),
  cluster: (flags: ServeFlags, { RUNNEL_MASTER_KEY }: Environment) =>
    planCluster(flags, planListener(flags), RUNNEL_MASTER_KEY),
  egress(flags: ServeFlags) {
    const allow = splitList(flags.egressAllow);
    createAddressRules({ allow, loopback: false });
    return { allow, loopback: allowsLoopback(planListener(flags)) };
  },
  reserve: ({ minFreeDisk }: ServeFlags) => (minFreeDisk === undefined ? undefined : readReserve(minFreeDisk)),
  keepExposedKeys: ({ revokeExposedKeys }: ServeFlags) => revokeExposedKeys === "off",
  audit_days: ({ auditRetentionDays }: ServeFlags) => readDays(auditRetentionDays, "--audit-retention-days"),
  publicUrl: ({ publicUrl }: ServeFlags) => checkedOrigin(publicUrl),
  metricsToken: ({ metricsToken }: ServeFlags) => metricsToken,
  otlp: (flags: ServeFlags, environment: Environment) => otlpTarget(flags, environment),
  oidc: (flags: ServeFlags) => oidcSettings(flags),
  localAccounts: ({ localAccounts }: ServeFlags) => localAccounts !== "off",
  mail: (flags: ServeFlags) => mailSettings(flags),
  backupPlan: (flags: ServeFlags, environment: Environment) => planBackups(flags, environment),
  proxy: ({ proxy }: ServeFlags) => ofOperator(() => readProxy(proxy)),
  masterKey: (_: ServeFlags, environment: Environment) => ofOperator(() => masterKeyFrom(environment)),
  connections: (_: ServeFlags, environment: Environment) => ofOperator(() => connectionsFromEnvironment(environment)),
  programs: (_: ServeFlags, environment: Environment) => ofOperator(() => readStdioServers(environment)),
};

export type Settings = { [Name in keyof typeof readers]: ReturnType<(typeof readers)[Name]> };

/** Returns all settings. Throws with every fault, one per line. */
export function readSettings(flags: ServeFlags, environment: Environment): Settings {
  try {
    const read = Object.entries(readers).map(([name, reader]) => [name, reader(flags, environment)]);
    return Object.fromEntries(read) as unknown as Settings;
  } catch (first) {
    const faults = faultsOfSettings(flags, environment);
    throw faults.length > 1 ? usageError(faults.map(({ error }) => error.message).join("\n")) : first;
  }
}

/** Returns the URL for clients, once the port is known. */
export const publicUrlFrom =
  ({ plan, publicUrl }: Pick<Settings, "plan" | "publicUrl">) =>
  (port: number): string =>
    publicUrl ?? addressOf(plan, port);

interface SettingFault {
  setting: keyof Settings;
  error: Error;
}

export function faultsOfSettings(flags: ServeFlags, environment: Environment): SettingFault[] {
  const faults = new Map<string, SettingFault>(); // By message, because several settings read the listener's flags too.
  for (const [name, read] of Object.entries(readers))
    try {
      read(flags, environment);
    } catch (thrown) {
      const error = thrown as Error;
      if (!faults.has(error.message)) faults.set(error.message, { setting: name as keyof Settings, error });
    }
  return [...faults.values()];
}

/** Turns the error of a wrong variable into a usage error, which has no stack. */
function ofOperator<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw error instanceof CliError ? error : usageError((error as Error).message);
  }
}

function readWorkers(text: string | undefined): number {
  if (text === undefined) return defaultWorkers();
  if (!/^\d{1,3}$/.test(text)) throw usageError(`--workers takes a number of threads, not "${text}".`);
  return Number(text);
}

function checkedOrigin(text: string | undefined): string | undefined {
  if (text === undefined || (/^https?:\/\/[^/?#@]+$/.test(text) && isHostName(URL.parse(text)?.hostname ?? "")))
    return text;
  throw usageError(`--public-url takes an origin such as https://api.example.com, not "${text}".`);
}
