import { mkdirSync, readdirSync, readFileSync, rmdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { clashOf, isSystemFile, pathFault, quote, skillFile, skillLimits } from "../../domain/skills.ts";
import { readHead } from "../../runtime/skills/front-matter.ts";

export interface SkillFile {
  /** Its path in the folder, with `/` between names. */
  path: string;
  bytes: Uint8Array<ArrayBuffer>;
}

/** Thrown for a folder that cannot be a skill. */
class SkillFault extends Error {}

/** Reads a skill's folder. Its files are checked as the server checks them. */
export function readSkillFolder(folder: string): { name: string; files: SkillFile[] } | { fault: string } {
  try {
    const files = readFiles(folder);
    const { name } = readHead(files.find(({ path }) => path === skillFile)?.bytes ?? new Uint8Array());
    const own = basename(folder);
    if (name !== own) throw new SkillFault(`Its name is ${quote(name)}, but its folder is ${quote(own)}.`);
    return { name, files };
  } catch (error) {
    return { fault: error instanceof Error ? error.message : String(error) };
  }
}

function readFiles(folder: string): SkillFile[] {
  const paths = listFiles(folder, "");
  for (const path of paths) {
    const fault = pathFault(path);
    if (fault !== null) throw new SkillFault(`${quote(path)} ${fault}.`);
  }
  const clash = clashOf(paths);
  if (clash) throw new SkillFault(`${quote(clash.path)} ${clash.fault}.`);
  if (paths.length > skillLimits.files) throw new SkillFault(`It has more than ${skillLimits.files} files.`);
  let size = 0;
  return paths.map((path) => {
    const { size: bytes } = statSync(join(folder, path));
    size += bytes;
    if (bytes > skillLimits.file_bytes)
      throw new SkillFault(`${quote(path)} has more than ${skillLimits.file_bytes} bytes.`);
    if (size > skillLimits.bytes) throw new SkillFault(`Its files have more than ${skillLimits.bytes} bytes.`);
    return { path, bytes: readFileSync(join(folder, path)) };
  });
}

function listFiles(folder: string, within: string): string[] {
  const entries = readdirSync(join(folder, within), { withFileTypes: true });
  return entries
    .filter(({ name }) => !isSystemFile(name))
    .flatMap((entry) => {
      const path = within === "" ? entry.name : `${within}/${entry.name}`;
      if (entry.isSymbolicLink()) throw new SkillFault(`${quote(path)} is a link. A skill has files and folders only.`);
      if (entry.isDirectory()) return listFiles(folder, path);
      if (!entry.isFile()) throw new SkillFault(`${quote(path)} is a device or a pipe.`);
      return [path];
    })
    .sort();
}

export interface WrittenSkill {
  files: readonly SkillFile[];
  /** Paths of files that the folder had before. */
  before: readonly string[];
}

/** Makes a folder a skill with exactly these files, whose paths were checked. The file that makes it one comes last. */
export function writeSkillFolder(folder: string, { files, before }: WrittenSkill): void {
  const kept = new Set(files.map(({ path }) => path));
  // First: on systems that ignore case, an old name may be that of a new file.
  for (const path of before) if (!kept.has(path)) remove(folder, path);
  for (const { path, bytes } of [...files].sort(
    (a, b) => Number(a.path === skillFile) - Number(b.path === skillFile),
  )) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), bytes);
  }
}

/** Removes a file, and the folders that it leaves empty. */
function remove(folder: string, path: string): void {
  rmSync(join(folder, path), { force: true });
  for (let parent = dirname(path); parent !== "."; parent = dirname(parent))
    try {
      rmdirSync(join(folder, parent));
    } catch {
      return;
    }
}
