import { createParser } from "eventsource-parser";
import { drainBody } from "../../lib/drain-body.ts";
import { fieldsOf, parsedJson } from "../../lib/json.ts";
import { textOf as bodyText } from "./body-text.ts";
import { finishOf } from "./finish-reason.ts";
import { type AnswerObserver, type ModelEvent, type ModelUsage, unknownUsage } from "./model.ts";
import { failedEnd, incompleteError, onceBegun, toModelError } from "./model-error.ts";
import { answerParts } from "./model-stream.ts";

const answerMax_bytes = 8 * 1024 * 1024;

type Kind = "output" | "reasoning";
type Fields = Record<string, unknown>;

interface Call {
  id: string;
  name: string;
  arguments: string;
  extra_content: unknown;
}

/** Yields the events of a chat completion, streamed or whole. */
export async function* readChatAnswer(
  response: Response,
  secrets: readonly string[],
  observer: AnswerObserver,
): AsyncGenerator<ModelEvent> {
  const chat = chatAnswer(secrets, observer);
  try {
    // Not `yield*`, which costs several promises per token.
    if (response.headers.get("content-type")?.startsWith("application/json"))
      for (const event of chat.read([await bodyText(response, answerMax_bytes, observer.onByte)])) yield event;
    else
      for await (const payloads of payloadsOf(response, observer.onByte)) {
        for (const event of chat.read(payloads)) yield event;
        if (chat.isOver()) break; // Some servers keep the connection open after the end.
      }
    if (chat.isOver()) void drainBody(response); // Others close it a moment later: the next call can reuse it.
    for (const event of chat.end()) yield event;
  } catch (failure) {
    throw onceBegun(failure);
  }
}

/**
 * Yields the data of the events that each network read completes; at the end also an event that only lacks its blank
 * line.
 */
async function* payloadsOf({ body }: Response, onByte: () => void): AsyncGenerator<string[]> {
  let payloads: string[] = [];
  const parser = createParser({
    onEvent: ({ data }) => payloads.push(data),
    maxBufferSize: answerMax_bytes, // Otherwise a server that sends no line break fills the memory.
    onError(error) {
      if (error.type === "max-buffer-size-exceeded") throw error;
    },
  });
  const decoder = new TextDecoder();
  for await (const bytes of body?.values({ preventCancel: true }) ?? []) {
    onByte(); // Comments keep the connection alive too, and are not events.
    payloads = [];
    parser.feed(decoder.decode(bytes, { stream: true }));
    if (payloads.length > 0) yield payloads;
  }
  payloads = [];
  parser.feed(`${decoder.decode()}\n\n`);
  yield payloads.filter(isComplete);
}

/** False for an event cut by the end of the connection: the answer is then incomplete, not unreadable. */
const isComplete = (payload: string): boolean => payload === "[DONE]" || parsedJson(payload) !== undefined;

/**
 * Reads the chunks of one streamed chat completion. Servers differ: reasoning has two names or is part of the content,
 * calls come in pieces with or without an index, errors come as chunks.
 */
