import type { AgentSnapshot } from "./agent-snapshot.ts";
import { toolText } from "./prompt.ts";
import { givenOf, wholeText } from "./run-input.ts";
import type { RunState, ToolCall } from "./run-state.ts";

/** A text that a judge has still to see before the model does. */
export interface Unjudged {
  /** The judge's place in the agent's list. */
  index: number;
  on: "input" | "tool_output";
  tool_call_id: string | null;
  text: string;
}

/** The input, and outputs that came from outside, as far as their judges have not spoken. */
export function unjudged({ run, calls, decisions }: RunState, { guardrails }: AgentSnapshot): Unjudged[] {
  return (guardrails ?? []).flatMap(({ type, on }, index) => {
    if (type !== "llm_judge") return [];
    const isPending = ({ on: point, tool_call_id }: Pick<Unjudged, "on" | "tool_call_id">): boolean =>
      !decisions.some(
        ({ guardrail, tool_call_id: about }) =>
          guardrail.index === index && guardrail.on === point && about === tool_call_id,
      );
    const input = { index, on: "input", tool_call_id: null, text: wholeText(givenOf(run!)) } as const;
    const outputs = on.includes("tool_output") ? calls.filter(isGiven).map((call) => outputOf(call, index)) : [];
    return [...(on.includes("input") ? [input] : []), ...outputs].filter(isPending);
  });
}

const isGiven = ({ submitted, status }: ToolCall): boolean =>
  submitted && (status === "completed" || status === "failed");

const outputOf = (call: ToolCall, index: number): Unjudged => ({
  index,
  on: "tool_output",
  tool_call_id: call.id,
  text: toolText(call).output,
});
