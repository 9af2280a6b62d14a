import { statfsSync } from "node:fs";
import { platform } from "../../lib/platform.ts";

// Linux's numbers of the file systems on which SQLite's locks and shared memory do not work across machines.
const names: Record<number, string> = { 26985: "NFS", 20859: "SMB", 4283649346: "CIFS", 4266872130: "SMB2" };

/** Returns the kind of network file system of a folder; null for a local disk. */
export function networkDisk(path: string): string | null {
  if (!platform.fileSystemTypes) return null; // Other systems use other numbers.
  return names[statfsSync(path).type >>> 0] ?? null;
}
