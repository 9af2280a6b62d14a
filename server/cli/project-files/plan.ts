import { isObject } from "../../lib/json.ts";
import type { ApiClient } from "../commands/api-client.ts";
import { CliError, usageError } from "../commands/exit-code.ts";
import { rules, type Thing, wordsOf } from "./kinds.ts";
import type { FileThing } from "./read-files.ts";
import { type NamedReference, referencesOf, withIds } from "./references.ts";
import { readThing, type StoredThings } from "./stored-things.ts";

type Outcome = "created" | "updated" | "unchanged";

/** A step of the plan: the work on one thing. */
export interface Change extends Pick<Thing, "kind" | "name"> {
  outcome: Outcome;
  /** Names of the fields that differ; empty for a new thing. */
  fields: string[];
  path: string;
}

/** Orders things so that each follows those that it names. In a circle, the agent comes before its tools. */
export function inOrder(things: readonly FileThing[], stored: StoredThings): FileThing[] {
  requireNamed(things, stored);
  const left = new Set(things);
  const ordered: FileThing[] = [];
  const isReady = (thing: FileThing): boolean =>
    referencesOf(thing).every(({ kind, name }) => ![...left].some((one) => one.kind === kind && one.name === name));
  while (left.size > 0) {
    const ready = [...left].filter(isReady);
    const next = ready.length > 0 ? ready : [...left].filter(({ kind }) => kind === "agent").slice(0, 1);
    if (next.length === 0) throw usageError("These things name one another in a circle.");
    for (const thing of next) {
      left.delete(thing);
      ordered.push(thing);
    }
  }
  return ordered;
}

/** Throws with each name that neither a file nor the server has. */
function requireNamed(things: readonly FileThing[], stored: StoredThings): void {
  const isKnown = ({ kind, name }: NamedReference): boolean =>
    things.some((one) => one.kind === kind && one.name === name) || stored.idOf(kind, name) !== undefined;
  const faults = things.flatMap((thing) =>
    referencesOf(thing)
      .filter((reference) => !isKnown(reference))
      .map(({ kind, name, at }) => `${thing.path}: ${at}: There is no ${kind} "${name}".`),
  );
  if (faults.length > 0) throw usageError(faults.join("\n"));
}

interface SetOptions {
  client: ApiClient;
  stored: StoredThings;
  /** True: nothing is stored, and things that are still to be created are left out of those that name them. */
  isDry: boolean;
}

/** Makes a thing on the server what its file says, or says what that would change. Errors name the file. */
export async function setThing(thing: FileThing, options: SetOptions): Promise<Change & { secret?: string }> {
  try {
    return thing.kind === "agent" || thing.kind === "tool"
      ? await setByName(thing, options)
      : await setListed(thing, options);
  } catch (error) {
    if (error instanceof CliError) throw new CliError(`${thing.path}: ${error.message}`, error.code);
    throw error;
  }
}

interface SetAnswer {
  outcome: Outcome;
  changes: string[];
  agent?: { id: string };
  tool?: { id: string; signing_secret?: string };
}

/** Agents and tools: the server itself compares and replaces them. */
async function setByName(
  thing: FileThing,
  { client, stored, isDry }: SetOptions,
): Promise<Change & { secret?: string }> {
  const { kind, name, path } = thing;
  const missing = unresolved(thing, stored);
  const isNew = stored.idOf(kind, name) === undefined;
  // Its agent does not exist yet, so the server cannot check it.
  if (isDry && kind === "tool" && missing.length > 0) return { kind, name, path, ...expected(isNew, ["agent_id"]) };
  const { name: _, ...body } = withIds(thing, ({ kind, name }) => stored.idOf(kind, name));
  const query = isDry ? "?dry_run=true" : "";
  const answer = await client.put<SetAnswer>(`${rules[kind].list}/by-name/${encodeURIComponent(name)}${query}`, body);
  const { id = "", signing_secret: secret } = answer.tool ?? { ...answer.agent, signing_secret: undefined };
  if (!isDry && isNew) stored.add(kind, name, id);
  const added = answer.outcome === "created" || missing.length === 0 ? [] : fieldsOf(missing);
  const fields = [...new Set([...answer.changes, ...added])];
  const outcome = answer.outcome === "unchanged" && fields.length > 0 ? "updated" : answer.outcome;
  return { kind, name, path, outcome, fields, ...(secret !== undefined && { secret }) };
}

const expected = (isNew: boolean, fields: string[]): Pick<Change, "outcome" | "fields"> =>
  isNew ? { outcome: "created", fields: [] } : { outcome: "updated", fields };

/** References to things that do not exist yet. */
export const unresolved = (thing: Thing, stored: StoredThings): NamedReference[] =>
  referencesOf(thing).filter(({ kind, name }) => stored.idOf(kind, name) === undefined);

const fieldsOf = (references: readonly NamedReference[]): string[] =>
  references.map(({ at }) => at.replace(/[.[].*$/, ""));

/** Other kinds: what the server has is compared here. */
async function setListed(
  thing: FileThing,
  { client, stored, isDry }: SetOptions,
): Promise<Change & { secret?: string }> {
  const { kind, name, path } = thing;
  const { list, defaults, fixed } = rules[kind];
  const wanted = { ...defaults, ...withIds(thing, ({ kind, name }) => stored.idOf(kind, name)) };
  const id = stored.idOf(kind, name);
  if (id === undefined) {
    if (isDry) return { kind, name, path, outcome: "created", fields: [] };
    const made = await client.post<{ id: string; signing_secret?: string; secret?: string }>(list, wanted);
    stored.add(kind, name, made.id);
    const secret = made.signing_secret ?? made.secret;
    return { kind, name, path, outcome: "created", fields: [], ...(secret !== undefined && { secret }) };
  }
  const { fields: current } = await readThing(client, kind, id);
  const isAsWanted = ([field, value]: [string, unknown]): boolean =>
    field === "metadata" ? Bun.deepEquals(value, current[field]) : isCovered(value, current[field]);
  const fields = Object.entries(wanted).flatMap((each) => (isAsWanted(each) ? [] : [each[0]]));
  if (unresolved(thing, stored).length > 0) fields.push(...fieldsOf(unresolved(thing, stored)));
  const blocked = fields.filter((field) => fixed.includes(field));
  if (blocked.length > 0)
    throw new CliError(`${wordsOf(thing)} exists, and its ${blocked.join(" and ")} cannot change.`);
  if (fields.length === 0) return { kind, name, path, outcome: "unchanged", fields };
  const changed = Object.fromEntries(fields.map((field) => [field, wanted[field as keyof typeof wanted]]));
  if (!isDry) await client.patch(`${list}/${id}`, changed);
  return { kind, name, path, outcome: "updated", fields };
}

/** True if a stored value is the wanted one; objects may have further fields, which are defaults of the server. */
export function isCovered(wanted: unknown, current: unknown): boolean {
  if (isObject(wanted) && isObject(current) && Object.keys(wanted).length > 0)
    return Object.keys(wanted).every((name) => isCovered(wanted[name], current[name]));
  if (Array.isArray(wanted) && Array.isArray(current))
    return wanted.length === current.length && wanted.every((item, index) => isCovered(item, current[index]));
  return Bun.deepEquals(wanted, current);
}
