import type { ThreadMessage } from "../../../../server/domain/api-types/thread.ts";

/** An item of a conversation: a message, or a tool call with its output. */
export type Item =
  | { kind: "said"; key: string; by: "user" | "assistant" | "system"; text: string }
  | { kind: "call"; key: string; name: string; args: unknown; output: string | null };

/** Messages of one run, or messages added without a run. */
export interface RunPart {
  /** Null for messages that were added without a run. */
  runId: string | null;
  at: string;
  items: Item[];
}

/** Groups messages, oldest first, by run, and pairs each tool output with its call. */
export function conversation(messages: readonly ThreadMessage[]): RunPart[] {
  const outputs = new Map(messages.map(({ tool_call_id, content }) => [tool_call_id, content]));
  const parts: RunPart[] = [];
  for (const message of messages) {
    const items = itemsOf(message, outputs);
    const part = parts.at(-1);
    if (part?.runId === message.run_id) part.items.push(...items);
    else parts.push({ runId: message.run_id, at: message.created_at, items });
  }
  return parts;
}

function itemsOf(message: ThreadMessage, outputs: ReadonlyMap<string | undefined, string>): Item[] {
  const { id, role, content, tool_calls = [] } = message;
  if (role === "tool") return [];
  const textItems: Item[] = content ? [{ kind: "said", key: id, by: role, text: content }] : [];
  const calls = tool_calls.map(
    (call): Item => ({
      kind: "call",
      key: call.id,
      name: call.name,
      args: call.arguments,
      output: outputs.get(call.id) ?? null,
    }),
  );
  return [...textItems, ...calls];
}

/** Removes the sent text from a field, keeping text written meanwhile. */
export function removeSentText(now: string, sentText: string): string {
  return now.startsWith(sentText) ? now.slice(sentText.length) : now;
}
