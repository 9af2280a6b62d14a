import { lchownSync, statSync } from "node:fs";
import { dirname } from "node:path";

/** Gives what root has made to whom the folder belongs: the server runs as that user, and could not read it. */
export function giveToFolderOwner(path: string): void {
  if (process.getuid?.() !== 0) return;
  const { uid, gid } = statSync(dirname(path));
  // A link itself, and not where whoever made it may have led it.
  lchownSync(path, uid, gid);
}
