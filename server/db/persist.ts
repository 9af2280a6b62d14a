import { sleep } from "../lib/retry.ts";
import { isStorageRefusal } from "./damage.ts";
import type { Writer } from "./writer.ts";

const first_ms = 1000;
const longest_ms = 60_000;

/**
 * Writes what may not be lost and can wait: while the storage refuses it, as a full disk does, it is tried again.
 * Throws for the signal, and for what no time mends.
 */
export async function persist<T>(write: Writer, job: () => T, signal: AbortSignal, pause_ms = first_ms): Promise<T> {
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

/** A statement that is wrong, or breaks a rule of the tables, is so every time. */
const isOurs = (error: unknown): boolean => /^SQLITE_(ERROR|CONSTRAINT|MISUSE|MISMATCH|RANGE)/.test(codeOf(error));

const codeOf = (error: unknown): string => String((error as { code?: unknown } | null)?.code ?? "");
