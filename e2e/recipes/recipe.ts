import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { inProject, root } from "../../scripts/root.ts";

/** Text of a new file, or pairs of a text that the file has once and its replacement. */
type Change = string | readonly (readonly [old: string, replacement: string])[];

/** One recipe of `server/docs/develop/recipes.md`, followed with an example. */
export interface Recipe {
  /** Heading of the recipe. */
  title: string;
  changes: Record<string, Change>;
  /** Names of new files in the recipe, by path. */
  placeholders?: Record<string, string>;
}

/** Returns the text of a recipe's section. */
export function sectionOf(title: string): string {
  const page = readFileSync(inProject("server/docs/develop/recipes.md"), "utf8");
  const section = page.split(/^## /m).find((each) => each.startsWith(`${title}\n`));
  if (section === undefined) throw new Error(`recipes.md has no recipe "${title}".`);
  return section;
}

/** Returns the paths that a section names. */
export const pathsIn = (section: string): string[] =>
  [...section.matchAll(/`([\w./<>-]*\/[\w./<>-]+)`/g)].map(([, path = ""]) => path);

/** Returns the unit tests that a section names. */
export const testsIn = (section: string): string[] => pathsIn(section).filter((path) => path.endsWith(".test.ts"));

/** Returns a recipe's paths as the page names them: new files by their placeholders. */
export const pathsOf = ({ changes, placeholders = {} }: Recipe): string[] =>
  Object.keys(changes).map((path) => placeholders[path] ?? path);

/** Copies the sources, to follow recipes there. */
export function copySources(): { folder: string } & Disposable {
  const folder = mkdtempSync(join(tmpdir(), "runnel-recipes-"));
  const { stdout } = Bun.spawnSync(["git", "ls-files", "-z"], { cwd: root });
  for (const path of stdout.toString().split("\0").filter(Boolean)) {
    if (!existsSync(inProject(path))) continue;
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    cpSync(inProject(path), join(folder, path));
  }
  for (const name of ["node_modules", ".tools"])
    if (existsSync(inProject(name))) symlinkSync(inProject(name), join(folder, name));
  return { folder, [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }) };
}

/** Makes a recipe's changes in a folder. Throws if a file to change lacks the text, or has it twice. */
export function follow(folder: string, { title, changes }: Recipe): void {
  for (const [path, change] of Object.entries(changes)) {
    const file = join(folder, path);
    if (typeof change === "string") {
      if (existsSync(file)) throw new Error(`${title}: ${path} exists already.`);
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, change);
      continue;
    }
    let text = readFileSync(file, "utf8");
    for (const [old, replacement] of change) {
      if (text.split(old).length !== 2)
        throw new Error(`${title}: ${path} has ${text.split(old).length - 1} of:\n${old}`);
      text = text.replace(old, () => replacement);
    }
    writeFileSync(file, text);
  }
}
