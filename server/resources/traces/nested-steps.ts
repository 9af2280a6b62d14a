import type { Trace, TraceStep } from "../../domain/trace.ts";

/** A run with its trace. */
export interface TracedRun {
  run_id: string;
  trace: Pick<Trace, "steps">;
}

/** Returns the child run of an agent call; null if the viewer may not see it. */
type ChildOf = (
  subagent: NonNullable<TraceStep["subagent"]>,
  parent: string,
) => Promise<TracedRun | null> | TracedRun | null;

// Deeper than agents may call each other.
const depthMax = 32;

/** Steps including those of child runs, each after the call that started it: depth first, and read lazily. */
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
