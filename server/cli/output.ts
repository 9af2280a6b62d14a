import { writeSync } from "node:fs";
import { CliError, OutputClosed } from "./exit-code.ts";

const full_ms = 5;

/**
 * Writes on standard output, whole: a key that is shown once may not be lost by an end that comes early. Throws
 * OutputClosed where nobody reads it any more, as in `runnel docs | head`, and what else keeps it from being written.
 */
export function writeOut(text: string): void {
  try {
    writeWhole(1, text);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    throw code === "EPIPE" ? new OutputClosed() : new CliError(`Standard output cannot be written: ${message}`);
  }
}

/** Writes on standard error, where somebody reads it. */
export function writeBeside(text: string): void {
  try {
    writeWhole(2, text);
  } catch {
    // There is no other place to say so.
  }
}

function writeWhole(handle: number, text: string): void {
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; )
    try {
      at += writeSync(handle, bytes, at);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EAGAIN") throw error;
      Bun.sleepSync(full_ms); // A pipe whose reader is slower.
    }
}
