import type { FinishReason, PromptMessage } from "../../domain/model-call.ts";
import { jsonOrText } from "../../lib/json.ts";
import { redact } from "../../lib/redact.ts";
import { redactedJson } from "./redacted-json.ts";

// Most characters that backends accept for an attribute, and for a text in it.
const attributeMax = 64_000;
const textMax = 8_000;
// Characters beyond a cut that are redacted, too, because a secret may lie across the cut.
const secretMax = 1_000;

/** A message as shown in traces. */
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

/** Redacts a text, cuts it to `max` characters and replaces lone surrogates. */
export function shortText(text: string, max = textMax): string {
  const redactedText = redact(text.slice(0, max + secretMax));
  if (text.length <= max) return redactedText.toWellFormed();
  return `${redactedText.slice(0, max).toWellFormed()}… (${text.length} characters)`;
}

/** The same for a JSON value. */
export const shortJson = (value: unknown): string => shortText(JSON.stringify(redactedJson(value ?? null)));

/** Converts a prompt message to its form in traces. */
export function promptMessage(message: PromptMessage): Message {
  if (message.role === "tool") return { role: "tool", content: message.output, tool_call_id: message.call_id };
  if (message.role !== "assistant") return { role: message.role, content: message.content };
  const textOfType = (type: "text" | "reasoning") =>
    message.parts.map((part) => (part.type === type ? part.text : "")).join("");
  const tool_calls = message.parts.flatMap((part) =>
    part.type === "tool_call" ? [{ id: part.id, name: part.name, arguments: jsonOrText(part.arguments) }] : [],
  );
  return { role: "assistant", content: textOfType("text"), reasoning: textOfType("reasoning"), tool_calls };
}

/** Input of a model call in the conventions' form; if too long, without the oldest messages. */
export function inputMessages(messages: readonly Message[]): string {
  const keptMessages: string[] = [];
  let room = attributeMax;
  for (const message of messages.toReversed()) {
    const json = JSON.stringify({ role: message.role, parts: partsOf(message) });
    room -= json.length;
    if (room < 0 && keptMessages.length > 0) break;
    keptMessages.push(json);
  }
  return `[${keptMessages.toReversed().join(",")}]`;
}

/** Output of a model call in the conventions' form. */
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
      parts: [...reasoningPart(reasoning), ...textPart(content, tool_calls)],
      finish_reason: finish === null ? "error" : (finishReasons[finish] ?? finish),
    },
  ]);

/** The conventions' finish reasons, if they differ from ours. */
const finishReasons: Partial<Record<FinishReason, string>> = { tool_calls: "tool_call", other: "stop" };

function partsOf({ role, content, reasoning = "", tool_calls = [], tool_call_id }: Message): object[] {
  if (role === "tool") return [{ type: "tool_call_response", id: tool_call_id ?? null, response: shortText(content) }];
  return [...reasoningPart(reasoning), ...textPart(content, tool_calls)];
}

const reasoningPart = (reasoning: string | null): object[] =>
  reasoning ? [{ type: "reasoning", content: shortText(reasoning) }] : [];

const textPart = (content: string, calls: readonly ToolCall[]): object[] => [
  ...(content === "" ? [] : [{ type: "text", content: shortText(content) }]),
  ...calls.map(({ id, name, arguments: args }) => ({
    type: "tool_call",
    id,
    name: shortText(name),
    arguments: shortValue(args, Math.min(textMax, Math.floor(attributeMax / 2 / calls.length))),
  })),
];

/** Returns the redacted value, or the beginning of its JSON. */
function shortValue(value: unknown, max: number): unknown {
  const redacted = redactedJson(value ?? null);
  const json = JSON.stringify(redacted);
  return json.length <= max ? redacted : shortText(json, max);
}
