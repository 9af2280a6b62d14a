import {
  clashOf,
  isSystemFile,
  pathFault,
  quote,
  type SkillHead,
  skillFile,
  skillLimits,
} from "../../domain/skills.ts";
import { filesOfArchive } from "./archive.ts";
import type { ArchiveFile } from "./archive-file.ts";
import { readHead } from "./front-matter.ts";
import { archiveError, entryError, SkillError } from "./skill-error.ts";

/** A file of a skill; its path is relative to the skill's folder. */
interface SkillFile {
  path: string;
  bytes: Uint8Array;
}

/**
 * Reads an archive with one skill, with its files at the root or in one folder. Throws a `SkillError` for the first
 * fault. Calls `onFile` for each file, sorted by path, after the front matter was found valid.
 */
export function readSkill(bytes: Uint8Array, onFile: (file: SkillFile) => void): SkillHead {
  const entries = filesOfArchive(bytes).map(withPlainPath).filter(isWanted);
  for (const { path } of entries) {
    const fault = pathFault(path);
    if (fault) throw entryError(path, fault);
  }
  const clash = clashOf(entries.map(({ path }) => path));
  if (clash) throw entryError(clash.path, clash.fault);
  const folder = folderOf(entries.map(({ path }) => path));
  const files = entries
    .map(({ path, read }) => ({ path: path.slice(folder.length), read }))
    .sort((a, b) => (a.path < b.path ? -1 : 1));
  if (files.length > skillLimits.files) throw archiveError(`has more than ${skillLimits.files} files`);
  const head = readHead(contentOf(files, skillFile));
  if (folder !== "" && folder !== `${head.name}/`)
    throw new SkillError(
      `${skillFile}: Its name is ${quote(head.name)}, but its folder is ${quote(folder.slice(0, -1))}. They have to be equal.`,
    );
  sendAll(files, onFile);
  return head;
}

/** Drops the `./` that tar writes for the current folder. */
const withPlainPath = ({ path, read }: ArchiveFile): ArchiveFile => ({ path: path.replace(/^(\.\/)+/, ""), read });

/** Drops files of systems and of git, which no author means. */
const isWanted = ({ path }: ArchiveFile): boolean => !path.split("/").some(isSystemFile);

/** Returns the folder of the skill with a slash at its end; empty if its files are at the root. */
function folderOf(paths: readonly string[]): string {
  if (paths.length === 0) throw archiveError("has no files");
  if (paths.includes(skillFile)) return "";
  const found = paths.filter((path) => path.endsWith(`/${skillFile}`));
  const inFolder = found.filter((path) => path.split("/").length === 2);
  if (inFolder.length > 1) throw archiveError(`has several skills: ${listed(inFolder)}. Send an archive for each`);
  const folder = inFolder[0]?.slice(0, -skillFile.length);
  if (folder === undefined) throw archiveError(missing(paths, found));
  const outside = paths.find((path) => !path.startsWith(folder));
  if (outside !== undefined) throw entryError(outside, `is beside the skill's folder ${quote(folder)}`);
  return folder;
}

/** Says what is there instead of `SKILL.md`. */
function missing(paths: readonly string[], deeper: readonly string[]): string {
  const [where] = deeper;
  if (where !== undefined) return `has its ${skillFile} at ${quote(where)}. Pack this folder alone`;
  const other = paths.find((path) => /(^|\/)skill\.md$/i.test(path));
  if (other !== undefined) return `has no ${skillFile}, but ${quote(other)}: the name has to be in capital letters`;
  return `has no ${skillFile}, neither at its root nor in one folder`;
}

const listed = (paths: readonly string[]): string => paths.slice(0, 5).map(quote).join(", ");

function contentOf(files: readonly ArchiveFile[], path: string): Uint8Array {
  const file = files.find((each) => each.path === path);
  if (!file) throw archiveError(`has no ${path}`);
  return file.read(skillLimits.file_bytes);
}

/** Unpacks the files one by one, so that one at a time is in memory. */
function sendAll(files: readonly ArchiveFile[], onFile: (file: SkillFile) => void): void {
  let room: number = skillLimits.bytes;
  for (const { path, read } of files) {
    const bytes = read(Math.min(room, skillLimits.file_bytes));
    room -= bytes.length;
    if (room < 0) throw archiveError(`unpacks to more than ${skillLimits.bytes} bytes`);
    onFile({ path, bytes });
  }
}

/** Fault as the child reports it: that of the skill, or that the archive is damaged. */
export const describeSkillFault = (error: unknown): string =>
  error instanceof SkillError ? error.message : "The archive is damaged.";
