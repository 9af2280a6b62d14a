import { drainBody } from "../../../lib/drain-body.ts";
import { fieldsOf, parsedJson } from "../../../lib/json.ts";
import { textOf as bodyText } from "../body-text.ts";
import { finishOf } from "../finish-reason.ts";
import { type AnswerObserver, type ModelEvent, type ModelRequest, type ModelUsage, unknownUsage } from "../model.ts";
import { failedEnd, incompleteError, onceBegun, toModelError } from "../model-error.ts";
import { answerParts } from "../model-stream.ts";
import { servedTier } from "../service-tier.ts";
import { failureOf, faultIn, faultOf } from "./bedrock-error.ts";
import type { Family } from "./bedrock-families.ts";
import type { ReasoningProof } from "./bedrock-messages.ts";
import { type Frame, framesOf } from "./event-stream.ts";

const answerMax_bytes = 8 * 1024 * 1024;

type Fields = Record<string, unknown>;

interface Reader {
  family: Family;
  secrets: readonly string[];
  observer: AnswerObserver;
  /** Names of the request's tools. */
  tools: readonly string[];
  /** Additions of the agent to the request. */
  extras?: ModelRequest["extras"];
}

/** Yields the events of an answer of Converse, streamed or whole. */
export async function* readConverse(response: Response, reader: Reader): AsyncGenerator<ModelEvent> {
  const answer = converseAnswer(reader);
  try {
    if (response.headers.get("content-type")?.startsWith("application/json")) {
      const text = await bodyText(response, answerMax_bytes, reader.observer.onByte);
      const { headers, status } = response;
      if (!("output" in fieldsOf(parsedJson(text))))
        throw failureOf(await faultOf(new Response(text, { headers, status })));
      for (const event of answer.whole(text)) yield event;
    } else
      for await (const frames of framesOf(response, reader.observer.onByte)) {
        for (const event of answer.read(frames)) yield event; // Not `yield*`, which costs several promises per token.
        if (answer.isOver()) break;
      }
    if (answer.isOver()) void drainBody(response); // The server closes it a moment later: the next call can reuse it.
  } catch (failure) {
    // An answer with its end is complete, even if the usage that follows is lost.
    if (!answer.hasEnd()) throw onceBegun(failure);
  }
  for (const event of answer.end()) yield event;
}

interface OpenCall {
  name: string;
  input: string;
}

