import type { AgentSnapshot } from "./agent-snapshot.ts";
import { toolText } from "./prompt.ts";
import { toRequestInput, wholeText } from "./run-input.ts";
import type { RunState, ToolCall } from "./run-state.ts";

/** A text that a judge has to check before the model sees it. */
export interface PendingJudgement {
  /** Index of the judge in the agent's guardrails. */
  index: number;
  on: "input" | "tool_output";
  tool_call_id: string | null;
  /** The message that came while the run was under way; absent for the run's input. */
  message_id?: string;
  text: string;
}

/** Returns the input and external outputs that judges have not checked yet. */
export function pendingJudgements(
  { run, calls, messages, decisions }: RunState,
  { guardrails }: AgentSnapshot,
): PendingJudgement[] {
  return (guardrails ?? []).flatMap(({ type, on }, index) => {
    if (type !== "llm_judge") return [];
    const isPending = ({ on: point, tool_call_id, message_id }: PendingJudgement): boolean =>
      !decisions.some(
        ({ guardrail, tool_call_id: about, message_id: said }) =>
          guardrail.index === index && guardrail.on === point && about === tool_call_id && said === message_id,
      );
    const input = { index, on: "input", tool_call_id: null, text: wholeText(toRequestInput(run)) } as const;
    const steered = messages.flatMap((message): PendingJudgement[] =>
      message.role === "user" && message.steered
        ? [{ index, on: "input", tool_call_id: null, message_id: message.id, text: message.content }]
        : [],
    );
    const outputs = on.includes("tool_output") ? calls.filter(isGiven).map((call) => outputOf(call, index)) : [];
    return [...(on.includes("input") ? [input, ...steered] : []), ...outputs].filter(isPending);
  });
}

const isGiven = ({ submitted, status }: ToolCall): boolean =>
  submitted && (status === "completed" || status === "failed");

const outputOf = (call: ToolCall, index: number): PendingJudgement => ({
  index,
  on: "tool_output",
  tool_call_id: call.id,
  text: toolText(call).output,
});
