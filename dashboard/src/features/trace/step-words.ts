import type { StepType } from "../../../../server/core/step-kinds.ts";
import type { TraceStep } from "../../../../server/wire/trace.ts";
import type { StepStatus } from "../../entities/run/trace-api.ts";
import { joinFacts, plural } from "../../lib/format.ts";
import { fieldsOf } from "../../lib/json-text.ts";
import { stepParts } from "./steps/step-parts.ts";

/** What a type of step is called; that of a newer server by its name. */
export const typeWord = (type: string): string =>
  type === "run" ? "Run" : (stepParts[type as StepType]?.word ?? type);

/** What a step came to, in a word. */
export const statusWord: Record<StepStatus, string> = {
  in_progress: "Running",
  waiting: "Waiting",
  completed: "Completed",
  failed: "Failed",
  rejected: "Rejected",
  cancelled: "Cancelled",
  unknown: "Outcome unknown",
};

/** What stands behind a step's name: the one or two facts that tell it from its neighbours. */
export function stepSub(step: TraceStep): string {
  return joinFacts(
    step.replayed ? "recorded" : "",
    stepParts[step.type]?.sub?.(step) ?? "",
    step.approval ? approvalWord(step.approval.decision) : "",
    step.attempt > 1 ? plural(step.attempt, "attempt") : "",
  );
}

const approvalWord = (decision: string): string => (decision === "approve" ? "approved" : "rejected");

/** True where a guardrail found something and let it go on. */
export function isFlagged(step: TraceStep): boolean {
  return step.type === "guardrail" && step.status === "completed" && fieldsOf(step.output).verdict !== "passed";
}