/** Reads the frames of one answer. Content blocks are numbered, and may be open at the same time. */
function converseAnswer({ family, secrets, observer, tools, extras }: Reader) {
  const parts = answerParts(tools);
  const open = new Set<string>();
  const calls = new Map<unknown, OpenCall>();
  const proofs = new Map<unknown, ReasoningProof>();
  let stopReason: string | null = null;
  let usage: ModelUsage = unknownUsage;
  let isOver = false;
  let hasFailed = false;

  function read(frames: readonly Frame[]): ModelEvent[] {
    const events: ModelEvent[] = [];
    for (const { kind, type, payload } of frames) {
      if (isOver) break;
      const value = parsedJson(payload);
      if (kind === "event" && value !== undefined) events.push(...take(type, fieldsOf(value)));
      else if (kind === "event") throw new SyntaxError("An event is no JSON.");
      else events.push(fail(type, payload));
    }
    return events;
  }

  const counted = ({ usage: counts, serviceTier }: Fields): ModelUsage => ({
    ...usageOf(fieldsOf(counts)),
    ...servedTier(fieldsOf(serviceTier).type, extras),
  });

  function fail(type: string, payload: string): ModelEvent {
    [isOver, hasFailed] = [true, true];
    return { type: "error", error: toModelError(failureOf(faultIn(type, payload)), secrets), usage };
  }

  function take(type: string, event: Fields): ModelEvent[] {
    const { contentBlockIndex: index } = event;
    switch (type) {
      case "contentBlockStart":
        return begin(index, fieldsOf(event.start));
      case "contentBlockDelta":
        return append(index, fieldsOf(event.delta));
      case "contentBlockStop":
        return close(index);
      case "messageStop":
        stopReason = textOf(event.stopReason);
        return [];
      case "metadata":
        if (event.usage) usage = counted(event);
        isOver = stopReason !== null;
        return [];
      default:
        // Gateways send exceptions as events too.
        return /Exception$/.test(type) ? [fail(type, JSON.stringify(event))] : [];
    }
  }

  function begin(index: unknown, { toolUse }: Fields): ModelEvent[] {
    if (!toolUse) return [];
    const name = textOf(fieldsOf(toolUse).name);
    calls.set(index, { name, input: "" });
    observer.onArguments(name.length);
    return [];
  }

  function append(index: unknown, { text, toolUse, reasoningContent }: Fields): ModelEvent[] {
    if (typeof text === "string") return show("text", index, text);
    if (reasoningContent) return appendReasoning(index, fieldsOf(reasoningContent));
    const call = calls.get(index);
    const input = textOf(fieldsOf(toolUse).input);
    if (call) call.input += input;
    observer.onArguments(input.length);
    return [];
  }

  function appendReasoning(index: unknown, { text, signature, redactedContent }: Fields): ModelEvent[] {
    const proof = proofs.get(index) ?? { family: family.name };
    if (typeof signature === "string") proof.signature = (proof.signature ?? "") + signature;
    if (typeof redactedContent === "string") proof.redacted = joinBase64(proof.redacted, redactedContent);
    if (proof.signature === undefined && proof.redacted === undefined) return show("reasoning", index, textOf(text));
    proofs.set(index, proof);
    return show("reasoning", index, textOf(text), { bedrock: { ...proof } });
  }

  function show(
    kind: "text" | "reasoning",
    index: unknown,
    delta: string,
    metadata?: { bedrock: { [Name in keyof ReasoningProof]: string } },
  ): ModelEvent[] {
    const id = `${kind} ${index}`;
    const events = open.has(id) ? [] : parts.read({ type: `${kind}-start`, id });
    open.add(id);
    const providerMetadata = metadata && { providerMetadata: metadata };
    return [...events, ...parts.read({ type: `${kind}-delta`, id, delta, ...providerMetadata })];
  }

  function close(index: unknown): ModelEvent[] {
    const call = calls.get(index);
    calls.delete(index);
    const events = (["reasoning", "text"] as const).flatMap((kind) => {
      const id = `${kind} ${index}`;
      return open.delete(id) ? parts.read({ type: `${kind}-end`, id }) : [];
    });
    return call ? [...events, ...parts.toolCall(call.name, call.input)] : events;
  }

  /** Returns the events of an answer that came in one piece. */
  function whole(text: string): ModelEvent[] {
    const answer = fieldsOf(parsedJson(text));
    const { output, stopReason: reason } = answer;
    const { content } = fieldsOf(fieldsOf(output).message);
    stopReason = textOf(reason);
    if (answer.usage) usage = counted(answer);
    isOver = true;
    return (Array.isArray(content) ? content : []).flatMap((block, index) => [
      ...wholeBlock(index, fieldsOf(block)),
      ...close(index),
    ]);
  }

  function wholeBlock(index: number, { text, toolUse, reasoningContent }: Fields): ModelEvent[] {
    if (typeof text === "string") return show("text", index, text);
    if (toolUse) {
      const { name, input } = fieldsOf(toolUse);
      calls.set(index, { name: textOf(name), input: JSON.stringify(input ?? {}) });
      return [];
    }
    const { reasoningText, redactedContent } = fieldsOf(reasoningContent);
    return reasoningContent ? appendReasoning(index, { ...fieldsOf(reasoningText), redactedContent }) : [];
  }

  /** Returns the last events once the stream has ended. */
  function end(): ModelEvent[] {
    if (hasFailed) return [];
    const events = parts.closeAll();
    const finish = stopReason === null ? null : finishOf(stopReason);
    if (stopReason === null) return [...events, { type: "error", error: incompleteError, usage }];
    if (finish === null) return [...events, { type: "error", error: failedEnd(stopReason, secrets), usage }];
    // Calls whose arguments were still arriving: the model learns that they were not run.
    for (const { name, input } of calls.values()) events.push(...parts.toolCall(name, input));
    return [...events, { type: "done", finish, usage }];
  }

  return { read, whole, end, isOver: () => isOver, hasEnd: () => stopReason !== null && !hasFailed };
}

/** Joins pieces of encrypted reasoning, each of which is base64 by itself. */
function joinBase64(before: string | undefined, piece: string): string {
  if (before === undefined) return piece;
  return Buffer.concat([Buffer.from(before, "base64"), Buffer.from(piece, "base64")]).toString("base64");
}

/** Returns the counts; Bedrock's `inputTokens` are only those that the cache neither gave nor took. */
function usageOf({ inputTokens, outputTokens, cacheReadInputTokens, cacheWriteInputTokens, cacheDetails }: Fields) {
  const [input, read, written] = [inputTokens, cacheReadInputTokens, cacheWriteInputTokens].map(countOf);
  const details = Array.isArray(cacheDetails) ? cacheDetails.map(fieldsOf) : [];
  const hour = details.reduce((sum, { ttl, inputTokens: of }) => sum + (ttl === "1h" ? (countOf(of) ?? 0) : 0), 0);
  const counts: ModelUsage = {
    input_tokens: input == null ? null : input + (read ?? 0) + (written ?? 0),
    output_tokens: countOf(outputTokens),
    cached_input_tokens: read ?? null,
    reasoning_tokens: null,
  };
  if (written != null) counts.cache_write_5m_tokens = Math.max(written - hour, 0);
  if (written != null && hour > 0) counts.cache_write_1h_tokens = Math.min(hour, written);
  return counts;
}

const textOf = (value: unknown): string => (typeof value === "string" ? value : "");
const countOf = (value: unknown): number | null =>
  Number.isSafeInteger(value) && Number(value) >= 0 ? Number(value) : null;
