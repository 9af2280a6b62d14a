import type { AnyRun as Run } from "../../../../server/wire/run.ts";
import type { Row } from "./rows.ts";

/** The row that the page opens on: the step that failed the run, what it waits for, or the run itself, which says why. */
export function firstStep(rows: readonly Row[], run: Pick<Run, "status" | "error" | "required_action">): string {
  const own = rows.filter(({ kind, level }) => kind === "step" && level === 2);
  if (run.status === "failed") {
    const index = failingStep(run);
    return index === null ? "run" : (own.find(({ step }) => step?.step_index === index)?.key ?? "run");
  }
  if (run.status === "requires_action") {
    const asked = new Set(run.required_action?.submit_tool_outputs.tool_calls.map(({ id }) => id));
    const waiting = own.find(({ step }) => step?.tool_call_id != null && asked.has(step.tool_call_id));
    return (waiting ?? own.find(({ mark }) => mark === "waiting" || mark === "unknown"))?.key ?? "run";
  }
  return "run";
}

/** A step that such an end cut short knows only that it was cut short: the reason stands at the run. */
const endsOfTheRun = ["budget_exceeded", "max_turns_exceeded", "run_timeout", "crash_loop"];

/** The step that says why a run failed; null where the run itself does. */
export const failingStep = ({ status, error }: Pick<Run, "status" | "error">): number | null =>
  status === "failed" && error && !endsOfTheRun.includes(error.code) ? (error.step_index ?? null) : null;

/** The keys of rows that have to be open for this one to be there: `6` and `6-2` for `6-2-1`. */
export function ancestorsOf(key: string): string[] {
  const parts = key.split("-").slice(0, -1);
  return parts.map((_, index) => parts.slice(0, index + 1).join("-"));
}
