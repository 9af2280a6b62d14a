import { setPriority } from "node:os";
import { noteFact, readFact } from "../db/facts.ts";
import type { Db } from "../db/open.ts";
import type { Log } from "../lib/log.ts";
import { ownCommand } from "../lib/own-command.ts";
import type { BackupState } from "../metrics/gauges.ts";
import { openBackupTarget } from "./backup-target.ts";
import { readDuration } from "./duration.ts";
import { SettingLacking } from "./exit-code.ts";
import { outsideCluster } from "./outside-cluster.ts";
import { readKeep } from "./remote-backup.ts";

export interface BackupFlags {
  backupTo?: string;
  backupEvery: string;
  backupKeep?: string;
}

/** Where and how often the server backs itself up. */
interface BackupPlan {
  to: string;
  every_s: number;
  keep: number | undefined;
}

/** Reads the flags; null where no backups are wanted. Throws for a target that is none, or without keys. */
export function planBackups(
  { backupTo, backupEvery, backupKeep }: BackupFlags,
  environment: Record<string, string | undefined>,
): BackupPlan | null {
  if (backupTo === undefined) {
    if (backupKeep !== undefined) throw new SettingLacking("--backup-keep says how many backups --backup-to keeps.");
    return null;
  }
  openBackupTarget(backupTo, environment);
  const every_s = readDuration(backupEvery, "--backup-every", { least: 60 })!;
  return { to: backupTo, every_s, keep: readKeep(backupKeep, "--backup-keep") };
}

const day_s = 86_400;

/** How old the newest backup may be: twice the interval, and a day for an outage of the store. */
export const oldBackup_ms = ({ every_s }: BackupPlan): number => 1000 * (2 * every_s + day_s);

/**
 * The plan of a further cell, with a folder of its own. In a shared folder each cell would take the others' backups for its
 * own, make none while theirs are recent, and delete them.
 */
export const ofFurtherCell = (plan: BackupPlan, cell: string): BackupPlan => ({
  ...plan,
  to: `${plan.to.replace(/\/+$/, "")}/${cell}`,
});

const [newestFact, sinceFact] = ["backup_newest_ms", "backup_since_ms"] as const;

const background = 10; // As the command does itself: whoever asks the server goes first.
const retry_s = 900;

interface Told {
  stored: { made_at: number; name: string; bytes: number } | null;
  newest?: { made_at: number };
}

/**
 * Backs the server up, beginning soon after the start, each time that the newest backup in the store is old enough: one
 * after the other, by `runnel backup` in a process of its own. What failed is tried again sooner.
 */
export function backUpRegularly(
  { to, every_s, keep }: BackupPlan,
  { dataDir, db, log, now = Date.now }: { dataDir: string; db: Db; log: Log; now?: () => number },
  { first_ms = 5000, command = ownCommand("backup", "--to", to, "--data-dir", dataDir, "--json") } = {},
) {
  // In the database: a server that restarts often would otherwise never find that its backups fail.
  const noted = readFact(db.sqlite, newestFact);
  const state: BackupState = { last_success_ms: noted === null ? null : Number(noted), failures: 0 };
  const since_ms = Number(readFact(db.sqlite, sinceFact) ?? now());
  const note = (name: string, ms: number): void =>
    void db
      .write(() => noteFact(db.sqlite, name, String(ms)))
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

  /** How long to wait for the next one. Throws what the command complained of. */
  async function attempt(): Promise<number> {
    // Flags of the server that the command has too would have another meaning there.
    const {
      RUNNEL_BACKUP_TO: _,
      RUNNEL_BACKUP_KEEP: __,
      RUNNEL_INCLUDE_KEY: ___,
      ...env
    } = outsideCluster(process.env);
    child = Bun.spawn(whole, { env, stdin: "ignore", stdout: "pipe", stderr: "pipe" });
    child.unref();
    setPriority(child.pid, background);
    const [said, complaint, code] = await Promise.all([
      new Response(child.stdout).text(),
      new Response(child.stderr).text(),
      child.exited,
    ]);
    if (code !== 0) throw new Error(complaint.trim().slice(0, 1000));
    const { stored, newest } = JSON.parse(said) as Told;
    state.last_success_ms = (stored ?? newest!).made_at;
    note(newestFact, state.last_success_ms);
    if (stored) log.info("a backup was stored and read back", { to, name: stored.name, bytes: stored.bytes });
    // Where the clock went back the newest one is of tomorrow: no longer than a whole interval then, either.
    return Math.min(Math.max(1000, state.last_success_ms + every_s * 1000 - now()), every_s * 1000);
  }

  return {
    state: (): BackupState => state,
    /** When the newest was made; before there is one, when the server began to make them. */
    newest_ms: (): number => state.last_success_ms ?? since_ms,
    /** Ends a backup that is under way; the next one deletes what it left. */
    async stop(): Promise<void> {
      stopped = true;
      clearTimeout(timer);
      child?.kill();
      await child?.exited;
    },
  };
}
