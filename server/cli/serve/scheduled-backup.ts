import type { Log } from "../../lib/log.ts";
import { requireValue } from "../../lib/require-value.ts";
import { selfCommand } from "../../lib/self-command.ts";
import { setBackgroundPriority } from "../../lib/thread-priority.ts";
import type { BackupState } from "../../services/metrics/gauges.ts";
import { getMetadata, setMetadata } from "../../storage/db/metadata.ts";
import type { Db } from "../../storage/db/open.ts";
import { outsideCluster } from "../cluster/outside-cluster.ts";
import { openBackupTarget } from "../commands/backup-target.ts";
import { readDuration } from "../commands/duration.ts";
import { SettingLacking } from "../commands/exit-code.ts";
import { readKeep } from "../commands/remote-backup.ts";

export interface BackupFlags {
  backupTo?: string;
  backupEvery: string;
  backupKeep?: string;
}

/** Target and interval of the server's backups. */
interface BackupPlan {
  to: string;
  every_s: number;
  keep: number | undefined;
}

/** Reads the flags; null if backups are not enabled. Throws for an invalid target or missing keys. */
export function planBackups(
  { backupTo, backupEvery, backupKeep }: BackupFlags,
  environment: Record<string, string | undefined>,
): BackupPlan | null {
  if (backupTo === undefined) {
    if (backupKeep !== undefined) throw new SettingLacking("--backup-keep says how many backups --backup-to keeps.");
    return null;
  }
  openBackupTarget(backupTo, environment);
  const every_s = requireValue(readDuration(backupEvery, "--backup-every", { least: 60 }), "--backup-every");
  return { to: backupTo, every_s, keep: readKeep(backupKeep, "--backup-keep") };
}

const day_s = 86_400;

/** Returns the maximum age of the newest backup: twice the interval, and a day for an outage of the store. */
export const oldBackup_ms = ({ every_s }: BackupPlan): number => 1000 * (2 * every_s + day_s);

/**
 * Returns the plan of a further cell, with its own folder. In a shared folder each cell would treat the others' backups
 * as its own: skip its backups while theirs are recent, and delete them.
 */
export const backupPlanOfCell = (plan: BackupPlan, cell: string): BackupPlan => ({
  ...plan,
  to: `${plan.to.replace(/\/+$/, "")}/${cell}`,
});

const [newestFact, sinceFact] = ["backup_newest_ms", "backup_since_ms"] as const;

const retry_s = 900;

interface BackupEvents {
  stored: { made_at: number; name: string; bytes: number } | null;
  newest?: { made_at: number };
}

/**
 * Backs the server up whenever the newest backup in the store is old enough, beginning soon after the start: one at a
 * time, by `runnel backup` in a separate process. Failures are retried earlier.
 */
export function backUpRegularly(
  { to, every_s, keep }: BackupPlan,
  { dataDir, db, log, now = Date.now }: { dataDir: string; db: Db; log: Log; now?: () => number },
  { first_ms = 5000, command = selfCommand("backup", "--to", to, "--data-dir", dataDir, "--json") } = {},
) {
  // Stored in the database: otherwise a server that restarts often would never notice that its backups fail.
  const storedTime = getMetadata(db.sqlite, newestFact);
  const state: BackupState = { last_success_ms: storedTime === null ? null : Number(storedTime), failures: 0 };
  const since_ms = Number(getMetadata(db.sqlite, sinceFact) ?? now());
  const note = (name: string, ms: number): void =>
    void db
      .write(() => setMetadata(db.sqlite, name, String(ms)))
      .catch((error) => log.warn("when a backup was made could not be noted", { error }));
  note(sinceFact, since_ms);
  const whole = [...command, "--if-older", `${every_s}s`, ...(keep === undefined ? [] : ["--keep", String(keep)])];
  let child: Bun.Subprocess<"ignore", "pipe", "pipe"> | null = null;
  let stopped = false;
  let timer = later(first_ms);

  function later(ms: number): Timer {
    return setTimeout(() => void backUp(), ms).unref();
  }

  async function backUp(): Promise<void> {
    const wait_ms = await attempt().catch((error: unknown) => {
      if (stopped) return 0;
      state.failures++;
      log.error("the backup failed", { to, error: error instanceof Error ? error.message : String(error) });
      return Math.min(every_s, retry_s) * 1000;
    });
    if (!stopped) timer = later(wait_ms);
  }

  /** Makes a backup if due. Returns the delay of the next attempt in ms. Throws with the command's error output. */
  async function attempt(): Promise<number> {
    // These server flags would have another meaning for the command.
    const {
      RUNNEL_BACKUP_TO: _,
      RUNNEL_BACKUP_KEEP: __,
      RUNNEL_INCLUDE_KEY: ___,
      ...env
    } = outsideCluster(process.env);
    child = Bun.spawn(whole, { env, stdin: "ignore", stdout: "pipe", stderr: "pipe" });
    child.unref();
    setBackgroundPriority(child.pid);
    const [stdoutText, stderrText, code] = await Promise.all([
      new Response(child.stdout).text(),
      new Response(child.stderr).text(),
      child.exited,
    ]);
    if (code !== 0) throw new Error(stderrText.trim().slice(0, 1000));
    const { stored, newest } = JSON.parse(stdoutText) as BackupEvents;
    state.last_success_ms = requireValue(stored ?? newest, "The newest backup").made_at;
    note(newestFact, state.last_success_ms);
    if (stored) log.info("a backup was stored and read back", { to, name: stored.name, bytes: stored.bytes });
    // At most one interval: if the clock was set back, the newest backup is in the future.
    return Math.min(Math.max(1000, state.last_success_ms + every_s * 1000 - now()), every_s * 1000);
  }

  return {
    state: (): BackupState => state,
    /** Time of the newest backup; before the first, the time when backups were enabled. */
    newest_ms: (): number => state.last_success_ms ?? since_ms,
    /** Kills a running backup; the next one deletes its leftovers. */
    async stop(): Promise<void> {
      stopped = true;
      clearTimeout(timer);
      child?.kill();
      await child?.exited;
    },
  };
}
