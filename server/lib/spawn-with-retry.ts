import { backoff, sleep } from "./retry.ts";

/** Transient errors: full tables of descriptors or processes, too little memory, an executable being replaced. */
const mayPass = new Set(["EACCES", "EAGAIN", "EMFILE", "ENFILE", "ENOMEM", "ETXTBSY"]);
const startsMax = 5;

/** System error code of a failed process start; null for any other error. */
export function describeSpawnError(error: unknown): string | null {
  const code = error instanceof Error && "code" in error ? error.code : null;
  return typeof code === "string" && /^E[A-Z0-9]+$/.test(code) ? code : null;
}

/** Starts a process and retries transient errors for a few seconds. Throws the last error. */
export async function spawnWithRetry<T>(
  start: () => T | Promise<T>,
  signal: AbortSignal,
  pause: (ms: number, signal: AbortSignal) => Promise<void> = sleep,
): Promise<T> {
  for (let starts = 1; ; starts++) {
    try {
      return await start();
    } catch (error) {
      if (starts >= startsMax || !mayPass.has(describeSpawnError(error) ?? "")) throw error;
    }
    await pause(backoff(starts, null), signal);
    signal.throwIfAborted();
  }
}
