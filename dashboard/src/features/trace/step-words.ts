import type { TraceStep } from "../../../../server/domain/api-types/trace.ts";
import type { StepType } from "../../../../server/domain/step-kinds.ts";
import type { StepStatus } from "../../entities/run/trace-api.ts";
import { joinFacts, plural } from "../../lib/format.ts";
import { fieldsOf } from "../../lib/json-text.ts";
import { isInterruptedCall } from "./interrupted-call.ts";
import { stepParts } from "./steps/step-parts.ts";

/** Label of a step type; unknown types, from a newer server, stay as they are. */
export const typeWord = (type: string): string =>
  type === "run" ? "Run" : (stepParts[type as StepType]?.word ?? type);

/** Labels of step statuses. */
export const statusWord: Record<StepStatus, string> = {
  in_progress: "Running",
  waiting: "Waiting",
  completed: "Completed",
  failed: "Failed",
  rejected: "Rejected",
  cancelled: "Cancelled",
  unknown: "Outcome unknown",
};

/** Label of a step's status. */
export const stepStatusWord = (step: Pick<TraceStep, "status" | "error">): string =>
  isInterruptedCall(step) ? "Interrupted" : statusWord[step.status];

/** The one or two facts of a step that distinguish it from its neighbours. */
export function stepSub(step: TraceStep): string {
  return joinFacts(
    step.replayed ? "recorded" : "",
    stepParts[step.type]?.sub?.(step) ?? "",
    step.approval ? approvalWord(step.approval.decision) : "",
    step.attempt > 1 ? plural(step.attempt, "attempt") : "",
  );
}

const approvalWord = (decision: string): string => (decision === "approve" ? "approved" : "rejected");

/** True if a guardrail reported a finding without blocking. */
export function isFlagged(step: TraceStep): boolean {
  return step.type === "guardrail" && step.status === "completed" && fieldsOf(step.output).verdict !== "passed";
}
