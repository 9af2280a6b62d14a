import type { TraceStep } from "../../../../server/wire/trace.ts";
import { between } from "../../lib/format.ts";

/** How long each attempt that was given up had taken, in milliseconds: it began when the wait after the one before was over. */
export function attemptLengths({ started_at, retries }: Pick<TraceStep, "started_at" | "retries">): (number | null)[] {
  return retries.map(({ at }, index) => {
    const before = retries[index - 1];
    const since = between(before?.at ?? started_at, at);
    return since === null ? null : Math.max(0, since - (before?.delay_ms ?? 0));
  });
}
