import { newId } from "./ids.ts";
import type { GuardrailDecided, RunEvent } from "./run-event.ts";

/** A guardrail's decision; its step is numbered when it is appended. */
export type Finding = Pick<GuardrailDecided, "guardrail" | "verdict" | "message" | "matches"> &
  Partial<Pick<GuardrailDecided, "tool_call_id" | "message_id" | "latency_ms" | "spent">>;

export const isBlocked = ({ verdict }: Pick<Finding, "verdict">): boolean => verdict === "blocked";

/** Converts findings to events, with steps from `step_index` on. */
export const decidedEvents = (findings: readonly Finding[], step_index: number, turn_index: number): RunEvent[] =>
  findings.map(({ tool_call_id = null, latency_ms = 0, spent = null, ...finding }, i) => ({
    type: "guardrail.decided",
    step_id: newId("step"),
    step_index: step_index + i,
    turn_index,
    ...finding,
    tool_call_id,
    latency_ms,
    spent,
  }));
