import type { AgentSnapshot } from "../../domain/agent-snapshot.ts";
import type { Finding } from "../../domain/guardrail-event.ts";
import type { EarlierMessage, InputCall, RecordedInput } from "../../domain/run-input.ts";
import { type CompiledGuardrails, guardrailsOn, withoutKinds } from "./compile.ts";
import { compileCached } from "./compile-cached.ts";
import { screenInSlices } from "./in-slices.ts";

type Guarded = Pick<AgentSnapshot, "guardrails">;

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
