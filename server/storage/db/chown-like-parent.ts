import { lchownSync, statSync } from "node:fs";
import { dirname } from "node:path";

/**
 * Gives a file created by root to the owner of its folder: the server runs as that user and must be able to read it.
 */
export function chownLikeParent(path: string): void {
  if (process.getuid?.() !== 0) return;
  const { uid, gid } = statSync(dirname(path));
  // lchown: a symbolic link itself is changed, because its author could have pointed it at any file.
  lchownSync(path, uid, gid);
}
