import { statfsSync } from "node:fs";
import { platform } from "../lib/platform.ts";

// What Linux calls the file systems on which SQLite's locks and shared memory do not hold across machines.
const names: Record<number, string> = { 26985: "NFS", 20859: "SMB", 4283649346: "CIFS", 4266872130: "SMB2" };

/** The kind of network file system that a folder lies on; null on a disk of this machine. */
export function networkDisk(path: string): string | null {
  if (!platform.fileSystemTypes) return null; // The numbers mean something else elsewhere.
  return names[statfsSync(path).type >>> 0] ?? null;
}
