import { type Finding, isBlocked } from "../core/guardrail-event.ts";
import { limits } from "../core/limits.ts";
import type { AssistantPart } from "../core/model-call.ts";
import type { Word } from "../core/request-calls.ts";
import type { RunUsage } from "../core/run-event.ts";
import {
  type CompiledGuardrail,
  type CompiledGuardrails,
  compileGuardrails,
  guardrailsOn,
} from "../guardrails/compile.ts";
import { searched, textsOf } from "../guardrails/in-slices.ts";
import { inspectText, screenCall, trigger } from "../guardrails/inspect.ts";
import { isObject, parsedJson } from "../lib/json.ts";
import { jsonFault } from "../lib/json-limits.ts";
import { askJudges, judgesOn } from "./judge.ts";
import { withFindings } from "./spending.ts";
import type { Turn } from "./turn.ts";

type Asked = Extract<AssistantPart, { type: "tool_call" }>;

/** An answer as far as guardrails let its calls through, and what they say of each call, by its id. */
interface ScreenedCalls {
  parts: AssistantPart[];
  findings: Finding[];
  words: Map<string, Word>;
}

/** Screens the calls that an answer asks for, before anything of them is written down. */
export async function screenCalls(parts: AssistantPart[], turn: Turn, used: RunUsage): Promise<ScreenedCalls> {
  const list = compileGuardrails(turn.start.agent.guardrails ?? []);
  const screened: ScreenedCalls = { parts: [], findings: [], words: new Map() };
  if (guardrailsOn(list, "tool_call").length === 0) return { ...screened, parts };
  for (const part of parts)
    screened.parts.push(part.type === "tool_call" ? await screenOne(part, list, screened, turn, used) : part);
  return screened;
}

async function screenOne(
  part: Asked,
  list: CompiledGuardrails,
  into: ScreenedCalls,
  turn: Turn,
  used: RunUsage,
): Promise<Asked> {
  const { id } = part;
  const args = argumentsOf(part);
  const looked = args ?? { text: part.arguments };
  const known = await searched(list, "tool_call", [...textsOf(looked), part.name]);
  const isTool = turn.start.agent.tools.some((tool) => tool.name === part.name);
  const named = isTool ? [] : known.flatMap((one) => inspectName(one, part.name));
  const name = named.some(({ verdict }) => verdict === "redacted" || verdict === "blocked") ? nameless : part.name;
  const found = screenCall(known, { tool: part.name, arguments: looked });
  // Written anew: what a second key of the same name hides, or an escape, was not looked at.
  const text = args ? JSON.stringify(found.value) : String(found.value.text);
  const question = `Tool: ${name}\nArguments: ${text}`;
  const isStopped = [...into.findings, ...named, ...found.triggered].some(isBlocked);
  const judges = isStopped ? [] : judgesOn(turn, "tool_call");
  const verdicts = await askJudges(judges, "tool_call", question, turn, withFindings(used, into.findings));
  const findings = [...named, ...found.triggered, ...verdicts].map((finding) => ({ ...finding, tool_call_id: id }));
  into.findings.push(...findings);
  const blocked = findings.find(isBlocked);
  if (blocked) {
    into.words.set(id, { blocked: blocked.message });
    return { ...part, name, arguments: "{}" };
  }
  if (findings.some(({ verdict }) => verdict === "approval_required")) into.words.set(id, "needs_approval");
  return { ...part, name, arguments: text };
}

// What a call is named whose name may not be written down.
const nameless = "unknown_tool";

/** The name of a tool that there is not is a text of the model's own. */
const inspectName = (one: CompiledGuardrail, name: string): Finding[] =>
  one.kind.about === "text" ? trigger(one, "tool_call", inspectText(one, name)) : [];

/** Null for what no tool will get; it is looked at as a text. */
function argumentsOf({ arguments: text }: Asked): Record<string, unknown> | null {
  if (Buffer.byteLength(text) > limits.tool_arguments_bytes) return null;
  const value = text.trim() === "" ? {} : parsedJson(text);
  return isObject(value) && jsonFault(value) === null ? value : null;
}
