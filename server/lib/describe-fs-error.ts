import { statSync } from "node:fs";
import { resolve } from "node:path";

/** Explains a system error about a file that the operator named, as the end of a sentence. */
export function describeFsError(path: string, error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  if (code === "ENOENT") return `there is no file ${resolve(path)}.`;
  if (code === "EISDIR") return "it is a directory.";
  if (code === "EACCES") return `this user may not read it${ownerOf(path)}.`;
  return message;
}

/** Names the file's owner; empty if this user may not read its folder either. */
function ownerOf(path: string): string {
  try {
    const { uid, mode } = statSync(path);
    return `, which belongs to the user ${uid} (mode ${(mode & 0o777).toString(8)})`;
  } catch {
    return "";
  }
}
