import { extname, join } from "node:path";
import { parseDocument } from "yaml";
import { isObject } from "../../lib/json.ts";
import { usageError } from "../commands/exit-code.ts";
import { findFiles } from "./find-files.ts";
import { type Kind, kinds, rules, type Thing, wordsOf } from "./kinds.ts";
import { readMarkdown } from "./markdown.ts";
import { readText } from "./read-text.ts";
import { readSkillFolder, type SkillFile } from "./skill-folder.ts";

/** A thing with the path of its file or folder, relative to the folder of all. */
export interface FileThing extends Thing {
  path: string;
  /** Files of a skill. */
  files?: SkillFile[];
}

interface Fault {
  fault: string;
}

/** Reads the things of a folder and its subfolders. Throws with every fault, each with its file. */
export function readFolder(folder: string): FileThing[] {
  const found = findFiles(folder);
  const { faults } = found;
  const keep = (path: string, read: FileThing | Fault | null): FileThing[] => {
    if (read === null) return [];
    if ("fault" in read) faults.push(`${path}: ${read.fault}`);
    return "fault" in read ? [] : [read];
  };
  const things = [
    ...found.files.flatMap((path) => keep(path, readThing(folder, path))),
    ...found.skills.flatMap((path) => keep(path, readSkill(folder, path))),
  ];
  const seen = new Map<string, string>();
  for (const thing of things) {
    const other = seen.get(wordsOf(thing));
    if (other !== undefined) faults.push(`${thing.path}: ${wordsOf(thing)} is also in ${other}.`);
    seen.set(wordsOf(thing), thing.path);
  }
  if (faults.length > 0) throw usageError(faults.join("\n"));
  return things;
}

function readSkill(folder: string, path: string): FileThing | Fault {
  const read = readSkillFolder(join(folder, path));
  return "fault" in read ? read : { kind: "skill", name: read.name, fields: {}, path, files: read.files };
}

/** Returns null for a Markdown file that describes nothing. */
function readThing(folder: string, path: string): FileThing | Fault | null {
  const text = readText(join(folder, path));
  if (typeof text !== "string") return text;
  if (extname(path) !== ".md") return thingOf(parse(text), path);
  const markdown = readMarkdown(text);
  if (markdown === null) return null;
  const value = parse(markdown.head);
  if (isFault(value)) return value;
  if (!isObject(value) || value.object !== "snippet") return { fault: "Only a snippet can be a Markdown file." };
  if (value.text !== undefined) return { fault: "The text of a snippet is below the front matter." };
  return thingOf({ ...value, text: markdown.text }, path);
}

const tooDeep = "The file nests too deep.";

function parse(text: string): unknown {
  try {
    const document = parseDocument(text, { uniqueKeys: true });
    const [error] = document.errors;
    if (error && /call stack/.test(error.message)) return faultOf(tooDeep);
    if (error) return faultOf((error.message.split("\n")[0] ?? "").replace(/:$/, "."));
    return document.toJS({ maxAliasCount: 100 });
  } catch (failure) {
    if (failure instanceof RangeError) return faultOf(tooDeep);
    return faultOf(failure instanceof Error ? failure.message : String(failure));
  }
}

/** A class, because a file may have a field of this name. */
class ParseFault implements Fault {
  constructor(readonly fault: string) {}
}

const faultOf = (fault: string): Fault => new ParseFault(fault);

const isFault = (value: unknown): value is Fault => value instanceof ParseFault;

function thingOf(value: unknown, path: string): FileThing | Fault {
  if (isFault(value)) return value;
  if (!isObject(value)) return { fault: "Expected fields, and first what the file describes: object: agent" };
  const { object: kind, ...rest } = value;
  if (kind === "skill") return { fault: "A skill is a folder with a file SKILL.md." };
  if (!isKind(kind)) return { fault: `object is one of ${kinds.filter((each) => each !== "skill").join(", ")}.` };
  const { key, fields, references, notInFiles = {} } = rules[kind];
  const name = rest[key];
  if (typeof name !== "string" || name.trim() === "")
    return { fault: `${article(kind)} has a ${key}, which is a text.` };
  const inFiles = new Map(references.map(({ path, inFile }) => [path.at(-1) ?? "", inFile]));
  const known = new Set([key, ...fields.map((field) => inFiles.get(field) ?? field)]);
  const strange = Object.keys(rest).filter((field) => !known.has(field));
  const reasons = strange.flatMap((field) => (Object.hasOwn(notInFiles, field) ? [` ${notInFiles[field]}`] : []));
  if (strange.length > 0) return { fault: `${article(kind)} has no field ${strange.join(", ")}.${reasons.join("")}` };
  return { kind, name, fields: rest, path };
}

const article = (kind: Kind): string => `${kind === "agent" ? "An" : "A"} ${kind}`;

const isKind = (value: unknown): value is Exclude<Kind, "skill"> =>
  value !== "skill" && kinds.some((kind) => kind === value);
