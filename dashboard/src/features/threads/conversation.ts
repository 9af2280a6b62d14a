import type { ThreadMessage } from "../../../../server/domain/api-types/thread.ts";

import type { ShownFile, ShownLists } from "../../entities/file/shown-media.tsx";
import { fieldsOf } from "../../lib/json-text.ts";

/** An item of a conversation: a message, or a tool call with its output. */
export type Item =
  | {
      kind: "said";
      key: string;
      by: "user" | "assistant" | "system";
      text: string;
      shown: ShownLists;
      /** True if a message of the user ended it. */
      isInterrupted?: true;
    }
  /** Another agent goes on; null: the run's own. */
  | { kind: "handoff"; key: string; agentId: string | null; reason: string | null }
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
  let agentId: string | undefined;
  for (const message of messages) {
    const items = itemsOf(message, outputs);
    const part = parts.at(-1);
    const isSameRun = part?.runId === message.run_id;
    if (!isSameRun) agentId = undefined;
    if (message.role === "assistant" && message.agent_id !== agentId) {
      agentId = message.agent_id;
      const call = isSameRun ? takeHandoffCall(part?.items ?? []) : null;
      items.unshift({
        kind: "handoff",
        key: `handoff ${message.id}`,
        agentId: agentId ?? null,
        reason: reasonOf(call),
      });
    }
    if (isSameRun) part?.items.push(...items);
    else parts.push({ runId: message.run_id, at: message.created_at, items });
  }
  return parts;
}

/** Removes the call that handed over, and returns it: the handoff is shown in its place. */
function takeHandoffCall(items: Item[]): Item | null {
  const index = items.findLastIndex((item) => item.kind === "call" && item.name.startsWith("transfer_to_"));
  return index < 0 ? null : (items.splice(index, 1)[0] ?? null);
}

function reasonOf(call: Item | null): string | null {
  const { reason } = call?.kind === "call" ? fieldsOf(call.args) : {};
  return typeof reason === "string" ? reason : null;
}

function itemsOf(message: ThreadMessage, outputs: ReadonlyMap<string | undefined, ThreadMessage>): Item[] {
  const { id, role, content, tool_calls = [], images, audio, files, interrupted } = message;
  if (role === "tool") return [];
  const hasMedia = images !== undefined || audio !== undefined || files !== undefined;
  const textItems: Item[] =
    content || hasMedia
      ? [
          {
            kind: "said",
            key: id,
            by: role,
            text: content,
            shown: { images, audio, files },
            ...(interrupted && { isInterrupted: true }),
          },
        ]
      : [];
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
