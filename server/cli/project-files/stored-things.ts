import type { ApiClient } from "../commands/api-client.ts";
import { CliError } from "../commands/exit-code.ts";
import { type Kind, kinds, rules, type Thing } from "./kinds.ts";

interface Item {
  id: string;
  name?: string;
  url?: string;
}

/** The things that a server has, by kind: the ids of each name. */
export interface StoredThings {
  /** Returns the id of a name; undefined if there is none. Throws if several things have it. */
  idOf(kind: Kind, name: string): string | undefined;
  idsOf(kind: Kind, name: string): string[];
  nameOf(kind: Kind, id: string): string | undefined;
  all(kind: Kind): Item[];
  add(kind: Kind, name: string, id: string): void;
}

export async function readStored(client: ApiClient): Promise<StoredThings> {
  const lists = new Map<Kind, Item[]>();
  for (const kind of kinds) lists.set(kind, await Array.fromAsync(client.all<Item>(rules[kind].list)));
  const listOf = (kind: Kind): Item[] => lists.get(kind) ?? [];
  const idsOf = (kind: Kind, name: string): string[] =>
    listOf(kind).flatMap((item) => (item[rules[kind].key] === name ? [item.id] : []));
  return {
    idsOf,
    idOf(kind, name) {
      const ids = idsOf(kind, name);
      if (ids.length > 1)
        throw new CliError(`There are ${ids.length} things of this name: ${kind} ${name} (${ids.join(", ")}).`);
      return ids[0];
    },
    nameOf: (kind, id) => listOf(kind).find((item) => item.id === id)?.[rules[kind].key],
    all: listOf,
    add: (kind, name, id) => void listOf(kind).push({ id, [rules[kind].key]: name }),
  };
}

interface SkillReference {
  name: string;
  version: number | null;
}

/** Returns a skill of an agent by its name alone, which the API takes as well. */
const skillByName = ({ name, version }: SkillReference): object | string =>
  version === null ? name : { name, version };

/** True for a tool whose parameters follow from its type, so that a client cannot set them. */
const hasFixedParameters = ({ type, source }: Record<string, unknown>): boolean =>
  type === "agent" || type === "mcp" || (type === "code" && source === null);

/** Reads a whole thing, without the fields that only the server sets. References are ids. */
export async function readThing(client: ApiClient, kind: Kind, id: string): Promise<Thing> {
  const { list, key, fields } = rules[kind];
  const stored = await client.get<Record<string, unknown>>(`${list}/${id}`);
  const own = [...new Set([key, ...fields])].filter((name) => stored[name] !== undefined);
  const values: Record<string, unknown> = Object.fromEntries(own.map((name) => [name, stored[name]]));
  // A response tells more of a tool than its id, and a model beside the list that it begins.
  if (kind === "agent" && Array.isArray(values.tools)) values.tools = values.tools.map(({ id }: Item) => id);
  if (values.models !== undefined) delete values.model;
  if (kind === "agent" && Array.isArray(values.skills)) values.skills = values.skills.map(skillByName);
  if (kind === "tool" && hasFixedParameters(values)) delete values.parameters;
  return { kind, name: String(stored[key]), fields: values };
}
