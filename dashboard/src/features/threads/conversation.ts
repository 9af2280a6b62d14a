import type { ThreadMessage } from "../../../../server/domain/api-types/thread.ts";

import type { ShownFile, ShownLists } from "../../entities/file/shown-media.tsx";

/** An item of a conversation: a message, or a tool call with its output. */
export type Item =
  | { kind: "said"; key: string; by: "user" | "assistant" | "system"; text: string; shown: ShownLists }
  | {
      kind: "call";
      key: string;
      name: string;
      args: unknown;
      output: string | null;
      images?: readonly ShownFile[] | undefined;
    };

/** Messages of one run, or messages added without a run. */
export interface RunPart {
  /** Null for messages that were added without a run. */
  runId: string | null;
  at: string;
  items: Item[];
}

/** Groups messages, oldest first, by run, and pairs each tool output with its call. */
export function conversation(messages: readonly ThreadMessage[]): RunPart[] {
  const outputs = new Map(messages.map((message) => [message.tool_call_id, message]));
  const parts: RunPart[] = [];
  for (const message of messages) {
    const items = itemsOf(message, outputs);
    const part = parts.at(-1);
    if (part?.runId === message.run_id) part.items.push(...items);
    else parts.push({ runId: message.run_id, at: message.created_at, items });
  }
  return parts;
}

function itemsOf(message: ThreadMessage, outputs: ReadonlyMap<string | undefined, ThreadMessage>): Item[] {
  const { id, role, content, tool_calls = [], images, audio, files } = message;
  if (role === "tool") return [];
  const hasMedia = images !== undefined || audio !== undefined || files !== undefined;
  const textItems: Item[] =
    content || hasMedia ? [{ kind: "said", key: id, by: role, text: content, shown: { images, audio, files } }] : [];
  const calls = tool_calls.map(
    (call): Item => ({
      kind: "call",
      key: call.id,
      name: call.name,
      args: call.arguments,
      output: outputs.get(call.id)?.content ?? null,
      images: outputs.get(call.id)?.images,
    }),
  );
  return [...textItems, ...calls];
}

/** Removes the sent text from a field, keeping text written meanwhile. */
export function removeSentText(now: string, sentText: string): string {
  return now.startsWith(sentText) ? now.slice(sentText.length) : now;
}
