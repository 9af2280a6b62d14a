import { backoff, sleep } from "./retry.ts";

/** Full tables of descriptors or processes, too little memory, a program that is being replaced: what may pass. */
const mayPass = new Set(["EACCES", "EAGAIN", "EMFILE", "ENFILE", "ENOMEM", "ETXTBSY"]);
const startsMax = 5;

/** The system's name for why it started no process; null for an error of another kind. */
export function startFault(error: unknown): string | null {
  const code = error instanceof Error && "code" in error ? error.code : null;
  return typeof code === "string" && /^E[A-Z0-9]+$/.test(code) ? code : null;
}

/**
 * Starts a process; where the system says that it cannot now, it is asked again a few times, a few seconds in all. Throws
 * what it said last.
 */
export async function startPatiently<T>(
  start: () => T | Promise<T>,
  signal: AbortSignal,
  pause: (ms: number, signal: AbortSignal) => Promise<void> = sleep,
): Promise<T> {
  for (let starts = 1; ; starts++) {
    try {
      return await start();
    } catch (error) {
      if (starts >= startsMax || !mayPass.has(startFault(error) ?? "")) throw error;
    }
    await pause(backoff(starts, null), signal);
    signal.throwIfAborted();
  }
}
