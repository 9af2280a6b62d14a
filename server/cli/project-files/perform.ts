import { isObject } from "../../lib/json.ts";
import { nameIn } from "../../resources/snippets/agents-using.ts";
import type { ApiClient } from "../commands/api-client.ts";
import { CliError } from "../commands/exit-code.ts";
import { withAgentChoices } from "./agent-choices.ts";
import type { Done, SetOptions } from "./change.ts";
import { inOrder, setThing, unresolved } from "./plan.ts";
import type { FileThing } from "./read-files.ts";
import { readStored, readThing } from "./stored-things.ts";

/**
 * Sets all things in their order. Those that name a thing of a circle which did not exist yet are set again. Throws with
 * the number of changes that were made before the one that failed.
 */
export async function perform(
  client: ApiClient,
  things: readonly FileThing[],
  isDry: boolean,
  onSet: (change: Done) => void = () => {},
): Promise<Done[]> {
  const planned = new Map<string, string>();
  const options: SetOptions = { client, stored: await readStored(client), isDry, planned };
  const changes: Done[] = [];
  const set = async (thing: FileThing) => {
    const change = await setThing(thing, options);
    // Told at once: if a later thing is refused, a secret is not lost.
    onSet(change);
    changes.push(change);
    if (isDry && thing.kind === "snippet" && change.outcome !== "unchanged")
      planned.set(thing.name, String(thing.fields.text));
  };
  try {
    await setAll(inOrder(withAgentChoices(things, options.stored), options.stored), options, set);
  } catch (error) {
    const made = changes.filter(({ outcome }) => outcome !== "unchanged").length;
    if (isDry || made === 0 || !(error instanceof CliError)) throw error;
    throw new CliError(`${error.message}\nMade before this: ${made} of the changes. Apply again to go on.`, error.code);
  }
  return changes;
}

async function setAll(ordered: FileThing[], options: SetOptions, set: (thing: FileThing) => Promise<void>) {
  const { stored, isDry } = options;
  const again: FileThing[] = [];
  const late: FileThing[] = [];
  for (const thing of ordered) {
    const isWaiting = late.some((snippet) => namesSnippet(thing, snippet.name));
    if (isWaiting || unresolved(thing, stored).length > 0) again.push(thing);
    if (isWaiting) await set(await withFormerVariables(thing, options));
    else if (isDry || !isFollowed(thing, ordered, options)) await set(thing);
    else await set(thing).catch((error) => postpone(error, late, thing));
  }
  for (const snippet of late) await set(snippet);
  if (!isDry) for (const thing of again) await setThing(thing, options);
}

/** True for a change of a snippet that an agent of the files names. */
const isFollowed = ({ kind, name }: FileThing, things: readonly FileThing[], { stored }: SetOptions): boolean =>
  kind === "snippet" && stored.idOf(kind, name) !== undefined && things.some((thing) => namesSnippet(thing, name));

const namesSnippet = ({ kind, fields }: FileThing, name: string): boolean =>
  kind === "agent" &&
  Array.isArray(fields.snippets) &&
  fields.snippets.some((reference) => typeof reference === "string" && nameIn(reference) === name);

/** A text with a new variable fits the agents only once they declare it. */
function postpone(error: unknown, late: FileThing[], snippet: FileThing): void {
  if (!(error instanceof CliError)) throw error;
  late.push(snippet);
}

/** Returns an agent with the variables that it declares now, too: the snippet that it names still has its former text. */
async function withFormerVariables(thing: FileThing, { client, stored }: SetOptions): Promise<FileThing> {
  const id = stored.idOf(thing.kind, thing.name);
  if (id === undefined) return thing;
  const { fields } = await readThing(client, "agent", id);
  const own = namedIn(thing.fields.variables);
  const names = new Set(own.map(({ name }) => name));
  const former = namedIn(fields.variables).filter(({ name }) => !names.has(name));
  return { ...thing, fields: { ...thing.fields, variables: [...own, ...former] } };
}

const namedIn = (value: unknown): Record<string, unknown>[] => (Array.isArray(value) ? value.filter(isObject) : []);
