import { readSync, writeSync } from "node:fs";

/** Reads exactly this many bytes from standard input, synchronously. Returns null at its end. */
export function readInput(length: number): Uint8Array<ArrayBuffer> | null {
  const bytes = new Uint8Array(length);
  for (let at = 0; at < length; ) {
    const count = retryWhileBusy(() => readSync(0, bytes, at, length - at, null));
    if (count === 0) return null;
    at += count;
  }
  return bytes;
}

/** Writes all bytes to standard output. */
export function writeOutput(bytes: Uint8Array): void {
  for (let at = 0; at < bytes.length; ) at += retryWhileBusy(() => writeSync(1, bytes, at));
}

/** Retries while the pipe is not ready, because it may be non-blocking. */
function retryWhileBusy(act: () => number): number {
  for (;;) {
    try {
      return act();
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EAGAIN") throw error;
      Bun.sleepSync(1);
    }
  }
}
