import { mkdirSync, rmSync, statfsSync, statSync } from "node:fs";
import { join } from "node:path";
import type { Backup } from "../domain/api-types/console.ts";
import { AppError } from "../domain/errors.ts";
import { notFound } from "../domain/not-found.ts";
import { timestamp } from "../domain/time.ts";
import type { Actor, StoreBase } from "../storage/db/audit.ts";
import { newConsoleId } from "./console-id.ts";

/** Copies the database into a new file and returns its schema version. */
export type MakeBackup = (file: string) => Promise<{ version: number }>;

interface BackupOptions extends StoreBase {
  /** Data directory; null for a database in memory. */
  dataDir: string | null;
  make: MakeBackup;
  /** Throws `storage_full` when there is no room for new work. */
  requireRoom: () => void;
}

const keptFor_ms = 15 * 60_000;

/** Backups of the dashboard. Each is created, downloaded and deleted; at most one is on the disk. */
export type Backups = ReturnType<typeof createBackups>;

export function createBackups({ db, audit, dataDir, make, requireRoom, now = Date.now }: BackupOptions) {
  const folder = dataDir === null ? null : join(dataDir, "backups-to-download");
  let ready: Backup | null = null;
  let timer: NodeJS.Timeout | undefined;
  let making: Promise<Backup> | null = null;

  /** Also deletes files that an earlier process left. */
  function forget(): void {
    clearTimeout(timer);
    ready = null;
    if (folder !== null) rmSync(folder, { recursive: true, force: true });
  }
  forget();

  async function perform(actor: Actor): Promise<Backup> {
    if (folder === null || dataDir === null) throw new Error("A database in memory has no backup.");
    forget();
    requireRoom();
    requireSpace(dataDir);
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const [id, at] = [newConsoleId("backup", now()), now()];
    const file = join(folder, id);
    const { version } = await make(file);
    const filename = `runnel-${timestamp(at).slice(0, 19).replaceAll(":", "")}.db`;
    const bytes = statSync(file).size;
    const times = { created_at: timestamp(at), expires_at: timestamp(now() + keptFor_ms) };
    ready = { id, object: "backup", filename, bytes, version, ...times };
    timer = setTimeout(forget, keptFor_ms).unref();
    await db.write(() => audit.note({ actor }, "backup.created", id, { bytes, version }));
    return ready;
  }

  return {
    /** Creates a backup. Concurrent callers get the same one. */
    create(actor: Actor): Promise<Backup> {
      making ??= perform(actor).finally(() => {
        making = null;
      });
      return making;
    },

    /** Returns the file with a name for the browser. Recorded in the audit log, because it contains all data. */
    async download(id: string, actor: Actor): Promise<Response> {
      if (folder === null || ready?.id !== id) throw notFound();
      const { filename } = ready;
      await db.write(() => audit.note({ actor }, "backup.downloaded", id));
      return new Response(Bun.file(join(folder, id)), {
        headers: {
          "content-type": "application/vnd.sqlite3",
          "content-disposition": `attachment; filename="${filename}"`,
          "cache-control": "no-store",
        },
      });
    },

    stop: forget,
  };
}

/** Throws if the disk lacks room for a copy, which is at most as large as the database. */
function requireSpace(dataDir: string): void {
  const { bavail, bsize } = statfsSync(dataDir);
  const needed = databaseBytes(dataDir) * 1.1;
  if (bavail * bsize > needed) return;
  const megabytes = Math.ceil(needed / 1e6);
  throw new AppError("storage_full", `A backup needs ${megabytes} MB on the server's disk. Make room first.`);
}

/** Size of the database and its WAL on the disk. */
export const databaseBytes = (dataDir: string): number =>
  ["runnel.db", "runnel.db-wal"]
    .map((name) => statSync(join(dataDir, name), { throwIfNoEntry: false })?.size ?? 0)
    .reduce((sum, size) => sum + size, 0);
