import { lchownSync, statSync } from "node:fs";
import { dirname } from "node:path";

/** Gives what root has made to whom the folder belongs: the server runs as that user, and could not read it. */
export function giveToFolderOwner(path: string): void {
  if (process.getuid?.() !== 0) return;
  const { uid, gid } = statSync(dirname(path));
  // A symbolic link is changed itself, not the file that it points to: whoever made it could have chosen any.
  lchownSync(path, uid, gid);
}
