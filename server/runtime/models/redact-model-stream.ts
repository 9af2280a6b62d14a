import { parseExact } from "../../lib/exact-numbers.ts";
import { type Mask, maskFor } from "../../lib/mask.ts";
import { maskSecrets } from "../../lib/redact.ts";
import type { ModelEvent } from "./model.ts";

type Delta = Extract<ModelEvent, { type: "delta" }>;

/**
 * Hides the secrets of a connection in its model's events, because journal, readers and tools would get them. Text that
 * may be the beginning of a secret is held back, at most until its part ends.
 */
export function redactModelStream(secrets: readonly string[]) {
  let open: { mask: Mask; part: number; kind: Delta["kind"] } | null = null;

  function end(): Delta[] {
    const ended = open;
    open = null;
    return ended ? deltas(ended, ended.mask.end()) : [];
  }

  function say(delta: Delta): Delta[] {
    const { part, kind, text } = delta;
    const before = open?.part === part && open.kind === kind ? [] : end();
    const mask = open?.mask ?? maskFor(secrets);
    // An empty delta says that its part has begun.
    if (!mask || text === "") return [...before, delta];
    open = { mask, part, kind };
    return [...before, ...deltas(delta, mask.push(text))];
  }

  function shown(event: ModelEvent): ModelEvent {
    if (event.type === "metadata") return { ...event, metadata: shownMetadata(event.metadata) };
    if (event.type !== "tool_call") return event;
    const { name, arguments: args, metadata } = event;
    const call = { ...event, name: maskSecrets(name, secrets), arguments: maskSecrets(args, secrets) };
    return metadata ? { ...call, metadata: shownMetadata(metadata) } : call;
  }

  const shownMetadata = (metadata: Record<string, unknown>): Record<string, unknown> =>
    parseExact(maskSecrets(JSON.stringify(metadata), secrets));

  return {
    /** Returns the events that may be shown after this one. */
    push: (event: ModelEvent): ModelEvent[] => (event.type === "delta" ? say(event) : [...end(), shown(event)]),
    /** Returns the text held back. */
    end,
  };
}

const deltas = ({ part, kind }: Pick<Delta, "part" | "kind">, text: string): Delta[] =>
  text === "" ? [] : [{ type: "delta", part, kind, text }];
