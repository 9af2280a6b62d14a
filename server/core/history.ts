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
    messages.unshift(JSON.parse(prompt));
  }
  const first = messages.findIndex(({ role }) => role === "user");
  return first < 0 ? [] : messages.slice(first);
}
