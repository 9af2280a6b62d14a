import { type Dirent, readdirSync, realpathSync, statSync } from "node:fs";
import { extname, join, relative, sep } from "node:path";
import { skillFile } from "../../domain/skills.ts";
import { usageError } from "../commands/exit-code.ts";

const formats = new Set([".yaml", ".yml", ".json", ".md"]);

interface Found {
  /** Paths of files that may describe a thing, relative to the folder. */
  files: string[];
  /** Paths of the folders that are skills. */
  skills: string[];
  /** Each with the path that it is about. */
  faults: string[];
}

/** Finds files and skills of a folder and its subfolders. Links are followed to files that are in the folder too. */
export function findFiles(root: string): Found {
  if (!statSync(root, { throwIfNoEntry: false })?.isDirectory()) throw usageError(`There is no folder ${root}.`);
  const found: Found = { files: [], skills: [], faults: [] };
  visit({ root, real: realpathSync(root), found }, "");
  found.files.sort();
  return found;
}

interface Search {
  root: string;
  /** The root without links. */
  real: string;
  found: Found;
}

function visit(search: Search, folder: string): void {
  const { root, found } = search;
  const entries = readdirSync(join(root, folder), { withFileTypes: true }).filter(isVisible);
  if (entries.some(({ name }) => name === skillFile)) {
    if (folder === "") found.faults.push(`${skillFile}: A skill is a folder of its own: apply the folder that has it.`);
    else found.skills.push(folder);
    return;
  }
  for (const entry of entries) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) visit(search, path);
    else if (entry.isSymbolicLink()) follow(search, path);
    else if (entry.isFile()) take(found, path);
  }
}

const isVisible = ({ name }: Dirent): boolean => !name.startsWith(".") && name !== "node_modules";

const isRead = (path: string): boolean => formats.has(extname(path));

function take({ files, faults }: Found, path: string): void {
  const name = path.slice(path.lastIndexOf(sep) + 1);
  if (/^skill\.md$/i.test(name)) faults.push(`${path}: The name has to be ${skillFile}, in capital letters.`);
  else if (isRead(path)) files.push(path);
}

/** A link to a folder within the root is left alone: its things are found at their own place. */
function follow({ root, real, found }: Search, path: string): void {
  const target = targetOf(join(root, path));
  if (target === null) {
    if (isRead(path)) found.faults.push(`${path}: The link leads nowhere.`);
    return;
  }
  const isFolder = statSync(target).isDirectory();
  if (!isFolder && !isRead(path)) return;
  const away = relative(real, target);
  if (away === ".." || away.startsWith(`..${sep}`)) found.faults.push(`${path}: The link leads out of the folder.`);
  else if (!isFolder) take(found, path);
}

/** Returns the path that a link leads to; null if there is nothing. */
function targetOf(link: string): string | null {
  try {
    return realpathSync(link);
  } catch {
    return null;
  }
}