export function chatAnswer(secrets: readonly string[], observer?: Pick<AnswerObserver, "onArguments">) {
  const parts = answerParts();
  const calls: Call[] = [];
  const byIndex = new Map<unknown, Call>();
  let finish: string | null = null;
  let usage: ModelUsage = unknownUsage;
  let refused = false;
  let open: Kind | null = null;
  // The server has ended its answer, or failed.
  let over = false;
  let failed = false;
  let broken = false;

  /** Returns the events of payloads that arrived together: their text is one delta. */
  function read(payloads: readonly string[]): ModelEvent[] {
    const events: ModelEvent[] = [];
    let [kind, text]: [Kind, string] = ["output", ""];
    const flush = () => {
      if (text !== "") events.push(...deltaOf(kind, text));
      text = "";
    };
    const append = (of: Kind, piece: string) => {
      if (piece === "") return;
      if (of !== kind) flush();
      kind = of;
      text += piece;
    };
    for (const payload of payloads) {
      if (over || payload === "") continue;
      over = payload === "[DONE]";
      if (over) continue;
      const value = parsedJson(payload);
      const chunk = fieldsOf(value);
      const error = errorIn(chunk);
      if (value === undefined || error) {
        flush(); // Text before it is kept.
        over = true;
        if (value === undefined) broken = true;
        else events.push(fail(error));
        continue;
      }
      take(chunk, append);
    }
    flush();
    return events;
  }

  function fail(error: unknown): ModelEvent {
    failed = true;
    return { type: "error", error: toModelError(error, secrets), usage };
  }

  /** Stores a chunk, except its text, which goes to `append`. */
  function take(chunk: Fields, append: (kind: Kind, piece: string) => void): void {
    if (chunk.usage) usage = usageOf(fieldsOf(chunk.usage));
    const choice = fieldsOf(Array.isArray(chunk.choices) ? chunk.choices[0] : null);
    finish = laterFinish(finish, textOf(choice.finish_reason));
    const delta = fieldsOf(choice.delta ?? choice.message); // A server that does not stream sends a whole message.
    append("reasoning", textOf(delta.reasoning_content) || textOf(delta.reasoning));
    if (typeof delta.content === "string") append("output", delta.content);
    else if (Array.isArray(delta.content)) for (const part of delta.content) append(...contentPart(part));
    const refusal = textOf(delta.refusal);
    refused ||= refusal !== "";
    append("output", refusal);
    if (Array.isArray(delta.tool_calls)) for (const call of delta.tool_calls) takeCall(fieldsOf(call));
  }

  function takeCall({ index, id, function: functionCall, extra_content }: Fields): void {
    const { name, arguments: args } = fieldsOf(functionCall);
    const call = callOf(index, textOf(id), textOf(name));
    const before = call.name.length + call.arguments.length;
    call.id ||= textOf(id);
    call.name ||= textOf(name);
    call.arguments += typeof args === "object" && args !== null ? JSON.stringify(args) : textOf(args);
    call.extra_content ??= extra_content;
    observer?.onArguments(call.name.length + call.arguments.length - before);
  }

  /**
   * Returns the call at this index, or the last one. A name with another id, or with neither id nor index, begins a new
   * call.
   */
  function callOf(index: unknown, id: string, name: string): Call {
    const known = typeof index === "number" ? byIndex.get(index) : calls.at(-1);
    const isNext = name !== "" && (id !== "" ? known?.id !== "" && known?.id !== id : typeof index !== "number");
    if (known && !isNext) return known;
    const call: Call = { id, name: "", arguments: "", extra_content: undefined };
    calls.push(call);
    if (typeof index === "number") byIndex.set(index, call);
    return call;
  }

  function deltaOf(kind: Kind, text: string): ModelEvent[] {
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

  /** Returns the last events once the stream has ended. Throws if a chunk was not JSON. */
  function end(): ModelEvent[] {
    if (broken) throw new SyntaxError("A chunk is no JSON.");
    if (failed) return [];
    const events = close();
    const namedCalls = calls.filter(({ name, arguments: args }) => name !== "" || args !== "");
    const ended = finish === null ? null : finishOf(finish);
    // A server that fails midway also sends [DONE]: only a finish reason means that the answer is complete.
    if (finish === null || (isWhole(finish) && namedCalls.some(({ name }) => name === "")))
      return [...events, { type: "error", error: incompleteError, usage }];
    if (ended === null) return [...events, { type: "error", error: failedEnd(finish, secrets), usage }];
    for (const { name, arguments: input, extra_content } of namedCalls)
      if (name !== "") events.push(parts.toolCall(name, input, extra_content ? { extra_content } : undefined));
    events.push({ type: "done", finish: ended === "stop" && refused ? "content_filter" : ended, usage });
    return events;
  }

  return { read, end, isOver: () => over };
}

function contentPart(value: unknown): [Kind, string] {
  const { type, text, thinking } = fieldsOf(value);
  if (type !== "thinking") return ["output", textOf(text)];
  return ["reasoning", Array.isArray(thinking) ? thinking.map((one) => textOf(fieldsOf(one).text)).join("") : ""];
}

/**
 * Returns the reason that counts: a later "stop" does not replace a cut-off or a failure. Some servers send "" or
 * "null" before there is one.
 */
function laterFinish(before: string | null, reason: string): string | null {
  if (reason === "" || reason === "null") return before;
  return before === null || isWhole(before) ? reason : before;
}

/** True if an answer with this reason is complete. */
function isWhole(reason: string): boolean {
  const finish = finishOf(reason);
  return finish === "stop" || finish === "tool_calls";
}

/** Returns the error of a chunk, in its choice, beside it or in its place; undefined if there is none. */
function errorIn(chunk: Fields): unknown {
  const [choice] = Array.isArray(chunk.choices) ? chunk.choices : [];
  const error = chunk.error || fieldsOf(choice).error;
  if (error) return error;
  const message = textOf(chunk.message) || textOf(chunk.detail);
  return !("choices" in chunk) && message !== "" ? { ...chunk, message } : undefined;
}

function usageOf(usage: Fields): ModelUsage {
  const input_tokens = countOf(usage.prompt_tokens);
  const output_tokens = countOf(usage.completion_tokens);
  const reasoning_tokens = countOf(fieldsOf(usage.completion_tokens_details).reasoning_tokens);
  // Some providers count reasoning beside the answer, as their total shows.
  const isBeside =
    reasoning_tokens !== null && usage.total_tokens === (input_tokens ?? 0) + (output_tokens ?? 0) + reasoning_tokens;
  const { cached_tokens, cache_write_tokens } = fieldsOf(usage.prompt_tokens_details);
  const cache_write_5m_tokens = countOf(cache_write_tokens);
  return {
    input_tokens,
    output_tokens: output_tokens !== null && isBeside ? output_tokens + reasoning_tokens : output_tokens,
    cached_input_tokens: countOf(cached_tokens),
    reasoning_tokens,
    ...(cache_write_5m_tokens !== null && { cache_write_5m_tokens }),
  };
}

const textOf = (value: unknown): string => (typeof value === "string" ? value : "");
const countOf = (value: unknown): number | null =>
  Number.isSafeInteger(value) && Number(value) >= 0 ? Number(value) : null;
