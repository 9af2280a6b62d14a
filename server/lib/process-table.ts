import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { join } from "node:path";
import { lazy } from "./lazy.ts";
import { platform } from "./platform.ts";

type Pid = number | "self";

/** Process information of the system. Null or empty for a process that is gone and on systems without it. */
type ProcessTable = ReturnType<typeof createProcessTable>;

/** Reads it from `folder`, in the format of Linux; null if the system has none. */
export function createProcessTable(folder: string | null) {
  function readOr<T, Else>(otherwise: Else, read: (folder: string) => T): T | Else {
    try {
      return folder === null ? otherwise : read(folder);
    } catch {
      return otherwise;
    }
  }
  const lines = (path: string): string => readFileSync(path, "latin1");
  const pageBytes = lazy(() => readOr(4096, (folder) => pageSizeIn(readFileSync(join(folder, "self/auxv"))) ?? 4096));
  return {
    /** Memory in use and processor time so far. */
    figures: (pid: number): { resident_mb: number; computed_ms: number } | null =>
      readOr(null, (folder) => {
        const stat = lines(join(folder, `${pid}`, "stat"));
        const after = stat.slice(stat.lastIndexOf(")") + 2).split(" "); // A name may contain anything.
        const numberAt = (index: number): number => Number(after[index]);
        return { resident_mb: (numberAt(21) * pageBytes()) / 2 ** 20, computed_ms: (numberAt(11) + numberAt(12)) * 10 };
      }),
    /** Ids of its threads; the pid itself if the system does not list threads. */
    threads: (pid: number): number[] =>
      folder === null ? [pid] : readOr([], (folder) => readdirSync(join(folder, `${pid}`, "task")).map(Number)),
    /** Maximum number of open files, pipes and sockets. */
    openFilesMax: (pid: Pid): number | null =>
      readOr(null, (folder) => {
        const [, max] = /^Max open files +(\S+)/m.exec(lines(join(folder, `${pid}`, "limits"))) ?? [];
        return max === "unlimited" ? Number.POSITIVE_INFINITY : Number(max);
      }),
    /** Numbers of its open file descriptors. */
    openFiles: (pid: Pid): number[] | null =>
      readOr(null, (folder) => readdirSync(join(folder, `${pid}`, "fd")).map(Number)),
    /** Target of a descriptor: a path, or `socket:[…]`. Null if it was closed meanwhile. */
    fileOf: (pid: Pid, number: number): string | null =>
      readOr(null, (folder) => readlinkSync(join(folder, `${pid}`, "fd", `${number}`))),
    /** The environment that this process was started with. */
    firstEnvironment: (): Record<string, string> | null =>
      readOr(null, (folder) =>
        Object.fromEntries(
          readFileSync(join(folder, "self/environ"), "utf8")
            .split("\0")
            .flatMap((line) => {
              const at = line.indexOf("=");
              return at < 0 ? [] : [[line.slice(0, at), line.slice(at + 1)]];
            }),
        ),
      ),
    /** Milliseconds that this thread was ready to run but had no core. */
    waitedForCore_ms: (): number | null =>
      readOr(null, (folder) => Number(lines(join(folder, "thread-self/schedstat")).split(" ")[1]) / 1e6),
  };
}

/**
 * Reads the page size from Linux's auxiliary vector of 64-bit pairs (getauxval(3)): some ARM machines use 16 or 64 KB.
 */
function pageSizeIn(vector: Buffer): number | null {
  for (let at = 0; at + 16 <= vector.length; at += 16)
    if (vector.readBigUInt64LE(at) === 6n) return Number(vector.readBigUInt64LE(at + 8)); // AT_PAGESZ
  return null;
}

/** Process information of this system. */
export const processTable: ProcessTable = createProcessTable(platform.processes);
