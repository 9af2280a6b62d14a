import { type ClientFlags, openClient } from "./client-options.ts";
import { print } from "./print.ts";
import { type ShownTrace, traceTree } from "./trace-tree.ts";

/** Prints the whole trace of a run, all its pages. */
export async function trace(run: string, flags: ClientFlags): Promise<void> {
  const client = await openClient(flags);
  const path = `/traces/${encodeURIComponent(run)}?limit=100&include=subagents`;
  const whole = await client.get<ShownTrace>(path);
  while (whole.steps_has_more) {
    const page = await client.get<ShownTrace>(`${path}&starting_after=${whole.steps.at(-1)!.id}`);
    whole.steps.push(...page.steps);
    whole.steps_has_more = page.steps_has_more;
  }
  print(flags.json, whole, () => traceTree(whole));
}
