import type { Trace, TraceStep } from "../core/trace.ts";

/** A run with its trace. */
export interface TracedRun {
  run_id: string;
  trace: Pick<Trace, "steps">;
}

/** The run below an agent's call, as far as whoever looks may see it. */
type ChildOf = (
  subagent: NonNullable<TraceStep["subagent"]>,
  parent: string,
) => Promise<TracedRun | null> | TracedRun | null;

// Deeper than agents may call each other.
const depthMax = 32;

/** Steps with those of child runs, each behind the call that it answers: depth first, and read as far as somebody looks. */
export async function* nestedSteps(
  { run_id, trace }: TracedRun,
  childOf: ChildOf,
  parent_id: string | null = null,
  depth = 0,
): AsyncGenerator<TraceStep> {
  for (const step of trace.steps) {
    yield { ...step, run_id, parent_id };
    const child = step.subagent && depth < depthMax ? await childOf(step.subagent, run_id) : null;
    if (child) yield* nestedSteps(child, childOf, step.id, depth + 1);
  }
}
