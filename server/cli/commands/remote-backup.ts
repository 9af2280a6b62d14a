import { readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { isProcessAlive } from "../../lib/is-process-alive.ts";
import { setBackgroundPriority } from "../../lib/thread-priority.ts";
import { backUp } from "../../storage/db/backup.ts";
import { openDataDir } from "../../storage/db/data-dir.ts";
import { openBackupTarget } from "./backup-target.ts";
import { readDuration } from "./duration.ts";
import { usageError } from "./exit-code.ts";
import { print } from "./print.ts";

interface RemoteBackupFlags {
  dataDir: string;
  /** Backs up the leader of this cluster's cell instead of the data directory. */
  cluster?: string;
  cell: string;
  keep?: string;
  ifOlder?: string;
  includeKey?: boolean;
  json?: boolean;
}

/** Stores a backup in an object store, verifies it by reading it back, and deletes the oldest ones beyond `--keep`. */
export async function backUpTo(url: string, flags: RemoteBackupFlags) {
  const { keep, ifOlder, includeKey, json } = flags;
  const count = readKeep(keep);
  const age = readDuration(ifOlder, "--if-older");
  if (includeKey) throw usageError("The master key goes into no store: keep it apart.");
  const target = openBackupTarget(url, process.env);
  setBackgroundPriority();
  const newest = age === undefined ? undefined : await target.newest(Date.now());
  if (newest && age !== undefined && Date.now() - newest.made_at < age * 1000)
    return print(json, { stored: null, newest }, () => `${target.where}${newest.name} is young enough.`);
  await withCopy(flags, async (file) => {
    const stored = await target.store(file, Date.now());
    const deleted = count === undefined ? [] : await target.keepNewest(count, Date.now());
    print(json, { stored, encrypted: target.encrypts, deleted }, () =>
      [
        `${target.where}${stored.name} (${(stored.bytes / 1e6).toFixed(1)} MB, ${target.encrypts ? "encrypted" : "not encrypted"}) was read back and is whole.`,
        ...deleted.map((name) => `Deleted ${name}.`),
      ].join("\n"),
    );
  });
}

async function withCopy({ dataDir, cluster, cell }: RemoteBackupFlags, work: (file: string) => Promise<void>) {
  if (cluster !== undefined) return await (await import("./fetch-backup.ts")).withBackupOf({ cluster, cell }, work);
  const dir = openDataDir(dataDir, { lock: false, create: false });
  removeLeftovers(dir.path);
  const file = join(dir.path, `backup-${process.pid}.db`);
  try {
    backUp(dir.database, file);
    await work(file);
  } finally {
    rmSync(file, { force: true });
  }
}

/** Deletes the copies of killed commands, each as large as the database. */
function removeLeftovers(folder: string): void {
  for (const name of readdirSync(folder)) {
    const [, pid] = /^backup-(\d+)\.db$/.exec(name) ?? [];
    // An earlier process may have had the number of this one.
    const isHeld = Number(pid) !== process.pid && isProcessAlive(Number(pid));
    if (pid !== undefined && !isHeld) rmSync(join(folder, name), { force: true });
  }
}

/** Reads the number of backups to keep; undefined stays undefined. Throws for an invalid number. */
export function readKeep(text: string | undefined, flag = "--keep"): number | undefined {
  if (text === undefined) return undefined;
  if (!/^[1-9]\d{0,4}$/.test(text)) throw usageError(`${flag} takes a number from 1 to 99999, not "${text}".`);
  return Number(text);
}

/** Downloads a backup from the URL of an object store; `remove` deletes the file. */
export async function fetchBackupFile(
  url: string,
  file: string,
): Promise<{ file: string; name: string; remove(): void }> {
  const [, parent, name] = /^(.*)\/(runnel-[^/]*\.db\.gz(?:\.age)?)$/.exec(url) ?? [];
  const remove = () => rmSync(file, { force: true });
  try {
    return { file, name: await openBackupTarget(parent ?? url, process.env).fetch(name ?? null, file), remove };
  } catch (error) {
    remove();
    throw error;
  }
}
