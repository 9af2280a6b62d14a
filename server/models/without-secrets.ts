import { parseExact } from "../lib/exact-numbers.ts";
import { type Mask, maskFor } from "../lib/mask.ts";
import { hide } from "../lib/redact.ts";
import type { ModelEvent } from "./port.ts";

type Delta = Extract<ModelEvent, { type: "delta" }>;

/**
 * What a model says without the secrets of its connection: journal, readers and tools would have them. A text that may be the
 * beginning of one waits for what follows, as far as its part goes.
 */
export function withoutSecrets(secrets: readonly string[]) {
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
    // An empty one says that its part has begun.
    if (!mask || text === "") return [...before, delta];
    open = { mask, part, kind };
    return [...before, ...deltas(delta, mask.push(text))];
  }

  function shown(event: ModelEvent): ModelEvent {
    if (event.type === "metadata") return { ...event, metadata: shownMetadata(event.metadata) };
    if (event.type !== "tool_call") return event;
    const { name, arguments: args, metadata } = event;
    const call = { ...event, name: hide(name, secrets), arguments: hide(args, secrets) };
    return metadata ? { ...call, metadata: shownMetadata(metadata) } : call;
  }

  const shownMetadata = (metadata: Record<string, unknown>): Record<string, unknown> =>
    parseExact(hide(JSON.stringify(metadata), secrets));

  return {
    /** What may be told now that the model has told this. */
    push: (event: ModelEvent): ModelEvent[] => (event.type === "delta" ? say(event) : [...end(), shown(event)]),
    /** The rest, where the model says no more. */
    end,
  };
}

const deltas = ({ part, kind }: Pick<Delta, "part" | "kind">, text: string): Delta[] =>
  text === "" ? [] : [{ type: "delta", part, kind, text }];
