import type { Divergence, JournalEntry, RunEvent } from "../core/run-event.ts";

/**
 * The step after which a run goes on live where its replay diverged: the model is asked anew, with what the record has of
 * everything before; where a call comes out otherwise, its answer stands and the call is made anew. -1 is the start.
 */
export function forkStep(entries: readonly JournalEntry[], { step_index, kind }: Divergence): number {
  if (kind === "tool_call") return last(entries, (event) => isOver(event, ["model_call"], step_index + 1));
  const asked = last(
    entries,
    (event) => event.type === "step.started" && event.step_type === "model_call" && event.step_index <= step_index,
  );
  return last(entries, (event) => isOver(event, ["model_call", "tool_call", "subagent"], asked));
}

/** The step of the last such entry, or -1. */
function last(entries: readonly JournalEntry[], fits: (event: RunEvent) => boolean): number {
  const event = entries.findLast((entry) => fits(entry.event))?.event;
  return event && "step_index" in event ? (event.step_index ?? -1) : -1;
}

/** A model call that failed is nothing to go on after; a tool that did is what the model was told. */
const isOver = (event: RunEvent, types: readonly string[], before: number): boolean =>
  event.type === "step.completed" &&
  types.includes(event.step_type) &&
  (event.step_type !== "model_call" || event.status === "completed") &&
  event.step_index < before;
