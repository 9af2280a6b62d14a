import { readSync, writeSync } from "node:fs";

/** Reads exactly so many bytes from standard input, and waits for them without an event loop. Null: its end. */
export function readInput(length: number): Uint8Array<ArrayBuffer> | null {
  const bytes = new Uint8Array(length);
  for (let at = 0; at < length; ) {
    const count = patiently(() => readSync(0, bytes, at, length - at, null));
    if (count === 0) return null;
    at += count;
  }
  return bytes;
}

/** Writes all of it to standard output. */
export function writeOutput(bytes: Uint8Array): void {
  for (let at = 0; at < bytes.length; ) at += patiently(() => writeSync(1, bytes, at));
}

/** Pipes may have been made not to block. */
function patiently(act: () => number): number {
  for (;;) {
    try {
      return act();
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EAGAIN") throw error;
      Bun.sleepSync(1);
    }
  }
}
