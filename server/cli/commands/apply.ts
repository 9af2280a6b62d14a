import { writeFileSync } from "node:fs";
import type { Change, Done } from "../project-files/change.ts";
import { wordsOf } from "../project-files/kinds.ts";
import { perform } from "../project-files/perform.ts";
import { readFolder } from "../project-files/read-files.ts";
import { type ClientFlags, openClient } from "./client-options.ts";
import { exitCodes, usageError } from "./exit-code.ts";
import { writeOut } from "./output.ts";
import { oneLine, print } from "./print.ts";

export interface ApplyFlags extends ClientFlags {
  dryRun?: boolean;
  secrets?: string;
}

/** Makes a project what the files of a folder say. Prints a line for each thing, first as a plan. */
export async function apply(folder: string, { dryRun = false, secrets, ...flags }: ApplyFlags): Promise<void> {
  const things = readFolder(folder);
  const client = await openClient(flags, true);
  const say = (line: string) => (flags.json ? undefined : writeOut(`${line}\n`));
  const plan = await perform(client, things, true);
  for (const change of plan) say(lineOf(change));
  const changes = plan.filter(({ outcome }) => outcome !== "unchanged");
  if (dryRun || changes.length === 0) {
    if (dryRun && changes.length > 0) process.exitCode = exitCodes.differs;
    return print(flags.json, { dry_run: dryRun, things: plan.map(shown) }, () => sumOf(plan, dryRun));
  }
  if (secrets !== undefined) requireWritable(secrets);
  const done = await perform(client, things, false, (change) => {
    if (change.secret !== undefined && secrets !== undefined) writeSecret(secrets, change);
  });
  const hidden = done.filter(({ secret }) => secret !== undefined && secrets === undefined);
  for (const change of hidden)
    say(
      `The signing secret of ${oneLine(wordsOf(change))} is not shown: --secrets writes those of new things to a file.`,
    );
  print(flags.json, { dry_run: false, things: done.map(shown) }, () => sumOf(done, false));
}

/** Throws for a file that cannot be written, before a secret is made that is shown only once. */
function requireWritable(path: string): void {
  try {
    writeFileSync(path, "", { flag: "a", mode: 0o600 });
  } catch (error) {
    throw usageError(`${path} cannot be written: ${error instanceof Error ? error.message : String(error)}`);
  }
}

function writeSecret(path: string, { kind, name, secret, url }: Done): void {
  writeFileSync(path, `${JSON.stringify({ object: kind, name, signing_secret: secret, url })}\n`, {
    flag: "a",
    mode: 0o600,
  });
}

/** A change for programs, under the API's word for its kind. */
const shown = ({ kind, name, outcome, fields, path }: Done) => ({ object: kind, name, outcome, changes: fields, path });

const marks = { created: "+", updated: "~", unchanged: "=" };

const lineOf = ({ outcome, fields, ...thing }: Change): string =>
  oneLine(`${marks[outcome]} ${wordsOf(thing)}${fields.length > 0 ? `: ${listed(fields)}` : ""}`);

const shownFields = 8;

/** Many files of a skill are only counted. */
const listed = (fields: readonly string[]): string =>
  [
    ...fields.slice(0, shownFields),
    ...(fields.length > shownFields ? [`${fields.length - shownFields} more`] : []),
  ].join(", ");

function sumOf(changes: readonly Change[], isDry: boolean): string {
  const count = (outcome: Change["outcome"]) => changes.filter((change) => change.outcome === outcome).length;
  const [created, updated, unchanged] = [count("created"), count("updated"), count("unchanged")];
  return isDry
    ? `${created} to create, ${updated} to update, ${unchanged} unchanged. Nothing was changed.`
    : `${created} created, ${updated} updated, ${unchanged} unchanged.`;
}
