import { noSuch } from "../../domain/error-messages.ts";
import { sleep } from "../../lib/retry.ts";
import { exampleArguments } from "./example-arguments.ts";
import type {
  FinishReason,
  Model,
  ModelError,
  ModelEvent,
  ModelRequest,
  ModelUsage,
  PromptMessage,
  ScriptEntry,
} from "./model.ts";
import { abortedError } from "./model-error.ts";

type Live = (request: ModelRequest, signal: AbortSignal) => AsyncGenerator<ModelEvent>;
type Card = (request: ModelRequest) => Generator<ModelEvent>;

const live: Record<string, Live> = {
  echo: (request, signal) => play(request, { text: lastUserText(request.messages) }, signal),
  script: (request, signal) => play(request, scriptEntry(request), signal),
  timeout,
};

const cards: Record<string, Card> = {
  "rate-limited": (request) =>
    fail(request, "model_rate_limited", "The test model is rate limited.", { retryable: true, retry_after_ms: 100 }),
  "malformed-tool-args": malformedArguments,
  "loops-forever": (request) => callFirstTool(request, (schema) => JSON.stringify(exampleArguments(schema))),
  "context-overflow": (request) =>
    fail(request, "context_length_exceeded", "The conversation is longer than the test model's context."),
  refusal: (request) => say(request, "I can't help with that.", "content_filter"),
  judge,
};

/** Names of the built-in models, without `test/`. */
export const testModelNames = [...Object.keys(live), ...Object.keys(cards)];

/** The built-in models, which need no provider: deterministic and free. */
export function openTestModel(name: string): Model {
  if (Object.hasOwn(live, name)) return { stream: live[name] as Live };
  const card = Object.hasOwn(cards, name) ? (cards[name] as Card) : unknown;
  return { stream: (request, signal) => deal(card(request), request, signal) };
}

const unknown: Card = (request) => fail(request, "model_not_available", noSuch("test model"));

async function* deal(
  events: Generator<ModelEvent>,
  request: ModelRequest,
  signal: AbortSignal,
): AsyncGenerator<ModelEvent> {
  for (const event of events) {
    if (signal.aborted) return yield aborted(request);
    yield event;
  }
}

async function* play(
  request: ModelRequest,
  entry: ScriptEntry | null,
  signal: AbortSignal,
): AsyncGenerator<ModelEvent> {
  if (!entry) return yield* fail(request, "model_error", exhausted(request));
  const words = counter(request);
  let part = 0;
  await sleep(entry.delay_ms ?? 0, signal);
  for (const kind of ["reasoning", "output"] as const) {
    const text = kind === "reasoning" ? entry.reasoning : entry.text;
    for (const delta of deltas(text ?? "")) {
      if (words.all() > 0) await sleep(entry.delta_ms ?? 0, signal);
      if (signal.aborted) return yield aborted(request, words);
      if (!words.fits(delta)) return yield cutOff(request, words);
      words.add(kind, delta);
      yield { type: "delta", part, kind, text: delta };
    }
    if (text) part++;
  }
  if (signal.aborted) return yield aborted(request, words);
  if (entry.error !== undefined) return yield* fail(request, "model_error", entry.error, {}, words);
  for (const { name, arguments: args } of entry.tool_calls ?? []) {
    const text = JSON.stringify(args);
    if (!words.fits(text)) return yield cutOff(request, words);
    yield toolCall(part++, name, text, words);
  }
  yield { type: "done", finish: entry.tool_calls?.length ? "tool_calls" : "stop", usage: usage(request, words) };
}

function* say(request: ModelRequest, text: string, finish: FinishReason = "stop"): Generator<ModelEvent> {
  const words = counter(request);
  for (const delta of deltas(text)) {
    if (!words.fits(delta)) return yield cutOff(request, words);
    words.add("output", delta);
    yield { type: "delta", part: 0, kind: "output", text: delta };
  }
  yield { type: "done", finish, usage: usage(request, words) };
}

function* callFirstTool(
  request: ModelRequest,
  write: (schema: Record<string, unknown>) => string,
): Generator<ModelEvent> {
  const [tool] = request.tools;
  if (!tool) return yield* say(request, "There is no tool to call.");
  const words = counter(request);
  const text = write(tool.parameters);
  if (!words.fits(text)) return yield cutOff(request, words);
  yield toolCall(0, tool.name, text, words);
  yield { type: "done", finish: "tool_calls", usage: usage(request, words) };
}

