import type { AgentSnapshot } from "../../domain/agent-snapshot.ts";
import { AppError } from "../../domain/errors.ts";
import type { PrefixEdits } from "../../domain/fork.ts";
import type { Finding } from "../../domain/guardrail-event.ts";
import { limits } from "../../domain/limits.ts";
import {
  placedParts,
  type RecordedInput,
  type ShownMedia,
  toRecordedInput,
  wholeText,
} from "../../domain/run-input.ts";
import { clientError } from "../../domain/submit.ts";
import { invalid } from "../../http/errors.ts";
import { plainInput } from "../../http/plain-input.ts";
import { compileGuardrails, withoutKinds } from "../../runtime/guardrails/compile.ts";
import { searchInSlices, textsOf } from "../../runtime/guardrails/in-slices.ts";
import { screenCall, screenText } from "../../runtime/guardrails/inspect.ts";
import { screenInput } from "../../runtime/guardrails/screen-input.ts";
import { requireInput } from "../create/require-input.ts";
import { screenAnswer } from "../create/screening.ts";
import type { ForkRun } from "./fork-schema.ts";

type ForkEdits = NonNullable<ForkRun["edits"]>;

/** Edits, safe to store, with their guardrail findings; none of them blocks. */
export interface ReadEdits {
  prefix: PrefixEdits;
  /** Null: the record's own input. */
  asked: RecordedInput | null;
  findings: {
    input: Finding[];
    tool_output: Finding[];
    /** Findings for the text of an edited answer; `calls` has those for each of its calls. */
    said: Finding[];
    calls: Finding[][];
  };
}

/**
 * Reads a fork's edits and screens them. Throws a validation error if a guardrail blocks one. Judges screen an edited
 * input or tool output later, before the model call.
 */
export async function readEdits(
  { tool_output, is_error, model_output, input }: ForkEdits,
  tool: string | null,
  agent: AgentSnapshot,
  media: ShownMedia,
): Promise<ReadEdits> {
  if (is_error !== undefined && tool_output === undefined)
    throw invalid("edits.is_error", "is_error requires tool_output.");
  const modelAnswer = model_output === undefined ? null : await readAnswer(model_output, agent);
  const toolResult = tool_output === undefined ? null : await readOutput(tool_output, is_error === true, tool, agent);
  const screenedInput = input === undefined ? null : await readInput(input, agent, media);
  return {
    prefix: {
      ...(modelAnswer && { model_output: modelAnswer.output }),
      ...(toolResult && { tool_output: toolResult.result }),
      ...(screenedInput && { input: true }),
    },
    asked: screenedInput?.asked ?? null,
    findings: {
      input: screenedInput?.findings ?? [],
      tool_output: toolResult?.findings ?? [],
      said: modelAnswer?.findings ?? [],
      calls: modelAnswer?.ofCalls ?? [],
    },
  };
}

async function readInput(given: NonNullable<ForkEdits["input"]>, agent: AgentSnapshot, media: ShownMedia) {
  const input = plainInput(given);
  requireBytes(wholeText(input), limits.input_bytes, "edits.input");
  requireInput(input, "edits.input");
  await media.fetch(placedParts(input));
  const recordedInput = toRecordedInput(input, media.of);
  const { asked, findings } = await screenInput(agent, recordedInput);
  return { asked, findings: requireUnblocked(findings, "edits.input") };
}

async function readOutput(output: unknown, is_error: boolean, tool: string | null, agent: AgentSnapshot) {
  requireBytes(JSON.stringify(output), limits.tool_output_bytes, "edits.tool_output");
  const { answer, findings } = await screenAnswer(agent, tool ?? "", { tool_call_id: "", output, is_error });
  const result = is_error
    ? { output: null, error: clientError(answer.output) }
    : { output: answer.output, error: null };
  return { result, findings: requireUnblocked(findings, "edits.tool_output") };
}

async function readAnswer(modelOutput: NonNullable<ForkEdits["model_output"]>, agent: AgentSnapshot) {
  const { content = "", tool_calls = [] } = typeof modelOutput === "string" ? { content: modelOutput } : modelOutput;
  const param = "edits.model_output";
  const list = compileGuardrails(agent.guardrails ?? []);
  // An answer with tool calls is not the final output that the schema applies to.
  const textGuardrails = tool_calls.length === 0 ? list : withoutKinds(list, "shape");
  const text = screenText(await searchInSlices(textGuardrails, "output", [content]), "output", content);
  const findings = content === "" ? [] : requireUnblocked(text.triggered, param);
  const ofCalls: Finding[][] = [];
  const calls = [];
  for (const [index, { name, arguments: args }] of tool_calls.entries()) {
    const matches = await searchInSlices(list, "tool_call", textsOf(args));
    const type = agent.tools.find((tool) => tool.name === name)?.type;
    const { value, triggered } = screenCall(matches, { tool: name, ...(type && { type }), arguments: args });
    ofCalls.push(requireUnblocked(triggered, `${param}.tool_calls[${index}]`));
    calls.push({ name, arguments: value });
  }
  return { output: { content: content === "" ? "" : text.value, tool_calls: calls }, findings, ofCalls };
}

/** Throws if a finding blocks. */
function requireUnblocked(findings: readonly Finding[], param: string): Finding[] {
  const blocked = findings.find(({ verdict }) => verdict === "blocked");
  if (blocked) throw invalid(param, `A guardrail (${blocked.guardrail.type}) blocked this.`);
  return [...findings];
}

// The schema limits characters, and a character may take four bytes.
function requireBytes(text: string, maxBytes: number, param: string): void {
  if (Buffer.byteLength(text) > maxBytes)
    throw new AppError("payload_too_large", `${param} has at most ${maxBytes} bytes.`, { param });
}
