import { isObject } from "../../lib/json.ts";
import { nameIn } from "../../resources/snippets/agents-using.ts";
import { type Kind, rules, type Thing } from "./kinds.ts";

/** A name in a file that stands for another thing. */
export interface NamedReference {
  kind: Kind;
  name: string;
  /** The place in the file, such as `memory.stores[0].memory`. */
  at: string;
}

/** Returns the other things that a thing names. */
export function referencesOf(thing: Thing): NamedReference[] {
  const found: NamedReference[] = [];
  replaced(thing, "file", (reference) => {
    found.push(reference);
    return reference.name;
  });
  return found;
}

/** Returns the fields for the API: ids in place of names. Where `idOf` returns undefined, the reference is left out. */
export const withIds = (thing: Thing, idOf: (reference: NamedReference) => string | undefined) =>
  replaced(thing, "file", idOf);

/** Returns the fields for a file: names in place of ids. Where `nameOf` returns undefined, the id stays. */
export const withNames = (thing: Thing, nameOf: (kind: Kind, id: string) => string | undefined) =>
  replaced(thing, "api", ({ kind, name }) => nameOf(kind, name) ?? name);

type Side = "file" | "api";
type Replace = (reference: NamedReference) => string | undefined;

function replaced({ kind, fields }: Thing, from: Side, replace: Replace): Record<string, unknown> {
  let all: unknown = fields;
  for (const { path, inFile, kind: to, byName } of rules[kind].references) {
    const last = path.at(-1) ?? "";
    const given = from === "file" ? (inFile ?? last) : last;
    const wanted = from === "file" ? last : (inFile ?? last);
    all = walk(all, [...path.slice(0, -1), given], "", wanted, (text, at) => {
      const found = replace({ kind: to, name: to === "snippet" ? nameIn(text) : text, at });
      return byName && found !== undefined ? text : found;
    });
  }
  return all as Record<string, unknown>;
}

/** Copies a value, and replaces the texts at the end of a path; the last field gets the name `wanted`. */
function walk(
  value: unknown,
  [step = "", ...rest]: readonly string[],
  at: string,
  wanted: string,
  replace: (text: string, at: string) => string | undefined,
): unknown {
  const next = (item: unknown, place: string): unknown => {
    if (rest.length > 0) return walk(item, rest, place, wanted, replace);
    return typeof item === "string" ? replace(item, place) : item;
  };
  if (step === "*") {
    if (!Array.isArray(value)) return value;
    // An item that loses the reference that makes it one is left out as a whole.
    const isLost = (item: unknown, copy: unknown): boolean => {
      if (copy === undefined || rest.length !== 1) return copy === undefined;
      return isObject(item) && isObject(copy) && item[rest[0] ?? ""] !== undefined && !(wanted in copy);
    };
    const copies = value.map((item, index) => next(item, `${at}[${index}]`));
    return copies.filter((copy, index) => !isLost(value[index], copy));
  }
  if (!isObject(value) || value[step] === undefined) return value;
  const copy = next(value[step], at === "" ? step : `${at}.${step}`);
  const name = rest.length > 0 ? step : wanted;
  const entries = Object.entries(value).map(([field, item]) => (field === step ? [name, copy] : [field, item]));
  return Object.fromEntries(entries.filter(([, item]) => item !== undefined));
}
