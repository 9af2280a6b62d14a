import type { LanguageModelV4StreamPart } from "@ai-sdk/provider";
import type { ModelEvent } from "./model.ts";

interface Block {
  kind: "output" | "reasoning";
  /** Null until the block has content: providers also open blocks that stay empty. */
  part: number | null;
  metadata: Record<string, unknown> | undefined;
  /** First half of a surrogate pair: sent alone it would become U+FFFD. */
  half: string;
}

type BlockPart = Extract<LanguageModelV4StreamPart, { type: `${"text" | "reasoning"}-${"start" | "delta" | "end"}` }>;

/**
 * Numbers the parts of an answer in the order of their first content, and collects the metadata that the provider needs
 * back. Returns arrays, because the runtime recompiles generators again and again.
 */
export function answerParts() {
  const open = new Map<string, Block>();
  let parts = 0;

  function show(block: Block, text: string): ModelEvent {
    block.part ??= parts++;
    return { type: "delta", part: block.part, kind: block.kind, text };
  }

  function append(block: Block, delta: string): ModelEvent[] {
    const text = block.half + delta;
    block.half = /[\ud800-\udbff]$/.exec(text)?.[0] ?? "";
    const whole = text.slice(0, text.length - block.half.length);
    return whole === "" ? [] : [show(block, whole)];
  }

  function close(id: string): ModelEvent[] {
    const block = open.get(id);
    open.delete(id);
    const events = block && block.half !== "" ? [show(block, block.half.toWellFormed())] : [];
    if (!block?.metadata) return events;
    // An empty delta opens the part: encrypted reasoning has metadata and no text.
    if (block.part === null && block.kind === "reasoning") events.push(show(block, ""));
    if (block.part !== null) events.push({ type: "metadata", part: block.part, metadata: block.metadata });
    return events;
  }

  function begin(id: string, kind: Block["kind"]): ModelEvent[] {
    const before = close(id); // Some providers use one id for every block of a kind.
    open.set(id, { kind, part: null, metadata: undefined, half: "" });
    return before;
  }

  function read(part: BlockPart): ModelEvent[] {
    const isStart = part.type === "text-start" || part.type === "reasoning-start";
    const before = isStart ? begin(part.id, part.type === "text-start" ? "output" : "reasoning") : [];
    const block = open.get(part.id);
    if (!block) return before;
    block.metadata = merge(block.metadata, part.providerMetadata);
    if (isStart) return before;
    if (part.type === "text-end" || part.type === "reasoning-end") return close(part.id);
    // Google attaches signatures to empty deltas; other empty deltas have no meaning.
    if (part.delta === "" && part.providerMetadata && block.part === null) return [show(block, "")];
    return append(block, part.delta);
  }

  function toolCall(name: string, input: string, metadata?: Record<string, unknown>): ModelEvent {
    // Some servers send an empty text for "no arguments".
    const text = input.trim() === "" ? "{}" : input;
    return { type: "tool_call", part: parts++, name, arguments: text, ...(metadata && { metadata }) };
  }

  return { read, toolCall, closeAll: () => [...open.keys()].flatMap(close) };
}

/** Merges metadata one level deep, by provider, so that a signature is added to the block's first metadata. */
function merge(old: Record<string, unknown> | undefined, more: Record<string, unknown> | undefined) {
  if (!old || !more) return more ?? old;
  const merged = { ...old };
  for (const [provider, values] of Object.entries(more))
    merged[provider] = { ...Object(old[provider]), ...Object(values) };
  return merged;
}
