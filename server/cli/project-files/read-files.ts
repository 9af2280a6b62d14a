import { readdirSync, readFileSync, statSync } from "node:fs";
import { extname, join, relative } from "node:path";
import { parseDocument } from "yaml";
import { isObject } from "../../lib/json.ts";
import { usageError } from "../commands/exit-code.ts";
import { type Kind, kinds, rules, type Thing, wordsOf } from "./kinds.ts";

/** A thing with the path of its file, relative to the folder. */
export interface FileThing extends Thing {
  path: string;
}

const formats = new Set([".yaml", ".yml", ".json"]);
const fileMax_bytes = 4 * 1024 * 1024;

/** Reads the things of a folder and its subfolders. Throws with every fault, each with its file. */
export function readFolder(folder: string): FileThing[] {
  const faults: string[] = [];
  const things = pathsIn(folder).flatMap((path): FileThing[] => {
    const read = readThing(folder, path);
    if ("fault" in read) faults.push(`${path}: ${read.fault}`);
    return "fault" in read ? [] : [read];
  });
  const seen = new Map<string, string>();
  for (const thing of things) {
    const other = seen.get(wordsOf(thing));
    if (other !== undefined) faults.push(`${thing.path}: ${wordsOf(thing)} is also in ${other}.`);
    seen.set(wordsOf(thing), thing.path);
  }
  if (faults.length > 0) throw usageError(faults.join("\n"));
  return things;
}

function pathsIn(folder: string): string[] {
  if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory()) throw usageError(`There is no folder ${folder}.`);
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && formats.has(extname(entry.name)))
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)))
    .filter((path) => !path.split(/[\\/]/).some((part) => part.startsWith(".") || part === "node_modules"))
    .sort();
}

function readThing(folder: string, path: string): FileThing | { fault: string } {
  const text = readFileSync(join(folder, path), "utf8");
  if (text.length > fileMax_bytes) return { fault: `The file is longer than ${fileMax_bytes} characters.` };
  const document = parseDocument(text, { uniqueKeys: true });
  const [error] = document.errors;
  if (error) return { fault: (error.message.split("\n")[0] ?? "").replace(/:$/, ".") };
  let value: unknown;
  try {
    value = document.toJS({ maxAliasCount: 100 });
  } catch (failure) {
    return { fault: failure instanceof Error ? failure.message : String(failure) };
  }
  if (!isObject(value)) return { fault: "Expected fields, and first what the file describes: object: agent" };
  const { object: kind, ...rest } = value;
  if (!isKind(kind)) return { fault: `object is one of ${kinds.join(", ")}.` };
  const { key, fields, references } = rules[kind];
  const name = rest[key];
  if (typeof name !== "string" || name.trim() === "")
    return { fault: `${article(kind)} has a ${key}, which is a text.` };
  const inFiles = new Map(references.map(({ path, inFile }) => [path.at(-1) ?? "", inFile]));
  const known = new Set([key, ...fields.map((field) => inFiles.get(field) ?? field)]);
  const strange = Object.keys(rest).filter((field) => !known.has(field));
  if (strange.length > 0) return { fault: `${article(kind)} has no field ${strange.join(", ")}.` };
  return { kind, name, fields: rest, path };
}

const article = (kind: Kind): string => `${kind === "agent" ? "An" : "A"} ${kind}`;

const isKind = (value: unknown): value is Kind => kinds.some((kind) => kind === value);
