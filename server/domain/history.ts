import { parseExact } from "../lib/exact-numbers.ts";
import { byteLength } from "./byte-length.ts";
import { limits } from "./limits.ts";
import type { PromptMessage } from "./model-call.ts";

/**
 * Returns the thread's messages for a run, from their JSON, newest first: the most that fit, beginning with a user
 * message, so that each tool result follows the answer that requested it.
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

/**
 * Returns how many of a thread's newest messages a run reads: at most `max`. The first of them is another only after
 * every fifth part of `max`, because the provider's cache of the conversation is lost with it.
 */
export function historyLength(total: number, max: number): number {
  const step = Math.max(1, Math.floor(max / 5));
  return total <= max ? total : total - Math.ceil((total - max) / step) * step;
}

/** Returns the calls of the newest answer without a result: tool names by call id. */
export function openCalls(messages: readonly PromptMessage[]): Map<string, string> {
  const last = messages.findLastIndex(({ role }) => role !== "tool");
  const answer = messages[last];
  const calls = answer?.role === "assistant" ? answer.parts.filter((part) => part.type === "tool_call") : [];
  const open = new Map(calls.map(({ id, name }) => [id, name]));
  for (const message of messages.slice(last + 1)) if (message.role === "tool") open.delete(message.call_id);
  return open;
}

/** Removes calls without a result, which providers refuse: the client that added them may still owe the result. */
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
