import { fieldsOf, parsedJson } from "../lib/json.ts";
import { answerParts } from "./answer-parts.ts";
import { incompleteError, toModelError } from "./model-error.ts";
import { type FinishReason, type ModelEvent, type ModelUsage, unknownUsage } from "./port.ts";

type Kind = "output" | "reasoning";
type Fields = Record<string, unknown>;

interface Call {
  id: string;
  name: string;
  arguments: string;
  extra_content: unknown;
}

/**
 * Reads the chunks of one streamed chat completion. Servers differ in what they send: reasoning has two names or stands
 * among the content, calls come in pieces with and without an index, errors come as chunks.
 */
export function chatAnswer(secrets: readonly string[]) {
  const parts = answerParts();
  const calls: Call[] = [];
  const byIndex = new Map<unknown, Call>();
  let finish: string | null = null;
  let usage: ModelUsage = unknownUsage;
  let refused = false;
  let open: Kind | null = null;
  // The server has said that this was all, or that it failed.
  let over = false;
  let failed = false;
  let broken = false;

  /** Events for payloads that arrived together: what they say is joined, since it reached us in the same instant. */
  function read(payloads: readonly string[]): ModelEvent[] {
    const events: ModelEvent[] = [];
    let [kind, text]: [Kind, string] = ["output", ""];
    const speak = () => {
      if (text !== "") events.push(...say(kind, text));
      text = "";
    };
    const hear = (of: Kind, piece: string) => {
      if (piece === "") return;
      if (of !== kind) speak();
      kind = of;
      text += piece;
    };
    for (const payload of payloads) {
      if (over || payload === "") continue;
      over = payload === "[DONE]";
      if (over) continue;
      const value = parsedJson(payload);
      const chunk = fieldsOf(value);
      if (value === undefined || chunk.error) {
        speak(); // What came before it was said.
        over = true;
        if (value === undefined) broken = true;
        else events.push(fail(chunk.error));
        continue;
      }
      take(chunk, hear);
    }
    speak();
    return events;
  }

  function fail(error: unknown): ModelEvent {
    failed = true;
    return { type: "error", error: toModelError(error, secrets), usage: unknownUsage };
  }

  /** Stores everything but the text, whose pieces go to `hear`. */
  function take(chunk: Fields, hear: (kind: Kind, piece: string) => void): void {
    if (chunk.usage) usage = usageOf(fieldsOf(chunk.usage));
    const choice = fieldsOf(Array.isArray(chunk.choices) ? chunk.choices[0] : null);
    // Some servers write "" for none.
    if (typeof choice.finish_reason === "string") finish = choice.finish_reason || finish;
    const delta = fieldsOf(choice.delta ?? choice.message); // A server that does not stream sends a whole message.
    hear("reasoning", textOf(delta.reasoning_content) || textOf(delta.reasoning));
    if (typeof delta.content === "string") hear("output", delta.content);
    else if (Array.isArray(delta.content)) for (const part of delta.content) hear(...contentPart(part));
    const refusal = textOf(delta.refusal);
    refused ||= refusal !== "";
    hear("output", refusal);
    if (Array.isArray(delta.tool_calls)) for (const call of delta.tool_calls) takeCall(fieldsOf(call));
  }

  function takeCall({ index, id, function: given, extra_content }: Fields): void {
    const { name, arguments: args } = fieldsOf(given);
    const call = callOf(index, textOf(id), textOf(name));
    call.id ||= textOf(id);
    call.name ||= textOf(name);
    call.arguments += typeof args === "object" && args !== null ? JSON.stringify(args) : textOf(args);
    call.extra_content ??= extra_content;
  }

  /** By its index, or the last one. A name under another id, or one with neither id nor index, begins the next call. */
  function callOf(index: unknown, id: string, name: string): Call {
    const known = typeof index === "number" ? byIndex.get(index) : calls.at(-1);
    const isNext = name !== "" && (id !== "" ? known?.id !== "" && known?.id !== id : typeof index !== "number");
    if (known && !isNext) return known;
    const call: Call = { id, name: "", arguments: "", extra_content: undefined };
    calls.push(call);
    if (typeof index === "number") byIndex.set(index, call);
    return call;
  }

  function say(kind: Kind, text: string): ModelEvent[] {
    const events: ModelEvent[] = [];
    if (open !== kind) {
      events.push(...close(), ...parts.read({ type: kind === "output" ? "text-start" : "reasoning-start", id: kind }));
      open = kind;
    }
    events.push(...parts.read({ type: kind === "output" ? "text-delta" : "reasoning-delta", id: kind, delta: text }));
    return events;
  }

  function close(): ModelEvent[] {
    const events = open ? parts.read({ type: open === "output" ? "text-end" : "reasoning-end", id: open }) : [];
    open = null;
    return events;
  }

  /** What the answer came to, once the stream has ended. Throws where a chunk was no JSON. */
  function end(): ModelEvent[] {
    if (broken) throw new SyntaxError("A chunk is no JSON.");
    if (failed) return [];
    const events = close();
    const asked = calls.filter(({ name, arguments: args }) => name !== "" || args !== "");
    // A server that gives up in the middle says [DONE] too: only the reason says that this was all.
    if (finish === null || asked.some(({ name }) => name === ""))
      return [...events, { type: "error", error: incompleteError, usage }];
    for (const { name, arguments: input, extra_content } of asked)
      events.push(parts.toolCall(name, input, extra_content ? { extra_content } : undefined));
    events.push({ type: "done", finish: finishOf(finish, refused), usage });
    return events;
  }

  return { read, end, isOver: () => over };
}

function contentPart(value: unknown): [Kind, string] {
  const { type, text, thinking } = fieldsOf(value);
  if (type !== "thinking") return ["output", textOf(text)];
  return ["reasoning", Array.isArray(thinking) ? thinking.map((one) => textOf(fieldsOf(one).text)).join("") : ""];
}

function finishOf(reason: string | null, refused: boolean): FinishReason {
  if (reason === "function_call" || reason === "tool_calls") return "tool_calls";
  if (reason === "stop") return refused ? "content_filter" : "stop";
  return reason === "length" || reason === "content_filter" ? reason : "other";
}

const usageOf = (usage: Fields): ModelUsage => ({
  input_tokens: countOf(usage.prompt_tokens),
  output_tokens: countOf(usage.completion_tokens),
  cached_input_tokens: countOf(fieldsOf(usage.prompt_tokens_details).cached_tokens),
  reasoning_tokens: countOf(fieldsOf(usage.completion_tokens_details).reasoning_tokens),
});

const textOf = (value: unknown): string => (typeof value === "string" ? value : "");
const countOf = (value: unknown): number | null =>
  Number.isSafeInteger(value) && Number(value) >= 0 ? Number(value) : null;
