import type { TraceStep } from "../../../../server/domain/api-types/trace.ts";
import type { Recovery } from "../../../../server/domain/trace.ts";
import { durationBetween } from "../../lib/format.ts";
import type { Span } from "./timeline.ts";

interface Around {
  recoveries: readonly Recovery[];
  /** Time of the newest event: a pending call has waited since then at the latest. */
  newest: number;
}

/** Spans in which a step waited for a person or client code. An open end is `Infinity`. */
export function waitSpans(step: TraceStep, { recoveries, newest }: Around): Span[] {
  const from = Date.parse(step.started_at);
  const end = step.completed_at === null ? Number.POSITIVE_INFINITY : Date.parse(step.completed_at);
  if (step.status === "unknown" && step.completed_at === null)
    return [{ from: restartAfter(recoveries, from) ?? newest, to: end }];
  if (step.status === "waiting" && step.type === "subagent" && !step.approval) return [{ from: newest, to: end }];
  const decided = step.approval ? Date.parse(step.approval.at) : null;
  // A call with an unknown outcome worked until the restart and waited after it.
  const waitStart = decided === null ? null : (restartAfter(recoveries, from, decided) ?? from);
  const waits = decided === null ? [] : [{ from: waitStart!, to: decided }];
  const isClient = step.tool_type === "client";
  if (step.status === "waiting" || isClient) waits.push({ from: decided ?? from, to: end });
  return waits.filter((span) => span.to > span.from);
}

function restartAfter(recoveries: readonly Recovery[], from: number, before = Number.POSITIVE_INFINITY): number | null {
  const times = recoveries.map(({ at }) => Date.parse(at)).filter((at) => at >= from && at < before);
  return times.at(-1) ?? null;
}

/** Milliseconds of each failed attempt, counted from the end of the previous delay. */
export function attemptLengths({ started_at, retries }: Pick<TraceStep, "started_at" | "retries">): (number | null)[] {
  return retries.map(({ at }, index) => {
    const before = retries[index - 1];
    const since = durationBetween(before?.at ?? started_at, at);
    return since === null ? null : Math.max(0, since - (before?.delay_ms ?? 0));
  });
}
