import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** What the system knows of a running process; Linux alone tells it this way. */
export const figuresAvailable = process.platform === "linux";

/** The process id that the server left for commands on its machine. */
export const serverPid = (dataDir: string): number =>
  JSON.parse(readFileSync(join(dataDir, "server.json"), "utf8")).pid as number;

/** Memory of a process that is in use, in bytes. */
export function residentBytes(pid: number): number {
  const match = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"));
  return Number(match![1]) * 1024;
}

/** How many files and sockets a process has open. */
export const openFiles = (pid: number): number => readdirSync(`/proc/${pid}/fd`).length;
