import { newId } from "./ids.ts";
import type { GuardrailDecided, RunEvent } from "./run-event.ts";

/** What a guardrail says, and about what; its step is numbered when it is written down. */
export type Finding = Pick<GuardrailDecided, "guardrail" | "verdict" | "message" | "matches"> &
  Partial<Pick<GuardrailDecided, "tool_call_id" | "latency_ms" | "spent">>;

export const isBlocked = ({ verdict }: Pick<Finding, "verdict">): boolean => verdict === "blocked";

/** What guardrails have found, as steps from `step_index` on. */
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
