import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, extname, join } from "node:path";
import { defaultsOf, type Kind, kinds, rules, type Thing, wordsOf } from "../project-files/kinds.ts";
import { isOrphan, livingThing } from "../project-files/living-thing.ts";
import { writeMarkdown } from "../project-files/markdown.ts";
import { readFolder } from "../project-files/read-files.ts";
import { withNames } from "../project-files/references.ts";
import { downloadSkill } from "../project-files/set-skill.ts";
import { type WrittenSkill, writeSkillFolder } from "../project-files/skill-folder.ts";
import { readStored, readThing, type StoredThings } from "../project-files/stored-things.ts";
import { writeYaml } from "../project-files/write-yaml.ts";
import { type ClientFlags, openClient } from "./client-options.ts";
import { CliError } from "./exit-code.ts";
import { writeOut } from "./output.ts";
import { oneLine, print, printBeside } from "./print.ts";

/** Writes the things of a project to files. */
export async function exportTo(folder: string, flags: ClientFlags): Promise<void> {
  const client = await openClient(flags, true);
  const before = existsSync(folder) ? readFolder(folder) : [];
  const paths = new Map(before.map((thing) => [wordsOf(thing), thing.path]));
  const stored = await readStored(client);
  const taken = new Set(paths.values());
  // Files cannot tell things of one name from each other.
  const unclear = new Set<string>();
  const orphans = new Map<string, string>();
  const written: { object: string; name: string; path: string }[] = [];
  for (const kind of kinds)
    for (const { id } of inNameOrder(kind, stored)) {
      const thing = await readThing(client, kind, id);
      if (isOrphan(thing, stored)) {
        orphans.set(id, wordsOf(thing));
        continue;
      }
      if (stored.idsOf(kind, thing.name).length > 1) {
        unclear.add(wordsOf(thing));
        continue;
      }
      const path = paths.get(wordsOf(thing)) ?? freePath(thing, taken);
      taken.add(path);
      const had = before.find((one) => one.path === path)?.files?.map((file) => file.path) ?? [];
      if (kind === "skill") writeSkill(join(folder, path), { files: await downloadSkill(client, id), before: had });
      else
        write(
          join(folder, path),
          fileFields({ ...thing, fields: withNames(livingThing(thing, stored, orphans), stored.nameOf) }),
        );
      written.push({ object: kind, name: thing.name, path });
      if (!flags.json) writeOut(`${oneLine(path)}\n`);
    }
  print(flags.json, { files: written }, () => `${written.length} files.`);
  if (orphans.size > 0)
    printBeside(`Not written, because their agents are gone: ${[...orphans.values()].map(oneLine).join(", ")}.`);
  if (unclear.size > 0)
    throw new CliError(`Not written, because several have the same name: ${[...unclear].map(oneLine).join(", ")}.`);
}

/** Returns the fields of a file: without those that have their defaults. */
export function fileFields({ kind, fields }: Thing): Record<string, unknown> {
  const { key } = rules[kind];
  const defaults = defaultsOf({ kind, fields });
  const { [key]: name, ...rest } = fields;
  const own = Object.entries(rest).filter(([field, value]) => !Bun.deepEquals(value, defaults[field]));
  return { object: kind, [key]: name, ...Object.fromEntries(own) };
}

/** Returns the things of a kind in an order that does not depend on when they were made. */
function inNameOrder(kind: Kind, stored: StoredThings): { id: string }[] {
  const nameOf = (id: string): string => stored.nameOf(kind, id) ?? "";
  return [...stored.all(kind)].sort((a, b) => (nameOf(a.id) < nameOf(b.id) ? -1 : 1));
}

/** Returns a path for a new file: the name in small letters. A skill's folder has its name. */
function freePath({ kind, name }: Thing, taken: ReadonlySet<string>): string {
  if (kind === "skill") return join(rules[kind].folder, name);
  const plain = name.normalize("NFKD").toLowerCase().replace(/\p{M}/gu, "");
  const word = plain
    .replace(/^https?:\/\//, "")
    .replace(/[^\p{L}\p{N}]+/gu, "-")
    .replace(/^-+|-+$/g, "")
    .slice(0, 64);
  const base = join(rules[kind].folder, word === "" ? kind : word);
  for (let number = 1; ; number++) {
    const path = `${base}${number === 1 ? "" : `-${number}`}.yaml`;
    if (!taken.has(path)) return path;
  }
}

function write(path: string, fields: Record<string, unknown>): void {
  const text = contentOf(extname(path), fields);
  writing(path, () => {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  });
}

const writeSkill = (path: string, skill: WrittenSkill): void => writing(path, () => writeSkillFolder(path, skill));

function writing(path: string, job: () => void): void {
  try {
    job();
  } catch (error) {
    throw new CliError(`${path} cannot be written: ${error instanceof Error ? error.message : String(error)}`);
  }
}

function contentOf(format: string, fields: Record<string, unknown>): string {
  if (format === ".json") return `${JSON.stringify(fields, null, 2)}\n`;
  if (format !== ".md") return writeYaml(fields);
  const { text, ...head } = fields;
  return writeMarkdown(head, String(text));
}
