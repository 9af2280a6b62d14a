import { isObject } from "../../lib/json.ts";
import { CliError, usageError } from "../commands/exit-code.ts";
import type { Change, Done, Outcome, SetOptions } from "./change.ts";
import { checkFields } from "./check-fields.ts";
import { defaultsOf, rules, type Thing, wordsOf } from "./kinds.ts";
import { checkTexts, textsToCheck } from "./planned-texts.ts";
import type { FileThing } from "./read-files.ts";
import { type NamedReference, referencesOf, withIds } from "./references.ts";
import { setSkill } from "./set-skill.ts";
import { readThing, type StoredThings } from "./stored-things.ts";

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

/** Makes a thing on the server what its file says, or says what that would change. Errors name the file. */
export async function setThing(thing: FileThing, options: SetOptions): Promise<Done> {
  try {
    if (thing.kind === "skill") return await setSkill(thing, options);
    if (thing.kind === "tool") return await setByName(thing, options);
    return thing.kind === "agent" ? await setAgent(thing, options) : await setListed(thing, options);
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

/** The server checks an agent without the texts of snippets that are only planned; those are checked here. */
async function setAgent(thing: FileThing, options: SetOptions): Promise<Done> {
  const texts = options.isDry ? textsToCheck(thing, options.planned) : null;
  if (texts === null) return await setByName(thing, options);
  const { client, stored } = options;
  const change = await setByName({ ...thing, fields: { ...thing.fields, instructions: "", snippets: [] } }, options);
  await checkTexts(texts, options);
  const id = stored.idOf("agent", thing.name);
  if (id === undefined) return change;
  const { fields: current } = await readThing(client, "agent", id);
  const differs = (field: string) => !Bun.deepEquals(thing.fields[field], current[field]);
  const own = change.fields.filter((field) => field !== "instructions" && field !== "snippets");
  const fields = [...own, ...["instructions", "snippets"].filter(differs)];
  return { ...change, fields, outcome: fields.length > 0 ? "updated" : "unchanged" };
}

/** Agents and tools: the server itself compares and replaces them. */
async function setByName(thing: FileThing, { client, stored, isDry }: SetOptions): Promise<Done> {
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

interface Made {
  id: string;
  signing_secret?: string;
  secret?: string;
  url?: string;
}

/** Fields whose parts are all the user's: one that is left out is not wanted. */
const wholeFields = new Set(["metadata", "variables", "budget"]);

/** Other kinds: what the server has is compared here. */
async function setListed(thing: FileThing, { client, stored, isDry }: SetOptions): Promise<Done> {
  const { kind, name, path } = thing;
  const { list, fixed } = rules[kind];
  if (isDry) checkFields(thing);
  const wanted: Record<string, unknown> = {
    ...defaultsOf(thing),
    ...withIds(thing, ({ kind, name }) => stored.idOf(kind, name)),
  };
  const id = stored.idOf(kind, name);
  if (id === undefined) {
    if (isDry) return { kind, name, path, outcome: "created", fields: [] };
    const made = await client.post<Made>(list, wanted);
    stored.add(kind, name, made.id);
    const secret = made.signing_secret ?? made.secret;
    const shown = secret !== undefined && { secret, ...(kind === "trigger" && { url: made.url }) };
    return { kind, name, path, outcome: "created", fields: [], ...shown };
  }
  const { fields: current } = await readThing(client, kind, id);
  const isAsWanted = ([field, value]: [string, unknown]): boolean =>
    wholeFields.has(field) ? Bun.deepEquals(value, current[field]) : isCovered(value, current[field]);
  const fields = Object.entries(wanted).flatMap((each) => (isAsWanted(each) ? [] : [each[0]]));
  if (unresolved(thing, stored).length > 0) fields.push(...fieldsOf(unresolved(thing, stored)));
  const blocked = fields.filter((field) => fixed.includes(field));
  if (blocked.length > 0)
    throw new CliError(`${wordsOf(thing)} exists, and its ${blocked.join(" and ")} cannot change.`);
  if (fields.length === 0) return { kind, name, path, outcome: "unchanged", fields };
  if (!isDry) await client.patch(`${list}/${id}`, bodyOf(wanted, fields));
  return { kind, name, path, outcome: "updated", fields };
}

const agentChoice = ["agent_id", "version", "label"];

/** Returns the body that changes these fields. An agent goes with its version: without one it means the newest. */
export function bodyOf(wanted: Record<string, unknown>, fields: readonly string[]): Record<string, unknown> {
  const beside = fields.some((field) => agentChoice.includes(field)) ? agentChoice : [];
  return Object.fromEntries(
    Object.entries(wanted).filter(([field]) => fields.includes(field) || beside.includes(field)),
  );
}

/** True if a stored value is the wanted one; objects may have further fields, which are defaults of the server. */
export function isCovered(wanted: unknown, current: unknown): boolean {
  if (isObject(wanted) && isObject(current) && Object.keys(wanted).length > 0)
    return Object.keys(wanted).every((name) => isCovered(wanted[name], current[name]));
  if (Array.isArray(wanted) && Array.isArray(current))
    return wanted.length === current.length && wanted.every((item, index) => isCovered(item, current[index]));
  return Bun.deepEquals(wanted, current);
}
