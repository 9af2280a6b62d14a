import type { ThreadMessage } from "../../../../server/wire/thread.ts";

/** What stands in a conversation: words, or a call with what came of it. */
export type Item =
  | { kind: "said"; key: string; by: "user" | "assistant" | "system"; text: string }
  | { kind: "call"; key: string; name: string; args: unknown; output: string | null };

/** What one run said, or was put in. */
export interface RunPart {
  /** Null for messages that no run said. */
  runId: string | null;
  at: string;
  items: Item[];
}

/** Messages, the oldest first, by the run that said them; each tool's output beside its call. */
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
  const said: Item[] = content ? [{ kind: "said", key: id, by: role, text: content }] : [];
  const calls = tool_calls.map(
    (call): Item => ({
      kind: "call",
      key: call.id,
      name: call.name,
      args: call.arguments,
      output: outputs.get(call.id) ?? null,
    }),
  );
  return [...said, ...calls];
}

/** What stands in a field after a text of it was sent: what was written meanwhile stays. */
export function withoutSent(now: string, sent: string): string {
  return now.startsWith(sent) ? now.slice(sent.length) : now;
}
