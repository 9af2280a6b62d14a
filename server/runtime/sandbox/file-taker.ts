import { comparePaths } from "../../domain/workspace.ts";
import { bounds } from "./bounds.ts";
import { isPlainName } from "./file-name.ts";
import type { ProgramFile } from "./program.ts";

/** Collects the files that a program writes, within the bounds. Writing a name again replaces the file. */
export function fileTaker() {
  const filesByName = new Map<string, Uint8Array<ArrayBuffer>>();
  let dropped = 0;
  return {
    take(name: string, bytes: Uint8Array<ArrayBuffer>): void {
      if (!isPlainName(name)) throw new Error("A file's name is plain: no folders, at most 255 bytes.");
      const others = [...filesByName].filter(([other]) => other !== name);
      const size = others.reduce((sum, [, { length }]) => sum + length, bytes.length);
      if (others.length >= bounds.files || size > bounds.output) dropped++;
      else filesByName.set(name, bytes);
    },
    /** Counts a file that is too large, without copying it. */
    drop: (): void => void dropped++,
    /** In the order of their names. */
    files: (): ProgramFile[] =>
      Array.from(filesByName, ([name, bytes]) => ({ name, bytes })).sort((a, b) => comparePaths(a.name, b.name)),
    dropped: (): number => dropped,
  };
}
