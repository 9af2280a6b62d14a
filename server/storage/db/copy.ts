import { Database } from "bun:sqlite";
import { chmodSync, readdirSync, renameSync, rmSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { failpoint } from "../../lib/failpoint.ts";
import { faultsOf } from "./check.ts";
import { DatabaseUnusable, describeCorruption } from "./corruption.ts";
import { isDiskFull } from "./disk-guard.ts";
import { syncFile, syncFolder } from "./durable-file.ts";

/** Thrown if a copy could not be made or its target is not allowed. */
export class CopyRefused extends Error {
  override readonly name = "CopyRefused";
}

/**
 * Copies a database as of now, while writers continue. It has a temporary name until it is checked and durable: if the
 * process dies, `target` is the old file, missing, or a whole copy.
 */
export function copyDatabase(source: Database, target: string, change: (copy: Database) => void = () => {}): void {
  // A unique temporary name, so that the file of another process or of a person is never deleted.
  const partial = `${target}.${process.pid}.partial`;
  try {
    forgetStale(target);
    source.run("VACUUM INTO ?", [partial]);
    chmodSync(partial, 0o600);
    inspect(partial, source.filename, change);
    syncFile(partial);
    failpoint?.("mid_backup");
    renameSync(partial, target);
    syncFolder(dirname(target));
  } catch (error) {
    if (isDiskFull(error)) throw new CopyRefused(`There is no room for a copy of the database in ${dirname(target)}.`);
    throw describeCorruption(error, source.filename);
  } finally {
    forget(partial);
  }
}

/** Deletes partial copies left by killed processes, each as large as the database. */
function forgetStale(target: string): void {
  const [folder, name] = [dirname(target), basename(target)];
  for (const entry of readdirSync(folder)) {
    const [, pid] = (entry.startsWith(`${name}.`) && /^\.(\d+)\.partial$/.exec(entry.slice(name.length))) || [];
    if (pid && (Number(pid) === process.pid || !isRunning(Number(pid)))) forget(join(folder, entry));
  }
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as { code?: string }).code !== "ESRCH"; // EPERM: the process belongs to another user.
  }
}

function forget(partial: string): void {
  for (const part of ["", "-journal"]) rmSync(partial + part, { force: true });
}

function inspect(partial: string, source: string, change: (copy: Database) => void): void {
  const copy = new Database(partial, { readwrite: true, strict: true });
  try {
    change(copy);
    const faults = faultsOf(copy, "full");
    if (faults.length > 0) throw new DatabaseUnusable(source, `cannot be copied whole: ${faults.join("; ")}`);
  } finally {
    copy.close();
  }
}
