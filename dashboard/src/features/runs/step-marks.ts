import type { AnyRun as Run } from "../../../../server/domain/api-types/run.ts";

/** One mark of a run's strip: a call, and whether the run failed there. */
interface StepMark {
  type: "model_call" | "tool_call" | "subagent" | "handoff" | "guardrail";
  failed: boolean;
}

/** Marks of a run's calls, as far as the list item contains them. */
export function stepMarks(
  run: Pick<Run, "last_calls" | "messages" | "tool_calls" | "usage" | "error" | "status">,
): StepMark[] {
  const marks = run.last_calls?.map((type): StepMark => ({ type, failed: false })) ?? marksOfMessages(run);
  return run.status === "failed" ? markFailure(marks, run.error) : marks;
}

function marksOfMessages(run: Pick<Run, "messages" | "tool_calls" | "usage">): StepMark[] {
  const types = new Map(run.tool_calls?.map(({ id, type }) => [id, typeOf(type)]));
  const marks: StepMark[] = [];
  for (const { role, tool_calls } of run.messages ?? []) {
    if (role !== "assistant") continue;
    marks.push({ type: "model_call", failed: false });
    for (const { id } of tool_calls ?? []) marks.push({ type: types.get(id) ?? "tool_call", failed: false });
  }
  // An interrupted or running model call has no message.
  const missing = (run.usage?.model_calls ?? 0) - marks.filter(({ type }) => type === "model_call").length;
  for (let at = 0; at < missing; at++) marks.push({ type: "model_call", failed: false });
  return marks;
}

const typeOf = (toolType: string): StepMark["type"] =>
  toolType === "agent" ? "subagent" : toolType === "handoff" ? "handoff" : "tool_call";

/** Type of call by error code. Other codes end a run between calls. */
const failing: Record<string, StepMark["type"]> = {
  model_error: "model_call",
  model_incomplete: "model_call",
  model_rate_limited: "model_call",
  model_not_available: "model_call",
  context_length_exceeded: "model_call",
  output_schema_mismatch: "model_call",
  tool_error: "tool_call",
  guardrail_blocked: "guardrail",
};

/** Marks the last call of the failed type. A guardrail has no message, so its mark is appended. */
function markFailure(marks: StepMark[], error: Run["error"]): StepMark[] {
  const type = failing[error?.code ?? ""];
  if (!type) return marks;
  const index = type === "guardrail" ? -1 : marks.findLastIndex((mark) => mark.type === type);
  return index < 0 ? [...marks, { type, failed: true }] : marks.with(index, { type, failed: true });
}

/** Describes the number of calls: `2 model calls, 1 tool call`; empty without calls. */
export function callWords(usage: Run["usage"] | null): string {
  if (!usage) return "";
  const { model_calls, tool_calls } = usage;
  const words = [
    model_calls && `${model_calls} model call${model_calls === 1 ? "" : "s"}`,
    tool_calls && `${tool_calls} tool call${tool_calls === 1 ? "" : "s"}`,
  ];
  return words.filter(Boolean).join(", ");
}
