import type { Trace as TracePage, TraceStep } from "../../../../server/wire/trace.ts";
import type { LoadedTrace } from "./trace-types.ts";

/** True once a step can change no more. */
const isSettled = ({ status, ended_at }: TraceStep): boolean =>
  ended_at !== null && status !== "in_progress" && status !== "waiting" && status !== "unknown";

/** The step behind which anything may have changed since it was read; null: from the first on. */
export function readOnAfter(held: LoadedTrace | undefined): string | null {
  if (!held) return null;
  const unsettled = held.steps.findIndex((step) => !isSettled(step));
  return (unsettled === -1 ? held.steps.at(-1) : held.steps[unsettled - 1])?.id ?? null;
}

/** What is here, with the page that was read behind `after` in the place of what stood there. */
export function joinSteps(held: LoadedTrace | undefined, after: string | null, page: TracePage): LoadedTrace {
  const { steps, steps_has_more, ...trace } = page;
  const known = held && after !== null ? held.steps.findIndex(({ id }) => id === after) + 1 : 0;
  const kept = held?.steps.slice(0, known) ?? [];
  return { trace, steps: [...kept, ...steps], hasMore: steps_has_more };
}
