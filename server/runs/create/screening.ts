import type { AgentSnapshot } from "../../domain/agent-snapshot.ts";
import type { Finding } from "../../domain/guardrail-event.ts";
import type { ToolAnswer } from "../../domain/submit.ts";
import { type CompiledGuardrails, guardrailsOn, withoutKinds } from "../../runtime/guardrails/compile.ts";
import { compileCached } from "../../runtime/guardrails/compile-cached.ts";
import { screenInSlices } from "../../runtime/guardrails/in-slices.ts";
import type { ScreenResult } from "../../runtime/guardrails/inspect.ts";

type Guarded = Pick<AgentSnapshot, "guardrails">;

/** A client's answer, safe to store, and the fault of its arguments. */
export interface ScreenedAnswer {
  answer: ToolAnswer;
  findings: Finding[];
  fault: string | null;
}

/** True if a guardrail screens what clients submit. */
export const guardsAnswers = ({ guardrails = [] }: Guarded): boolean =>
  guardrails.some(({ on }) => on.includes("tool_call") || on.includes("tool_output"));

/** Screens what a client submits for a call: an output, a rejection's reason, or edited arguments. */
export async function screenAnswer(
  { guardrails = [] }: Guarded,
  tool: string,
  answer: ToolAnswer,
): Promise<ScreenedAnswer> {
  const list = compileCached(guardrails);
  const { tool_call_id, output, decision, reason, arguments: args } = answer;
  const withCallId = (findings: readonly Finding[]) => findings.map((finding) => ({ ...finding, tool_call_id }));
  if (args && guardrailsOn(list, "tool_call").length > 0) {
    const { value, triggered, blocked } = await screenInSlices(list, "tool_call", args, { tool });
    // The client that edits the arguments is approving the call, so no further approval is required.
    const findings = withCallId(triggered.filter(({ verdict }) => verdict !== "approval_required"));
    const fault = blocked && `A guardrail (${blocked.guardrail.type}) blocked these arguments.`;
    return { answer: { ...answer, arguments: value }, findings, fault };
  }
  if (guardrailsOn(list, "tool_output").length === 0) return { answer, findings: [], fault: null };
  if (decision === "reject" && reason !== undefined) {
    // The model reads the reason as the call's result.
    const { value, triggered, blocked } = await screenOutput(list, { tool_call_id, output: reason, is_error: true });
    const { reason: _, ...bare } = answer;
    return {
      answer: blocked ? bare : { ...answer, reason: String(value) },
      findings: withCallId(triggered),
      fault: null,
    };
  }
  if (output === undefined || decision) return { answer, findings: [], fault: null };
  const { value, triggered, blocked } = await screenOutput(list, answer);
  const withheld = { tool_call_id, output: blocked?.message, is_error: true };
  return { answer: blocked ? withheld : { ...answer, output: value }, findings: withCallId(triggered), fault: null };
}

/** Errors are exempt from "shape". */
const screenOutput = (list: CompiledGuardrails, { output, is_error }: ToolAnswer): Promise<ScreenResult<unknown>> =>
  screenInSlices(is_error ? withoutKinds(list, "shape") : list, "tool_output", output);
