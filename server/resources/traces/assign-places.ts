import { newId } from "../../domain/ids.ts";
import { limits } from "../../domain/limits.ts";
import type { JournalEntry } from "../../domain/run-event.ts";
import type { Viewer } from "../../http/auth.ts";
import { invalid } from "../../http/errors.ts";
import { entryOf } from "../../lib/collections.ts";
import type { Author } from "../../storage/db/audit.ts";
import type { Place } from "./import-as-run.ts";
import type { ForeignRun } from "./import-run.ts";

/** Returns the places of imported runs, in order, with new ids. Throws for runs that the key may not import. */
export function assignPlaces(
  viewer: Viewer & Author,
  runs: readonly ForeignRun[],
  now: () => number,
): Omit<Place, "agent_hash">[] {
  const idsOf = createIds(runs, now);
  const depths = new Map<string, number>();
  return runs.map(({ run_id, parent_run_id, entries }, i) => {
    requireAgents(viewer, i, entries);
    const depth = parent_run_id === null ? 0 : entryOf(depths, parent_run_id) + 1;
    if (depth > limits.agent_depth) throw invalid(`runs[${i}]`, `Runs nest at most ${limits.agent_depth} deep.`);
    depths.set(run_id, depth);
    return {
      project_id: viewer.project_id,
      environment: viewer.environment,
      depth,
      ...idsOf(run_id),
      parent_run_id: parent_run_id && idsOf(parent_run_id).run_id,
      request_id: viewer.actor.request_id,
      keepsImages: !viewer.agent_ids,
    };
  });
}

/** Assigns new ids to the runs. References to unknown runs, or to children of other runs, get an unused id. */
function createIds(runs: readonly ForeignRun[], now: () => number) {
  const ids = new Map(runs.map(({ run_id }) => [run_id, newId("run", now())]));
  const parents = new Map(runs.map((run) => [run.run_id, run.parent_run_id]));
  const calls = new Map(runs.flatMap(({ run_id, entries }) => callsOf(run_id, entries, parents)));
  return (run_id: string): Pick<Place, "run_id" | "parent_call_id" | "runIdOf" | "childIdOf"> => ({
    run_id: entryOf(ids, run_id),
    parent_call_id: calls.get(run_id) ?? null,
    runIdOf: (id) => ids.get(id) ?? newId("run", now()),
    childIdOf: (id) => (parents.get(id) === run_id ? entryOf(ids, id) : newId("run", now())),
  });
}

/** Child runs of a run, each with the call that started it. */
const callsOf = (run_id: string, entries: readonly JournalEntry[], parents: ReadonlyMap<string, string | null>) =>
  entries.flatMap(({ event }): [child: string, call: string][] =>
    event.type === "subagent.started" && parents.get(event.run_id) === run_id
      ? [[event.run_id, event.tool_call_id]]
      : [],
  );

/** Throws if an agent-bound key could not see the imported run. */
function requireAgents({ agent_ids }: Viewer, index: number, [first]: readonly JournalEntry[]): void {
  if (!agent_ids || first?.event.type !== "run.created" || agent_ids.includes(first.event.agent_id)) return;
  throw invalid(`runs[${index}].agent_id`, "This key cannot use the agent of this run.");
}
