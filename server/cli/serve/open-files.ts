import { availableParallelism } from "node:os";
import { processTable } from "../../lib/process-table.ts";
import { programPlaces } from "../../runtime/sandbox/sandbox.ts";

// Open files, pipes and sockets of each part.
const server = 64; // The database and its WAL, listeners, folders, a few of everything.
const thread = 16;
const child = 3; // Two pipes, and one that reports its end.
const stdioServer = 4;
/** Connections of clients, and to models, tools and webhooks. */
const connections = 1024;

/** Number of worker threads, unless the operator sets it. */
export const defaultWorkers = (): number => Math.max(1, Math.floor(availableParallelism() / 2));

/** Returns the number of files that the server may need open at once, with everything at its limit. */
export function openFilesNeeded(workers: number, stdioServers: number): number {
  const cores = navigator.hardwareConcurrency;
  const threads = workers + 3; // One for a run that crashed a worker, and two that test tools.
  const spares = 3;
  const readers = cores + 3; // Readers of documents and capsules.
  const children = threads * (programPlaces.count + spares) + readers;
  return server + threads * (thread + stdioServers * stdioServer) + children * child + connections;
}

/** Returns a process's limit of open files, which the runtime has raised as far as possible; null if unknown. */
export const openFilesMax = (pid: number | "self" = "self"): number | null => processTable.openFilesMax(pid);

/** Returns advice if the limit may be too low; null if it suffices. */
export function openFilesAdvice(max: number | null, needed: number): string | null {
  if (max === null || max >= needed) return null;
  const raise = `raise it to ${2 ** Math.ceil(Math.log2(needed))} (ulimit -n, or LimitNOFILE= of its service)`;
  return `${max} files, pipes and sockets may be open at once, and the server may need ${needed}: ${raise}`;
}
