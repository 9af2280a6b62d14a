import { type Finding, isBlocked } from "../../domain/guardrail-event.ts";
import { limits } from "../../domain/limits.ts";
import type { AssistantPart } from "../../domain/model-call.ts";
import type { Word } from "../../domain/request-calls.ts";
import type { RunUsage } from "../../domain/run-event.ts";
import { isObject, parsedJson } from "../../lib/json.ts";
import { jsonFault } from "../../lib/json-limits.ts";
import {
  type CompiledGuardrail,
  type CompiledGuardrails,
  compileGuardrails,
  guardrailsOn,
} from "../guardrails/compile.ts";
import { searchInSlices, textsOf } from "../guardrails/in-slices.ts";
import { inspectText, screenCall, trigger } from "../guardrails/inspect.ts";
import { askJudges, judgesOn } from "./judge.ts";
import type { RunContext } from "./run-context.ts";
import { withFindings } from "./spending.ts";

type Asked = Extract<AssistantPart, { type: "tool_call" }>;

/** An answer after guardrails on its calls, with their decision per call id. */
interface ScreenedCalls {
  parts: AssistantPart[];
  findings: Finding[];
  words: Map<string, Word>;
}

/** Applies guardrails to the calls of an answer before they are journaled. */
export async function screenCalls(parts: AssistantPart[], context: RunContext, used: RunUsage): Promise<ScreenedCalls> {
  const list = compileGuardrails(context.start.agent.guardrails ?? []);
  const screened: ScreenedCalls = { parts: [], findings: [], words: new Map() };
  if (guardrailsOn(list, "tool_call").length === 0) return { ...screened, parts };
  for (const part of parts)
    screened.parts.push(part.type === "tool_call" ? await screenOne(part, list, screened, context, used) : part);
  return screened;
}

async function screenOne(
  part: Asked,
  list: CompiledGuardrails,
  result: ScreenedCalls,
  turn: RunContext,
  used: RunUsage,
): Promise<Asked> {
  const { id } = part;
  const args = argumentsOf(part);
  const argumentValue = args ?? { text: part.arguments };
  const known = await searchInSlices(list, "tool_call", [...textsOf(argumentValue), part.name]);
  const tool = turn.start.agent.tools.find((tool) => tool.name === part.name);
  const named = tool ? [] : known.flatMap((one) => inspectName(one, part.name));
  const name = named.some(({ verdict }) => verdict === "redacted" || verdict === "blocked") ? nameless : part.name;
  const found = screenCall(known, { tool: part.name, ...(tool && { type: tool.type }), arguments: argumentValue });
  // Serialized again: duplicate keys and escapes in the original text were not checked.
  const text = args ? JSON.stringify(found.value) : String(found.value.text);
  const question = `Tool: ${name}\nArguments: ${text}`;
  const isStopped = [...result.findings, ...named, ...found.triggered].some(isBlocked);
  const judges = isStopped ? [] : judgesOn(turn, "tool_call");
  const verdicts = await askJudges(judges, "tool_call", question, turn, withFindings(used, result.findings));
  const findings = [...named, ...found.triggered, ...verdicts].map((finding) => ({ ...finding, tool_call_id: id }));
  result.findings.push(...findings);
  const blocked = findings.find(isBlocked);
  if (blocked) {
    result.words.set(id, { blocked: blocked.message });
    return { ...part, name, arguments: "{}" };
  }
  if (findings.some(({ verdict }) => verdict === "approval_required")) result.words.set(id, "needs_approval");
  return { ...part, name, arguments: text };
}

// Replaces a call's name that may not be journaled.
const nameless = "unknown_tool";

/** Checks the name of a tool that does not exist, because it is text of the model. */
const inspectName = (one: CompiledGuardrail, name: string): Finding[] =>
  one.kind.about === "text" ? trigger(one, "tool_call", inspectText(one, name)) : [];

/** Returns null if the arguments are invalid or too large: they reach no tool and are checked as text. */
function argumentsOf({ arguments: text }: Asked): Record<string, unknown> | null {
  if (Buffer.byteLength(text) > limits.tool_arguments_bytes) return null;
  const value = text.trim() === "" ? {} : parsedJson(text);
  return isObject(value) && jsonFault(value) === null ? value : null;
}
