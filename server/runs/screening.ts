import type { AgentSnapshot, Guardrail } from "../core/agent-snapshot.ts";
import type { Finding } from "../core/guardrail-event.ts";
import type { Asked, EarlierMessage, InputCall } from "../core/run-input.ts";
import type { ToolAnswer } from "../core/submit.ts";
import { type CompiledGuardrails, compileGuardrails, except, guardrailsOn } from "../guardrails/compile.ts";
import { screenInSlices } from "../guardrails/in-slices.ts";
import type { Screened } from "../guardrails/inspect.ts";

type Guarded = Pick<AgentSnapshot, "guardrails">;

const compiledMax = 16;
const known = new Map<string, CompiledGuardrails>();

/** Agents are read anew for each run: what their lists say is compiled once for all of them. */
function compiled(list: readonly Guardrail[]): CompiledGuardrails {
  if (list.length === 0) return [];
  const text = JSON.stringify(list);
  const ready = known.get(text) ?? compileGuardrails(list);
  known.delete(text);
  known.set(text, ready);
  if (known.size > compiledMax) known.delete(known.keys().next().value!);
  return ready;
}

/** An input as it may be written down. */
interface ScreenedInput {
  asked: Asked;
  findings: Finding[];
  isBlocked: boolean;
}

/**
 * Screens an input by all guardrails but judges, each of its messages by itself. What blocks is masked like what is
 * redacted: the journal has neither.
 */
export async function screenInput({ guardrails = [] }: Guarded, asked: Asked): Promise<ScreenedInput> {
  const list = compiled(guardrails);
  if (guardrailsOn(list, "input").length === 0) return { asked, findings: [], isBlocked: false };
  const findings: Finding[] = [];
  async function screened<T>(by: CompiledGuardrails, given: T): Promise<T> {
    const { value, triggered } = await screenInSlices(by, "input", given, {
      masks: ({ guardrail: { action } }) => action === "redact" || action === "block",
    });
    findings.push(...triggered);
    return value;
  }
  // Arguments keep their shape, whatever is taken out of them: nobody asked for that length.
  const [ofTexts, ofArguments] = [except(list, "shape"), except(list, "shape", "length")];
  const earlier: EarlierMessage[] = [];
  for (const message of asked.earlier ?? []) {
    const { content, tool_calls } = message;
    const calls: InputCall[] = [];
    const said = await screened(ofTexts, content);
    for (const call of tool_calls ?? [])
      calls.push({ ...call, arguments: await screened(ofArguments, call.arguments) });
    earlier.push({ ...message, content: said, ...(tool_calls && { tool_calls: calls }) });
  }
  return {
    asked: { ...asked, input: await screened(list, asked.input), ...(asked.earlier && { earlier }) },
    findings,
    isBlocked: findings.some(({ verdict }) => verdict === "blocked"),
  };
}

/** A client's answer as it may be written down, and what is wrong with the arguments in it. */
export interface ScreenedAnswer {
  answer: ToolAnswer;
  findings: Finding[];
  fault: string | null;
}

/** Whether anything that a client answers is looked at. */
export const guardsAnswers = ({ guardrails = [] }: Guarded): boolean =>
  guardrails.some(({ on }) => on.includes("tool_call") || on.includes("tool_output"));

/** Screens what a client gives for a call: an output, the reason for a rejection, or edited arguments. */
export async function screenAnswer(
  { guardrails = [] }: Guarded,
  tool: string,
  answer: ToolAnswer,
): Promise<ScreenedAnswer> {
  const list = compiled(guardrails);
  const { tool_call_id, output, decision, reason, arguments: args } = answer;
  const own = (findings: readonly Finding[]) => findings.map((finding) => ({ ...finding, tool_call_id }));
  if (args && guardrailsOn(list, "tool_call").length > 0) {
    const { value, triggered, blocked } = await screenInSlices(list, "tool_call", args, { tool });
    // Whoever edits the arguments has been asked already.
    const findings = own(triggered.filter(({ verdict }) => verdict !== "approval_required"));
    const fault = blocked && `A guardrail (${blocked.guardrail.type}) blocked these arguments.`;
    return { answer: { ...answer, arguments: value }, findings, fault };
  }
  if (guardrailsOn(list, "tool_output").length === 0) return { answer, findings: [], fault: null };
  if (decision === "reject" && reason !== undefined) {
    // The model reads it as what came of the call.
    const { value, triggered, blocked } = await screenGiven(list, { tool_call_id, output: reason, is_error: true });
    const { reason: _, ...bare } = answer;
    return { answer: blocked ? bare : { ...answer, reason: String(value) }, findings: own(triggered), fault: null };
  }
  if (output === undefined || decision) return { answer, findings: [], fault: null };
  const { value, triggered, blocked } = await screenGiven(list, answer);
  const withheld = { tool_call_id, output: blocked?.message, is_error: true };
  return { answer: blocked ? withheld : { ...answer, output: value }, findings: own(triggered), fault: null };
}

/** An error has no shape to keep to. */
const screenGiven = (list: CompiledGuardrails, { output, is_error }: ToolAnswer): Promise<Screened<unknown>> =>
  screenInSlices(is_error ? except(list, "shape") : list, "tool_output", output);
