import type { TraceStep } from "../../../../server/wire/trace.ts";
import type { StepStatus } from "../../entities/run/trace-api.ts";
import { formatCount, plural } from "../../lib/format.ts";

const types: Record<string, string> = {
  run: "Run",
  model_call: "Model call",
  tool_call: "Tool call",
  retrieval: "Retrieval",
  guardrail: "Guardrail",
  approval: "Approval",
  subagent: "Agent call",
  recovery: "Restart",
  compaction: "Compaction",
};

/** What a type of step is called. */
export const typeWord = (type: string): string => types[type] ?? type;

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
export function stepSub(step: TraceStep, toolType: string | undefined): string {
  return join(
    step.replayed ? "recorded" : "",
    ownSub(step, toolType),
    step.approval ? approvalWord(step.approval.decision) : "",
    step.attempt > 1 ? plural(step.attempt, "attempt") : "",
  );
}

function ownSub(step: TraceStep, toolType: string | undefined): string {
  const output = fieldsOf(step.output);
  switch (step.type) {
    case "model_call":
      return Array.isArray(output.tool_calls) && output.tool_calls.length > 0
        ? plural(output.tool_calls.length, "tool call")
        : "";
    case "retrieval":
      return Array.isArray(output.matches) ? passages(output.matches.length) : "";
    case "guardrail":
      return join(`on ${String(fieldsOf(step.input).on ?? "")}`, verdictWord(output.verdict));
    case "compaction":
      return typeof output.left_out === "number" ? `${formatCount(output.left_out)} left out` : "";
    case "subagent":
      return step.subagent ? "agent" : (toolType ?? "");
    default:
      return toolType ?? "";
  }
}

const passages = (count: number): string => (count === 1 ? "1 passage" : `${formatCount(count)} passages`);
const approvalWord = (decision: string): string => (decision === "approve" ? "approved" : "rejected");

/** True where a guardrail found something and let it go on. */
export function isFlagged(step: TraceStep): boolean {
  return step.type === "guardrail" && step.status === "completed" && fieldsOf(step.output).verdict !== "passed";
}

function verdictWord(verdict: unknown): string {
  return typeof verdict === "string" ? verdict.replaceAll("_", " ") : "";
}

/** The fields of what may be an object. */
export function fieldsOf(value: unknown): Record<string, unknown> {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
}

function join(...parts: string[]): string {
  return parts.filter(Boolean).join(" · ");
}
