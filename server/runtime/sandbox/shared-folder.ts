import { comparePaths, workspacePathFault } from "../../domain/workspace.ts";
import { workspaceLimits } from "../../domain/workspace-limits.ts";
import { sha256 } from "../../lib/hash.ts";
import type { FolderChanges, ProgramFile, SharedFile } from "./program.ts";

/** A file that a program left in the folder. */
export interface LeftFile {
  path: string;
  size: number;
  /** Returns null if it cannot be read. */
  read(): Uint8Array<ArrayBuffer> | null;
}

/** Files named in the note about those that were left out. */
const namedMost = 5;

/**
 * Compares what a program left in the folder with what it found there. Above the limits, files that are as before are
 * kept first, then the others in the order of their paths. `refused` are names of entries that are no files.
 */
export function folderChanges(
  before: readonly SharedFile[],
  left: readonly LeftFile[],
  refused: readonly string[] = [],
  uncounted = 0,
): FolderChanges {
  const known = new Map(before.map((file) => [file.name, file]));
  const sorted = left.toSorted((a, b) => comparePaths(a.path, b.path));
  const isEqual = ({ path, size, read }: LeftFile): boolean => {
    const file = known.get(path);
    if (file === undefined || file.bytes.length !== size) return false;
    const bytes = read();
    return bytes !== null && file.sha256 === sha256(bytes);
  };
  const equal = new Set(sorted.filter(isEqual));
  const kept = new Set([...equal].map(({ path }) => path));
  let room = workspaceLimits.bytes - [...equal].reduce((sum, { size }) => sum + size, 0);
  const changed: ProgramFile[] = [];
  const dropped = refused.toSorted(comparePaths);
  const faults = new Set(refused.length > 0 ? ["is not a plain file"] : []);
  const drop = (path: string, fault: string) => {
    dropped.push(path);
    faults.add(fault);
  };
  for (const file of sorted) {
    if (equal.has(file)) continue;
    const fault = workspacePathFault(file.path);
    if (fault !== null) drop(file.path, fault);
    else if (kept.size >= workspaceLimits.files) drop(file.path, `is one of more than ${workspaceLimits.files}`);
    else if (file.size > room) drop(file.path, `exceeds the folder's ${workspaceLimits.bytes} bytes`);
    else {
      const bytes = file.read();
      if (bytes === null) drop(file.path, "cannot be read");
      else {
        room -= bytes.length;
        kept.add(file.path);
        changed.push({ name: file.path, bytes });
      }
    }
  }
  const count = dropped.length + uncounted;
  return {
    changed,
    removed: [...known.keys()].filter((path) => !kept.has(path)),
    dropped: count,
    lost: [],
    notes: count === 0 ? [] : [droppedNote(count, dropped, [...faults])],
  };
}

function droppedNote(count: number, names: readonly string[], faults: readonly string[]): string {
  const named = names.slice(0, namedMost).map((name) => JSON.stringify(name.slice(0, 60)));
  const more = count > named.length ? " and others" : "";
  const reasons = faults.length > 0 ? faults.join("; ") : "the folder is too deep or has too many entries";
  return `${count} ${count === 1 ? "file was" : "files were"} not kept (${reasons}): ${named.join(", ")}${more}.`;
}

/** Folder of a program without a file system: it reads and writes whole files. Writing throws above the limits. */
export function openFolder(before: readonly SharedFile[]) {
  const files = new Map<string, Uint8Array<ArrayBuffer>>(before.map(({ name, bytes }) => [name, bytes]));
  let dropped = 0;
  return {
    names: (): string[] => [...files.keys()].sort(comparePaths),
    find: (path: string): Uint8Array<ArrayBuffer> | undefined => files.get(path),
    write(path: string, bytes: Uint8Array<ArrayBuffer>): void {
      const fault = workspacePathFault(path);
      if (fault !== null) throw new Error(`${path.slice(0, 60)} ${fault}.`);
      for (const other of files.keys())
        if (other.startsWith(`${path}/`) || path.startsWith(`${other}/`)) throw new Error(`${other} is in the way.`);
      const others = [...files].filter(([other]) => other !== path);
      const size = others.reduce((sum, [, { length }]) => sum + length, bytes.length);
      if (others.length >= workspaceLimits.files) throw new Error(`The workspace has ${workspaceLimits.files} files.`);
      if (size > workspaceLimits.bytes) throw new Error(`The workspace is full: ${workspaceLimits.bytes} bytes.`);
      files.set(path, bytes);
    },
    /** Returns whether there was one. */
    remove: (path: string): boolean => files.delete(path),
    /** Counts a file that is too large, without copying it. */
    drop: (): void => void dropped++,
    changes: (): FolderChanges =>
      folderChanges(
        before,
        Array.from(files, ([path, bytes]) => ({ path, size: bytes.length, read: () => bytes })),
        [],
        dropped,
      ),
  };
}
