import type { FinishReason, PromptMessage } from "../core/model-call.ts";
import { jsonOrText } from "../lib/json.ts";
import { redact } from "../lib/redact.ts";
import { redactedJson } from "./redacted-json.ts";

// What a backend can be given as one attribute, and as one text within it.
const attributeMax = 64_000;
const textMax = 8_000;
// So much behind a cut is looked at: a secret that it goes through is one on both sides.
const secretMax = 1_000;

/** A message as traces show it. */
interface Message {
  role: string;
  content: string;
  reasoning?: string;
  tool_calls?: ToolCall[];
  tool_call_id?: string;
}

interface ToolCall {
  id: string;
  name: string;
  arguments: unknown;
}

/** A text without what looks like a secret, and without half characters; of a long one, its beginning. */
export function shortText(text: string, max = textMax): string {
  const shown = redact(text.slice(0, max + secretMax));
  if (text.length <= max) return shown.toWellFormed();
  return `${shown.slice(0, max).toWellFormed()}… (${text.length} characters)`;
}

/** The same of a JSON value. */
export const shortJson = (value: unknown): string => shortText(JSON.stringify(redactedJson(value ?? null)));

/** A message of a prompt, as a trace shows those of its run. */
export function promptMessage(message: PromptMessage): Message {
  if (message.role === "tool") return { role: "tool", content: message.output, tool_call_id: message.call_id };
  if (message.role !== "assistant") return { role: message.role, content: message.content };
  const said = (type: "text" | "reasoning") =>
    message.parts.map((part) => (part.type === type ? part.text : "")).join("");
  const tool_calls = message.parts.flatMap((part) =>
    part.type === "tool_call" ? [{ id: part.id, name: part.name, arguments: jsonOrText(part.arguments) }] : [],
  );
  return { role: "assistant", content: said("text"), reasoning: said("reasoning"), tool_calls };
}

/** What went to the model, in the conventions' form; where it is too long, without the oldest messages. */
export function inputMessages(messages: readonly Message[]): string {
  const kept: string[] = [];
  let room = attributeMax;
  for (const message of messages.toReversed()) {
    const json = JSON.stringify({ role: message.role, parts: partsOf(message) });
    room -= json.length;
    if (room < 0 && kept.length > 0) break;
    kept.push(json);
  }
  return `[${kept.toReversed().join(",")}]`;
}

/** What the model said. */
export const outputMessages = ({
  content,
  tool_calls = [],
  reasoning = null,
  finish,
}: {
  content: string;
  tool_calls?: ToolCall[];
  reasoning?: string | null;
  finish: FinishReason | null;
}): string =>
  JSON.stringify([
    {
      role: "assistant",
      parts: [...thought(reasoning), ...said(content, tool_calls)],
      finish_reason: finish === null ? "error" : (finishReasons[finish] ?? finish),
    },
  ]);

/** The conventions' words, where they are not ours. */
const finishReasons: Partial<Record<FinishReason, string>> = { tool_calls: "tool_call", other: "stop" };

function partsOf({ role, content, reasoning = "", tool_calls = [], tool_call_id }: Message): object[] {
  if (role === "tool") return [{ type: "tool_call_response", id: tool_call_id ?? null, response: shortText(content) }];
  return [...thought(reasoning), ...said(content, tool_calls)];
}

const thought = (reasoning: string | null): object[] =>
  reasoning ? [{ type: "reasoning", content: shortText(reasoning) }] : [];

const said = (content: string, calls: readonly ToolCall[]): object[] => [
  ...(content === "" ? [] : [{ type: "text", content: shortText(content) }]),
  ...calls.map(({ id, name, arguments: args }) => ({
    type: "tool_call",
    id,
    name: shortText(name),
    arguments: shortValue(args, Math.min(textMax, Math.floor(attributeMax / 2 / calls.length))),
  })),
];

/** As it is, or the beginning of its JSON. */
function shortValue(value: unknown, max: number): unknown {
  const shown = redactedJson(value ?? null);
  const json = JSON.stringify(shown);
  return json.length <= max ? shown : shortText(json, max);
}
