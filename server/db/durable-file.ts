import { closeSync, fsyncSync, openSync } from "node:fs";
import { platform } from "../lib/platform.ts";

/** Makes the content of a file survive a power cut. */
export const syncFile = (path: string): void => sync(path, "r+");

/** Makes names survive one: a rename is durable when its folder is. */
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
