import { sleep } from "../../lib/retry.ts";
import { isStorageRefusal } from "./corruption.ts";
import type { Writer } from "./writer.ts";

const first_ms = 1000;
const longest_ms = 60_000;

/**
 * Writes something that can wait but must not be lost: retries while the storage refuses it (full disk). Throws if the
 * signal aborts, and for errors that a retry cannot fix.
 */
export async function retryWrite<T>(write: Writer, job: () => T, signal: AbortSignal, pause_ms = first_ms): Promise<T> {
  for (let wait = pause_ms; ; wait = Math.min(2 * wait, longest_ms)) {
    signal.throwIfAborted();
    try {
      return await write(job);
    } catch (error) {
      if (!isStorageRefusal(error) || isOurs(error)) throw error;
      await sleep(wait, signal);
    }
  }
}

/** True for a wrong statement or a violated constraint, which fail every time. */
const isOurs = (error: unknown): boolean => /^SQLITE_(ERROR|CONSTRAINT|MISUSE|MISMATCH|RANGE)/.test(codeOf(error));

const codeOf = (error: unknown): string => String((error as { code?: unknown } | null)?.code ?? "");
