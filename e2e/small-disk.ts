import { closeSync, mkdtempSync, openSync, rmSync, statfsSync, truncateSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const megabyte = 1024 * 1024;

/** True if this process may mount a disk; otherwise tests that need one are skipped with a message. */
export function canMount(): boolean {
  try {
    smallDisk(1)[Symbol.dispose]();
    return true;
  } catch {
    console.warn("SKIPPED: the tests of a full disk need the right to mount one (root on Linux).");
    return false;
  }
}

/** Mounts a disk in memory of this size, with a file on it that takes or frees space. */
export function smallDisk(megabytes: number) {
  const path = mkdtempSync(join(tmpdir(), "runnel-disk-"));
  run("mount", "-t", "tmpfs", "-o", `size=${megabytes}m,mode=700`, "tmpfs", path);
  const filler = join(path, "filler");
  const free = (): number => {
    const { bavail, bsize } = statfsSync(path);
    return bavail * bsize;
  };

  /** Fills all but this number of bytes. */
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
    return false; // The disk is full earlier than expected, because another process writes too.
  }
}

function run(...command: string[]): void {
  const { exitCode, stderr } = Bun.spawnSync(command);
  if (exitCode !== 0) throw new Error(`${command.join(" ")}: ${stderr}`);
}
