import { drainReader } from "../../lib/drain-body.ts";
import { fieldsOf, parsedJson, roundedJson } from "../../lib/json.ts";
import { frameReader, isDone, linesOf } from "./answer-frames.ts";
import { callPieces, onlyCall } from "./call-pieces.ts";
import { chatUsage, laterUsage, withoutZeros } from "./chat-usage.ts";
import { finishOf } from "./finish-reason.ts";
import {
  type AnswerObserver,
  type FinishReason,
  type ModelError,
  type ModelEvent,
  type ModelRequest,
  type ModelUsage,
  unknownUsage,
} from "./model.ts";
import { failedEnd, incompleteError, onceBegun, renamedCall, toModelError, UnusableAnswer } from "./model-error.ts";
import { answerParts } from "./model-stream.ts";
import { reasoningSource } from "./reasoning-source.ts";
import { servedTier } from "./service-tier.ts";
import { thinkTags } from "./think-tags.ts";

// After the finish reason only the token counts are missing: a server that never ends its response is not waited for.
const graceDefault_ms = 10_000;

type Kind = "output" | "reasoning";
type Fields = Record<string, unknown>;

interface AnswerOptions {
  secrets: readonly string[];
  observer: AnswerObserver;
  /** Names of the request's tools. */
  tools: readonly string[];
  /** Additions of the agent to the request. */
  extras?: ModelRequest["extras"];
  /** Time for the end of the response after the finish reason. */
  grace_ms?: number;
}

/** Yields the events of a chat completion, streamed or whole. */
export async function* readChatAnswer(
  response: Response,
  { secrets, observer, tools, extras, grace_ms = graceDefault_ms }: AnswerOptions,
): AsyncGenerator<ModelEvent> {
  const chat = chatAnswer(secrets, observer, tools, extras);
  const reader = response.body?.getReader();
  let grace: Timer | undefined;
  try {
    for await (const payloads of payloadsOf(reader, observer.onByte)) {
      // Not `yield*`, which costs several promises per token.
      for (const event of chat.read(payloads)) yield event;
      if (chat.isOver()) break; // Some servers keep the connection open after the end.
      if (chat.hasEnd()) grace ??= setTimeout(() => void reader?.cancel().catch(() => {}), grace_ms);
    }
  } catch (failure) {
    // The answer is whole once it has a finish reason, even if the connection breaks after it.
    if (!chat.hasEnd()) throw onceBegun(failure);
  } finally {
    clearTimeout(grace);
  }
  if (chat.isOver() && reader) void drainReader(reader); // Others close it a moment later: the next call can reuse it.
  for (const event of chat.end()) yield event;
}

type ByteReader = Pick<ReadableStreamDefaultReader<Uint8Array>, "read">;

// A tenth of this is a very long answer, a piece of a word in each chunk.
const answerMax_bytes = 256 * 1024 * 1024;

/** Yields the payloads that each network read completes; at the end also one that only lacks its blank line. */
async function* payloadsOf(reader: ByteReader | undefined, onByte: () => void): AsyncGenerator<string[]> {
  const frames = frameReader();
  const decoder = new TextDecoder();
  let size = 0;
  for (let next = await reader?.read(); next && !next.done; next = await reader?.read()) {
    size += next.value.length;
    if (size > answerMax_bytes) throw new UnusableAnswer("The provider sent more than 256 MB for one answer.");
    onByte(); // Comments keep the connection alive too, and are not events.
    const payloads = frames.read(decoder.decode(next.value, { stream: true }));
    if (payloads.length > 0) yield payloads;
  }
  const last = decoder.decode();
  yield [...(last === "" ? [] : frames.read(last)), ...frames.end()];
}

/**
 * Reads the chunks of one streamed chat completion. Servers differ: reasoning has two names or is part of the content,
 * calls come in pieces with or without an index, errors come as chunks.
 */
