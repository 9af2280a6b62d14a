import type { LanguageModelV4StreamPart } from "@ai-sdk/provider";
import type { ModelEvent } from "./port.ts";

interface Block {
  kind: "output" | "reasoning";
  /** Null until the block has something to show: providers also open blocks that stay empty. */
  part: number | null;
  metadata: Record<string, unknown> | undefined;
  /** First half of a character whose second half is still to come: alone it would leave this process as U+FFFD. */
  half: string;
}

type BlockPart = Extract<LanguageModelV4StreamPart, { type: `${"text" | "reasoning"}-${"start" | "delta" | "end"}` }>;

/** Numbers the parts of one answer in the order in which they show, and gathers what the provider wants back. */
export function answerParts() {
  const open = new Map<string, Block>();
  let parts = 0;

  function* show(block: Block, text: string): Generator<ModelEvent> {
    if (block.part === null) block.part = parts++;
    yield { type: "delta", part: block.part, kind: block.kind, text };
  }

  function* append(block: Block, delta: string): Generator<ModelEvent> {
    const text = block.half + delta;
    block.half = /[\ud800-\udbff]$/.exec(text)?.[0] ?? "";
    const whole = text.slice(0, text.length - block.half.length);
    if (whole !== "") yield* show(block, whole);
  }

  function* close(id: string): Generator<ModelEvent> {
    const block = open.get(id);
    open.delete(id);
    if (block && block.half !== "") yield* show(block, block.half.toWellFormed());
    if (!block?.metadata) return;
    // An empty delta says what kind of part it is: encrypted reasoning has metadata and no text.
    if (block.part === null && block.kind === "reasoning") yield* show(block, "");
    if (block.part !== null) yield { type: "metadata", part: block.part, metadata: block.metadata };
  }

  function* read(part: BlockPart): Generator<ModelEvent> {
    if (part.type === "text-start" || part.type === "reasoning-start") {
      yield* close(part.id); // Some providers use one id for every block of a kind.
      const kind = part.type === "text-start" ? "output" : "reasoning";
      open.set(part.id, { kind, part: null, metadata: undefined, half: "" });
    }
    const block = open.get(part.id);
    if (!block) return;
    block.metadata = merge(block.metadata, part.providerMetadata);
    if (part.type === "text-delta" || part.type === "reasoning-delta") {
      // Google hangs signatures on empty deltas; elsewhere an empty delta says nothing.
      if (part.delta === "" && part.providerMetadata && block.part === null) yield* show(block, "");
      else yield* append(block, part.delta);
    }
    if (part.type === "text-end" || part.type === "reasoning-end") yield* close(part.id);
  }

  function toolCall(name: string, input: string, metadata?: Record<string, unknown>): ModelEvent {
    // No text at all is how some servers write "no arguments".
    const text = input.trim() === "" ? "{}" : input;
    return { type: "tool_call", part: parts++, name, arguments: text, ...(metadata && { metadata }) };
  }

  function* closeAll(): Generator<ModelEvent> {
    for (const id of [...open.keys()]) yield* close(id);
  }

  return { read, toolCall, closeAll };
}

/** One level deep, since metadata is kept by provider: a signature joins what the block began with. */
function merge(old: Record<string, unknown> | undefined, more: Record<string, unknown> | undefined) {
  if (!old || !more) return more ?? old;
  const merged = { ...old };
  for (const [provider, values] of Object.entries(more))
    merged[provider] = { ...Object(old[provider]), ...Object(values) };
  return merged;
}
