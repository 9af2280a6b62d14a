import { closeSync, fsyncSync, openSync } from "node:fs";
import { platform } from "../../lib/platform.ts";

/** Syncs the content of a file, so that it survives a power failure. */
export const syncFile = (path: string): void => sync(path, "r+");

/** Syncs a folder, so that renames in it survive a power failure. */
export function syncFolder(path: string): void {
  if (platform.syncsFolders) sync(path, "r");
}

function sync(path: string, flags: string): void {
  const file = openSync(path, flags);
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}