export function chatAnswer(
  secrets: readonly string[],
  observer?: Pick<AnswerObserver, "onArguments">,
  tools: readonly string[] = [],
  extras?: ModelRequest["extras"],
) {
  const parts = answerParts(tools);
  const calls = callPieces(new Set(tools));
  let finish: string | null = null;
  let usage: ModelUsage = unknownUsage;
  let tier: unknown;
  let refused = false;
  let open: Kind | null = null;
  const source = reasoningSource();
  // Index of the choice that is read; others are ignored.
  let chosen: number | null = null;
  // The server has ended its answer, or failed.
  let over = false;
  let failed = false;
  let broken = false;
  let hasOutput = false;
  // Kept until there is an answer, because it may be the answer.
  let thoughts = "";
  // Text that arrived together is one delta.
  let events: ModelEvent[] = [];
  let [kind, text]: [Kind, string] = ["output", ""];
  const content = thinkTags(append);

  function flush(): void {
    if (text === "") return;
    if (kind === "output") hasOutput = true;
    else if (!hasOutput) thoughts += text;
    addDelta();
    text = "";
  }

  function append(of: Kind, piece: string): void {
    if (piece === "") return;
    if (of !== kind) flush();
    kind = of;
    text += piece;
  }

  /** Returns the events of payloads that arrived together. */
  function read(payloads: readonly string[]): ModelEvent[] {
    for (const payload of payloads) if (!over && payload !== "") readPayload(payload);
    return taken();
  }

  function taken(): ModelEvent[] {
    flush();
    const all = events;
    events = [];
    return all;
  }

  function readPayload(payload: string): void {
    const value = payload === "[DONE]" ? undefined : chunkOf(payload);
    if (typeof value === "object") readChunk(value);
    else if (isDone(payload)) over = true;
    else if (value === undefined) readLines(linesOf(payload));
  }

  function readLines(lines: readonly string[]): void {
    if (lines.length < 2) over = broken = true;
    else for (const line of lines) if (!over) readPayload(line);
  }

  function readChunk(value: unknown): void {
    const chunk = fieldsOf(value);
    const error = errorIn(chunk);
    if (error) fail(error);
    else take(chunk);
  }

  /** Ends the answer with an error, unless it is whole already. */
  function fail(error: unknown): void {
    over = true;
    if (hasEnd()) return;
    content.end();
    flush(); // Text before it is kept.
    failed = true;
    events.push({ type: "error", error: toModelError(error, secrets), usage });
  }

  /** True once the answer has a finish reason, and is not a failure. */
  const hasEnd = (): boolean => finish !== null && finishOf(finish) !== null;

  /** Stores a chunk, except its text, which goes to `append`. */
  function take(chunk: Fields): void {
    const choice = Array.isArray(chunk.choices) ? choiceIn(chunk.choices) : noFields;
    const counts = chunk.usage || choice.usage || fieldsOf(chunk.x_groq).usage;
    if (counts) usage = laterUsage(usage, chatUsage(fieldsOf(counts)));
    tier = chunk.service_tier || tier;
    if (choice === noFields) return;
    finish = laterFinish(finish, textOf(choice.finish_reason));
    const { delta, message } = choice;
    if (delta) takeDelta(fieldsOf(delta));
    if (message) takeMessage(fieldsOf(message));
  }

  function choiceIn(choices: readonly unknown[]): Fields {
    for (const value of choices) {
      const choice = fieldsOf(value);
      const index = Number(choice.index ?? 0) || 0;
      chosen ??= index;
      if (index === chosen) return choice;
    }
    return noFields;
  }

  function takeDelta(delta: Fields): void {
    source.read(delta);
    const reasoning = textOf(delta.reasoning_content) || textOf(delta.reasoning);
    if (reasoning !== "") append("reasoning", reasoning);
    if (typeof delta.content === "string") content.push(delta.content);
    else if (Array.isArray(delta.content)) for (const part of delta.content) append(...contentPart(part));
    const refusal = textOf(delta.refusal);
    if (refusal !== "") {
      refused = true;
      append("output", refusal);
    }
    if (Array.isArray(delta.tool_calls)) for (const call of delta.tool_calls) takeCall(fieldsOf(call));
    if (delta.function_call) takeCall({ index: onlyCall, function: delta.function_call });
  }

  /** Takes a whole message: some servers send only this, others repeat in it what they streamed. */
  function takeMessage(message: Fields): void {
    flush();
    const hasReasoning = hasOutput || thoughts !== "";
    takeDelta({
      ...message,
      ...(calls.count() > 0 && { tool_calls: null, function_call: null }),
      ...(hasOutput && { content: null, refusal: null }),
      ...(hasReasoning && { reasoning: null, reasoning_content: null, reasoning_details: null }),
    });
  }

  function takeCall(call: Fields): void {
    const length = calls.add(call);
    observer?.onArguments(length);
  }

  function addDelta(): void {
    if (open !== kind) {
      for (const event of close()) events.push(event);
      parts.read({ type: kind === "output" ? "text-start" : "reasoning-start", id: kind });
      open = kind;
    }
    const type = kind === "output" ? "text-delta" : "reasoning-delta";
    for (const event of parts.read({ type, id: kind, delta: text })) events.push(event);
  }

  function close(): ModelEvent[] {
    const kind = open;
    open = null;
    if (kind === "reasoning") return parts.read({ type: "reasoning-end", id: kind, providerMetadata: source.name() });
    return kind ? parts.read({ type: "text-end", id: kind }) : [];
  }

  /** Returns the last events once the stream has ended. Throws if a chunk was not JSON. */
  function end(): ModelEvent[] {
    if (broken && !hasEnd()) throw new SyntaxError("A chunk is no JSON.");
    if (failed) return [];
    content.end();
    flush();
    const all = calls.all();
    usage = { ...withoutZeros(usage, hasOutput || all.length > 0), ...servedTier(tier, extras) };
    const ended = finish === null ? null : finishOf(finish);
    // A model may write its answer where its server expects reasoning.
    if (ended === "stop" && !hasOutput && all.length === 0) append("output", thoughts);
    const before = [...taken(), ...close()];
    const fault = faultOf(ended, all);
    if (fault) return [...before, { type: "error", error: fault, usage }];
    const called = all.flatMap(({ name, arguments: args, extra_content }) =>
      name === "" ? [] : parts.toolCall(name, args, extra_content ? { extra_content } : undefined),
    );
    return [
      ...before,
      ...source.details(parts),
      ...called,
      { type: "done", finish: ended === "stop" && refused ? "content_filter" : ended!, usage },
    ];
  }

  /** Returns the fault of an answer that has ended, or null. */
  function faultOf(ended: FinishReason | null, all: readonly { name: string }[]): ModelError | null {
    // A server that fails midway also sends [DONE]: only a finish reason means that the answer is complete.
    if (finish === null) return incompleteError;
    if (ended === null) return failedEnd(finish, secrets);
    const renamed = calls.renamed();
    if (renamed) return renamedCall(...renamed, secrets);
    if (isWhole(finish) && all.some(({ name }) => name === "")) return incompleteError;
    const isLost = ended === "tool_calls" && all.length === 0 && !hasOutput;
    return isLost ? incompleteError : null;
  }

  return { read, end, isOver: () => over, hasEnd };
}

const noFields: Fields = {};

/**
 * Parses a chunk; returns undefined if it is not JSON. Only the arguments of a call must keep every digit, and looking
 * for long numbers in each chunk would take a sixth of the time of an answer.
 */
const chunkOf = (payload: string): unknown => (payload.includes("_call") ? parsedJson(payload) : roundedJson(payload));

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
  if (Array.isArray(chunk)) return errorIn(fieldsOf(chunk[0]));
  const { choices } = chunk;
  const [choice] = Array.isArray(choices) ? choices : [];
  const error = chunk.error || fieldsOf(choice).error || fieldsOf(chunk.x_groq).error;
  if (error) return chunk.error ? chunk : { error };
  if (choices !== undefined && !chunk.base_resp) return undefined;
  return isFailure(chunk) ? chunk : undefined;
}

/** True for an object without an answer that has the message of an error. */
function isFailure(chunk: Fields): boolean {
  const { status_code } = fieldsOf(chunk.base_resp);
  if (chunk.base_resp) return status_code !== undefined && Number(status_code) !== 0;
  return [chunk.message, chunk.detail, chunk.msg, chunk.errors].some((said) => said && said !== "");
}

const textOf = (value: unknown): string => (typeof value === "string" ? value : "");
