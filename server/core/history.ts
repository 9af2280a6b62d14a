import { parseExact } from "../lib/exact-numbers.ts";
import { byteLength } from "./byte-length.ts";
import { limits } from "./limits.ts";
import type { PromptMessage } from "./model-call.ts";

/**
 * What a run is told of its thread, from the messages as JSON, newest first: as many as fit, and of these none before the
 * first that a user said. So each tool result that is left stands behind the answer that asked for it.
 */
export function historyOf(
  newestFirst: Iterable<{ prompt: string }>,
  max_bytes = limits.history_bytes,
): PromptMessage[] {
  const messages: PromptMessage[] = [];
  let bytes = 0;
  for (const { prompt } of newestFirst) {
    bytes += byteLength(prompt);
    if (bytes > max_bytes) break;
    messages.unshift(parseExact(prompt));
  }
  const first = messages.findIndex(({ role }) => role === "user");
  return first < 0 ? [] : settled(messages.slice(first));
}

/** Calls of the newest answer of a conversation that have no result, by their ids and the names of their tools. */
export function openCalls(messages: readonly PromptMessage[]): Map<string, string> {
  const last = messages.findLastIndex(({ role }) => role !== "tool");
  const answer = messages[last];
  const calls = answer?.role === "assistant" ? answer.parts.filter((part) => part.type === "tool_call") : [];
  const open = new Map(calls.map(({ id, name }) => [id, name]));
  for (const message of messages.slice(last + 1)) if (message.role === "tool") open.delete(message.call_id);
  return open;
}

/** Without calls that have no result, which providers would refuse: whoever put them into a thread may still owe it. */
function settled(messages: readonly PromptMessage[]): PromptMessage[] {
  return messages.flatMap((message, index): PromptMessage[] => {
    const end = messages.findIndex((after, place) => place > index && after.role !== "tool");
    const withResults = messages.slice(index, end === -1 ? undefined : end);
    if (message.role === "tool") {
      const answer = messages.findLastIndex((before, place) => place < index && before.role !== "tool");
      return openCalls(messages.slice(answer, end === -1 ? undefined : end)).size === 0 ? [message] : [];
    }
    if (message.role !== "assistant" || openCalls(withResults).size === 0) return [message];
    const parts = message.parts.filter(({ type }) => type !== "tool_call");
    return parts.length > 0 ? [{ ...message, parts }] : [];
  });
}
