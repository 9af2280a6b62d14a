import { readFileSync, statSync } from "node:fs";

const fileMax_bytes = 4 * 1024 * 1024;

/** Reads a file, without the byte order mark that some editors write. */
export function readText(path: string): string | { fault: string } {
  try {
    if (statSync(path).size > fileMax_bytes) return { fault: `The file has more than ${fileMax_bytes} bytes.` };
    return new TextDecoder("utf-8", { fatal: true }).decode(readFileSync(path));
  } catch (error) {
    if (error instanceof TypeError) return { fault: "The file is not a text in UTF-8." };
    return { fault: `The file cannot be read: ${error instanceof Error ? error.message : String(error)}` };
  }
}
