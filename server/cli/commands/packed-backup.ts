import { closeSync, existsSync, openSync, readSync } from "node:fs";
import { CliError } from "./exit-code.ts";

/** Throws for a file downloaded from a store by other tools, which is still compressed or encrypted. */
export function refusePacked(file: string): void {
  const start = startOf(file);
  const unpack = start.startsWith("\x1f\x8b")
    ? `gunzip < ${file} > backup.db`
    : start.startsWith("age-encryption.org")
      ? `age -d ${file} | gunzip > backup.db`
      : null;
  if (unpack !== null)
    throw new CliError(
      `${file} is as a store has it. Name it there, as s3://bucket/folder/name, or unpack it: ${unpack}`,
    );
}

/** Returns the first bytes of a file as Latin-1; empty if it is missing or a folder. */
function startOf(file: string): string {
  if (!existsSync(file)) return "";
  const handle = openSync(file, "r");
  try {
    const bytes = Buffer.alloc(18);
    return bytes.toString("latin1", 0, readSync(handle, bytes));
  } catch {
    return ""; // It is a folder.
  } finally {
    closeSync(handle);
  }
}
