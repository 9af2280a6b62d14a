import { writeFileSync } from "node:fs";
import { wordsOf } from "../project-files/kinds.ts";
import { type Change, inOrder, setThing, unresolved } from "../project-files/plan.ts";
import { type FileThing, readFolder } from "../project-files/read-files.ts";
import { readStored } from "../project-files/stored-things.ts";
import type { ApiClient } from "./api-client.ts";
import { type ClientFlags, openClient } from "./client-options.ts";
import { exitCodes } from "./exit-code.ts";
import { writeOut } from "./output.ts";
import { oneLine, print } from "./print.ts";

export interface ApplyFlags extends ClientFlags {
  dryRun?: boolean;
  secrets?: string;
}

type Done = Change & { secret?: string };

/** Makes a project what the files of a folder say. Prints a line for each thing, first as a plan. */
export async function apply(folder: string, { dryRun = false, secrets, ...flags }: ApplyFlags): Promise<void> {
  const things = readFolder(folder);
  const client = await openClient(flags);
  const say = (line: string) => (flags.json ? undefined : writeOut(`${line}\n`));
  const plan = await perform(client, things, true);
  for (const change of plan) say(lineOf(change));
  const changes = plan.filter(({ outcome }) => outcome !== "unchanged");
  if (dryRun || changes.length === 0) {
    if (dryRun && changes.length > 0) process.exitCode = exitCodes.differs;
    return print(flags.json, { dry_run: dryRun, things: plan.map(shown) }, () => sumOf(plan, dryRun));
  }
  const done = await perform(client, things, false, (change) => {
    // Written at once: if a later thing is refused, the secret is not lost.
    if (change.secret !== undefined && secrets !== undefined) writeSecret(secrets, change);
  });
  const hidden = done.filter(({ secret }) => secret !== undefined && secrets === undefined);
  for (const change of hidden)
    say(
      `The signing secret of ${oneLine(wordsOf(change))} is not shown: --secrets writes those of new things to a file.`,
    );
  print(flags.json, { dry_run: false, things: done.map(shown) }, () => sumOf(done, false));
}

/** Sets all things in their order. Those that name a thing of a circle which did not exist yet are set again. */
async function perform(
  client: ApiClient,
  things: readonly FileThing[],
  isDry: boolean,
  onSet: (change: Done) => void = () => {},
): Promise<Done[]> {
  const stored = await readStored(client);
  const changes: Done[] = [];
  const again: FileThing[] = [];
  for (const thing of inOrder(things, stored)) {
    if (unresolved(thing, stored).length > 0) again.push(thing);
    const change = await setThing(thing, { client, stored, isDry });
    onSet(change);
    changes.push(change);
  }
  if (!isDry) for (const thing of again) await setThing(thing, { client, stored, isDry });
  return changes;
}

function writeSecret(path: string, { kind, name, secret }: Done): void {
  writeFileSync(path, `${JSON.stringify({ object: kind, name, signing_secret: secret })}\n`, {
    flag: "a",
    mode: 0o600,
  });
}

/** A change for programs, under the API's word for its kind. */
const shown = ({ kind, name, outcome, fields, path }: Done) => ({ object: kind, name, outcome, changes: fields, path });

const marks = { created: "+", updated: "~", unchanged: "=" };

const lineOf = ({ outcome, fields, ...thing }: Change): string =>
  oneLine(`${marks[outcome]} ${wordsOf(thing)}${fields.length > 0 ? `: ${fields.join(", ")}` : ""}`);

function sumOf(changes: readonly Change[], isDry: boolean): string {
  const count = (outcome: Change["outcome"]) => changes.filter((change) => change.outcome === outcome).length;
  const [created, updated, unchanged] = [count("created"), count("updated"), count("unchanged")];
  return isDry
    ? `${created} to create, ${updated} to update, ${unchanged} unchanged. Nothing was changed.`
    : `${created} created, ${updated} updated, ${unchanged} unchanged.`;
}
