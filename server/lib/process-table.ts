import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { join } from "node:path";
import { lazy } from "./lazy.ts";
import { platform } from "./platform.ts";

type Pid = number | "self";

/** What a system tells of its processes. Of one that is gone, and on a system that tells nothing, all is null or empty. */
type ProcessTable = ReturnType<typeof createProcessTable>;

/** Reads it as Linux writes it down, below `folder`; null: the system tells nothing. */
export function createProcessTable(folder: string | null) {
  function told<T, Else>(otherwise: Else, read: (folder: string) => T): T | Else {
    try {
      return folder === null ? otherwise : read(folder);
    } catch {
      return otherwise;
    }
  }
  const lines = (path: string): string => readFileSync(path, "latin1");
  const pageBytes = lazy(() => told(4096, (folder) => pageSizeIn(readFileSync(join(folder, "self/auxv"))) ?? 4096));
  return {
    /** Memory in use, and processor time so far. */
    figures: (pid: number): { resident_mb: number; computed_ms: number } | null =>
      told(null, (folder) => {
        const stat = lines(join(folder, `${pid}`, "stat"));
        const after = stat.slice(stat.lastIndexOf(")") + 2).split(" "); // From the third field on: a name may hold anything.
        const [user, system, pages] = [after[11], after[12], after[21]].map(Number);
        return { resident_mb: (pages! * pageBytes()) / 2 ** 20, computed_ms: (user! + system!) * 10 };
      }),
    /** Ids of its threads. Where the system does not tell, its own. */
    threads: (pid: number): number[] =>
      folder === null ? [pid] : told([], (folder) => readdirSync(join(folder, `${pid}`, "task")).map(Number)),
    /** How many files, pipes and sockets it may have open. */
    openFilesMax: (pid: Pid): number | null =>
      told(null, (folder) => {
        const [, max] = /^Max open files +(\S+)/m.exec(lines(join(folder, `${pid}`, "limits"))) ?? [];
        return max === "unlimited" ? Number.POSITIVE_INFINITY : Number(max);
      }),
    /** The numbers of those that it has open. */
    openFiles: (pid: Pid): number[] | null =>
      told(null, (folder) => readdirSync(join(folder, `${pid}`, "fd")).map(Number)),
    /** What one of them is: a path, or `socket:[…]`. Null for one that was closed since it was listed. */
    fileOf: (pid: Pid, number: number): string | null =>
      told(null, (folder) => readlinkSync(join(folder, `${pid}`, "fd", `${number}`))),
    /** The environment that this process was given, whatever was set in it since. */
    firstEnvironment: (): Record<string, string> | null =>
      told(null, (folder) =>
        Object.fromEntries(
          readFileSync(join(folder, "self/environ"), "utf8")
            .split("\0")
            .flatMap((line) => {
              const at = line.indexOf("=");
              return at < 0 ? [] : [[line.slice(0, at), line.slice(at + 1)]];
            }),
        ),
      ),
    /** For how many milliseconds this thread could have worked so far and had no core. */
    waitedForCore_ms: (): number | null =>
      told(null, (folder) => Number(lines(join(folder, "thread-self/schedstat")).split(" ")[1]) / 1e6),
  };
}

/** Of Linux's auxiliary vector, pairs of 64-bit words (getauxval(3)): some ARM machines have pages of 16 or 64 KB. */
function pageSizeIn(vector: Buffer): number | null {
  for (let at = 0; at + 16 <= vector.length; at += 16)
    if (vector.readBigUInt64LE(at) === 6n) return Number(vector.readBigUInt64LE(at + 8)); // AT_PAGESZ
  return null;
}

/** Of this system. */
export const processTable: ProcessTable = createProcessTable(platform.processes);
