import { writeSync } from "node:fs";
import { CliError, OutputClosed } from "./exit-code.ts";

const full_ms = 5;

/**
 * Writes to stdout completely, because keys are shown only once. Throws OutputClosed if the reader is gone (`runnel
 * docs | head`), and CliError for other failures.
 */
export function writeOut(text: string): void {
  try {
    writeWhole(1, text);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    throw code === "EPIPE" ? new OutputClosed() : new CliError(`Standard output cannot be written: ${message}`);
  }
}

/** Writes to stderr, and ignores a closed one. */
export function writeBeside(text: string): void {
  try {
    writeWhole(2, text);
  } catch {
    // There is no other place to report this.
  }
}

function writeWhole(handle: number, text: string): void {
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; )
    try {
      at += writeSync(handle, bytes, at);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EAGAIN") throw error;
      Bun.sleepSync(full_ms); // The pipe's reader is slower.
    }
}
