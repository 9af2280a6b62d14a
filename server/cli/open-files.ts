import { availableParallelism } from "node:os";
import { processTable } from "../lib/process-table.ts";
import { programPlaces } from "../sandbox/sandbox.ts";

// What each of these has open: files, pipes and sockets.
const server = 64; // The database and its log, listeners, folders, a few of everything.
const thread = 16;
const child = 3; // Two pipes, and what tells of its end.
const stdioServer = 4;
/** Of clients, and to models, tools and webhooks. */
const connections = 1024;

/** Threads for runs, unless the operator says otherwise. */
export const defaultWorkers = (): number => Math.max(1, Math.floor(availableParallelism() / 2));

/** How many files the server may have to have open at once, where all that it bounds is at its bound. */
export function openFilesNeeded(workers: number, stdioServers: number): number {
  const cores = navigator.hardwareConcurrency;
  const threads = workers + 3; // One for who comes beside others, and two that try tools.
  const spares = 3;
  const readers = cores + 3; // Of documents and capsules.
  const children = threads * (programPlaces.count + spares) + readers;
  return server + threads * (thread + stdioServers * stdioServer) + children * child + connections;
}

/** How many a process may have open. The runtime has raised it as far as it may; null where the system does not tell. */
export const openFilesMax = (pid: number | "self" = "self"): number | null => processTable.openFilesMax(pid);

/** What to do where a server may have too few open; null where there is nothing. */
export function openFilesAdvice(max: number | null, needed: number): string | null {
  if (max === null || max >= needed) return null;
  const raise = `raise it to ${2 ** Math.ceil(Math.log2(needed))} (ulimit -n, or LimitNOFILE= of its service)`;
  return `${max} files, pipes and sockets may be open at once, and the server may need ${needed}: ${raise}`;
}
