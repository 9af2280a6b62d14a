import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** True if /proc has figures of a running process: Linux only. */
export const figuresAvailable = process.platform === "linux";

/** Returns the process id that the server stores for commands on its machine. */
export const serverPid = (dataDir: string): number =>
  JSON.parse(readFileSync(join(dataDir, "server.json"), "utf8")).pid as number;

/** Returns the resident memory of a process in bytes. */
export function residentBytes(pid: number): number {
  const match = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"));
  return Number(match![1]) * 1024;
}

/** Returns the number of open files and sockets of a process. */
export const openFiles = (pid: number): number => readdirSync(`/proc/${pid}/fd`).length;
