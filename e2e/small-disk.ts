import { closeSync, mkdtempSync, openSync, rmSync, statfsSync, truncateSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const megabyte = 1024 * 1024;

/** Whether this process may mount a disk of its own; else the tests that need one are skipped, and say so. */
export function canMount(): boolean {
  try {
    smallDisk(1)[Symbol.dispose]();
    return true;
  } catch {
    console.warn("SKIPPED: the tests of a full disk need the right to mount one (root on Linux).");
    return false;
  }
}

/** A disk in memory of so many megabytes, with a file on it that takes room or gives it back. */
export function smallDisk(megabytes: number) {
  const path = mkdtempSync(join(tmpdir(), "runnel-disk-"));
  run("mount", "-t", "tmpfs", "-o", `size=${megabytes}m,mode=700`, "tmpfs", path);
  const filler = join(path, "filler");
  const free = (): number => {
    const { bavail, bsize } = statfsSync(path);
    return bavail * bsize;
  };

  /** Takes all but so many bytes. */
  function fillUpTo(left: number): void {
    const file = openSync(filler, "a");
    try {
      while (free() > left) if (!take(file, Math.min(megabyte, free() - left))) return;
    } finally {
      closeSync(file);
    }
  }

  return {
    path,
    free,
    fillUpTo,
    empty: () => truncateSync(filler),
    [Symbol.dispose]() {
      run("umount", "-l", path);
      rmSync(path, { recursive: true, force: true });
    },
  };
}

function take(file: number, bytes: number): boolean {
  try {
    return writeSync(file, new Uint8Array(bytes)) > 0;
  } catch {
    return false; // The disk is full before it was expected: somebody else writes too.
  }
}

function run(...command: string[]): void {
  const { exitCode, stderr } = Bun.spawnSync(command);
  if (exitCode !== 0) throw new Error(`${command.join(" ")}: ${stderr}`);
}
