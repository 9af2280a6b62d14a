import { statSync } from "node:fs";
import { isId } from "../../domain/ids.ts";
import { lastItem } from "../../lib/collections.ts";
import { type ClientFlags, openClient } from "./client-options.ts";
import { CliError } from "./exit-code.ts";
import { print } from "./print.ts";
import { type ShownTrace, traceTree } from "./trace-tree.ts";

/** Prints the whole trace of a run on a server, or of a file. */
export async function trace(source: string, flags: ClientFlags): Promise<void> {
  const whole = isId("run", source) || isId("trace", source) ? await fetchTrace(source, flags) : await readFile(source);
  print(flags.json, whole, () => traceTree(whole));
}

/** Reads all pages of a trace. */
async function fetchTrace(run: string, flags: ClientFlags): Promise<ShownTrace> {
  const client = await openClient(flags);
  const path = `/traces/${run}?limit=100&include=subagents`;
  const whole = await client.get<ShownTrace>(path);
  while (whole.steps_has_more) {
    const page = await client.get<ShownTrace>(`${path}&starting_after=${lastItem(whole.steps).id}`);
    whole.steps.push(...page.steps);
    whole.steps_has_more = page.steps_has_more;
  }
  return whole;
}

async function readFile(path: string): Promise<ShownTrace> {
  if (!statSync(path, { throwIfNoEntry: false })?.isFile())
    throw new CliError(`"${path}" is neither the id of a run or trace, nor a file.`);
  return await (await import("./trace-file.ts")).readTraceFile(path);
}