/** Sends invalid arguments, then ends once it has read the result. */
function malformedArguments(request: ModelRequest): Generator<ModelEvent> {
  const answered = request.messages.at(-1)?.role === "tool";
  if (answered) return say(request, "The tool did not accept my arguments.");
  return callFirstTool(request, () => '{"broken": ');
}

/** Acts as a judge of guardrails: a text with the word "forbidden" violates every rule. */
function judge(request: ModelRequest): Generator<ModelEvent> {
  const violates = /forbidden/i.test(lastUserText(request.messages));
  const [verdict, reason] = violates ? ["violation", "It has the word of the test judge."] : ["pass", "Nothing found."];
  return say(request, JSON.stringify({ verdict, reason }));
}

async function* timeout(request: ModelRequest, signal: AbortSignal): AsyncGenerator<ModelEvent> {
  if (!signal.aborted) {
    await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
  }
  yield aborted(request);
}

function* fail(
  request: ModelRequest,
  code: ModelError["code"],
  message: string,
  more: Partial<ModelError> = {},
  words = counter(request),
): Generator<ModelEvent> {
  const error = {
    code,
    message,
    retryable: false,
    retry_after_ms: null,
    aborted: false,
    request: "answered" as const,
    ...more,
  };
  yield { type: "error", error, usage: usage(request, words) };
}

/** Returns the end of an answer that would exceed its maximum length. */
const cutOff = (request: ModelRequest, words: Counter): ModelEvent => ({
  type: "done",
  finish: "length",
  usage: usage(request, words),
});

function aborted(request: ModelRequest, words = counter(request)): ModelEvent {
  return { type: "error", error: abortedError, usage: usage(request, words) };
}

function toolCall(part: number, name: string, text: string, words: Counter): ModelEvent {
  words.add("output", text);
  return { type: "tool_call", part, name, arguments: text };
}

function scriptEntry(request: ModelRequest): ScriptEntry | null {
  return request.settings.script?.[callsBefore(request)] ?? null;
}

function exhausted(request: ModelRequest): string {
  const entries = request.settings.script?.length ?? 0;
  return `The script of this test model is exhausted: it has ${entries} entries and this is call ${callsBefore(request) + 1}.`;
}

function callsBefore(request: ModelRequest): number {
  const { script_at } = request.settings;
  if (script_at !== undefined) return script_at;
  return request.messages.reduce((calls, message) => (message.role === "assistant" ? calls + 1 : calls), 0);
}

function lastUserText(messages: PromptMessage[]): string {
  const last = messages.findLast((message) => message.role === "user");
  return last?.role === "user" ? last.content : "";
}

/** Splits into words with the space after them. */
function deltas(text: string): string[] {
  return text.match(/\S+\s*|^\s+/g) ?? [];
}

type Counter = ReturnType<typeof counter>;

function counter({ settings }: ModelRequest) {
  const { max_output_tokens = Number.POSITIVE_INFINITY } = settings;
  const counts = { output: 0, reasoning: 0 };
  return {
    counts,
    all: () => counts.output + counts.reasoning,
    fits: (text: string) => counts.output + counts.reasoning + wordsIn(text) <= max_output_tokens,
    add(kind: "output" | "reasoning", text: string) {
      counts[kind] += wordsIn(text);
    },
  };
}

function usage(request: ModelRequest, { counts }: Counter): ModelUsage {
  return {
    input_tokens: request.messages.reduce((words, message) => words + wordsIn(contentOf(message)), 0),
    output_tokens: counts.output + counts.reasoning,
    cached_input_tokens: 0,
    reasoning_tokens: counts.reasoning,
  };
}

function contentOf(message: PromptMessage): string {
  if (message.role === "tool") return message.output;
  if (message.role !== "assistant") return message.content;
  return message.parts.map((part) => (part.type === "tool_call" ? part.arguments : part.text)).join(" ");
}

/** Counts words character by character: a conversation may be long and this runs at every call. */
function wordsIn(text: string): number {
  let words = 0;
  let inside = false;
  for (let index = 0; index < text.length; index++) {
    const visible = text.charCodeAt(index) > 32;
    if (visible && !inside) words++;
    inside = visible;
  }
  return words;
}
