import type { AgentSnapshot, Guardrail } from "../../domain/agent-snapshot.ts";
import type { Finding } from "../../domain/guardrail-event.ts";
import type { EarlierMessage, InputCall, RecordedInput } from "../../domain/run-input.ts";
import type { ToolAnswer } from "../../domain/submit.ts";
import { deleteOldest } from "../../lib/collections.ts";
import {
  type CompiledGuardrails,
  compileGuardrails,
  guardrailsOn,
  withoutKinds,
} from "../../runtime/guardrails/compile.ts";
import { screenInSlices } from "../../runtime/guardrails/in-slices.ts";
import type { ScreenResult } from "../../runtime/guardrails/inspect.ts";

type Guarded = Pick<AgentSnapshot, "guardrails">;

const compiledMax = 16;
const compiledCache = new Map<string, CompiledGuardrails>();

/** Caches compiled guardrails, because agents are read again for each run. */
function compileCached(list: readonly Guardrail[]): CompiledGuardrails {
  if (list.length === 0) return [];
  const text = JSON.stringify(list);
  const ready = compiledCache.get(text) ?? compileGuardrails(list);
  compiledCache.delete(text);
  compiledCache.set(text, ready);
  if (compiledCache.size > compiledMax) deleteOldest(compiledCache);
  return ready;
}

/** An input, safe to store. */
interface ScreenedInput {
  asked: RecordedInput;
  findings: Finding[];
  isBlocked: boolean;
}

/**
 * Screens an input with all guardrails but judges, message by message. Blocked text is masked like redacted text, so
 * that the journal has neither.
 */
export async function screenInput({ guardrails = [] }: Guarded, recordedInput: RecordedInput): Promise<ScreenedInput> {
  const list = compileCached(guardrails);
  if (guardrailsOn(list, "input").length === 0) return { asked: recordedInput, findings: [], isBlocked: false };
  const findings: Finding[] = [];
  async function screenValue<T>(compiled: CompiledGuardrails, subject: T): Promise<T> {
    const { value, triggered } = await screenInSlices(compiled, "input", subject, {
      masks: ({ guardrail: { action } }) => action === "redact" || action === "block",
    });
    findings.push(...triggered);
    return value;
  }
  // Arguments keep their shape, and guardrails on length do not apply to them.
  const [textGuardrails, argumentGuardrails] = [withoutKinds(list, "shape"), withoutKinds(list, "shape", "length")];
  const earlier: EarlierMessage[] = [];
  for (const message of recordedInput.earlier ?? []) {
    const { content, tool_calls } = message;
    const calls: InputCall[] = [];
    const screenedContent = await screenValue(textGuardrails, content);
    for (const call of tool_calls ?? [])
      calls.push({ ...call, arguments: await screenValue(argumentGuardrails, call.arguments) });
    earlier.push({ ...message, content: screenedContent, ...(tool_calls && { tool_calls: calls }) });
  }
  return {
    asked: {
      ...recordedInput,
      input: await screenValue(list, recordedInput.input),
      ...(recordedInput.earlier && { earlier }),
    },
    findings,
    isBlocked: findings.some(({ verdict }) => verdict === "blocked"),
  };
}

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
