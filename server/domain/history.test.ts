import { expect, test } from "bun:test";
import { historyLength, historyOf } from "./history.ts";
import type { PromptMessage } from "./model-call.ts";

const user = (content: string): PromptMessage => ({ role: "user", content });
const calls = (id: string): PromptMessage => ({
  role: "assistant",
  parts: [{ type: "tool_call", id, name: "look", arguments: "{}" }],
});
const result = (call_id: string): PromptMessage => ({
  role: "tool",
  call_id,
  tool: "look",
  output: "seen",
  is_error: false,
});
const newestFirst = (messages: PromptMessage[]) =>
  messages.toReversed().map((message) => ({ prompt: JSON.stringify(message) }));

const thread = [user("a"), calls("1"), result("1"), user("b"), calls("2"), result("2"), calls("3"), result("3")];

test("wherever history is cut, it begins with a user message, and each result follows the answer that called for it", () => {
  for (let count = 0; count <= thread.length; count++) {
    const history = historyOf(newestFirst(thread.slice(thread.length - count)));
    expect(history).toEqual(thread.slice(thread.length - (count >= 8 ? 8 : count >= 5 ? 5 : 0)));
  }
});

test("history that is too large is left out, oldest first", () => {
  const long = [user("x".repeat(100)), user("y".repeat(100)), user("z")];
  expect(historyOf(newestFirst(long), 200)).toEqual(long.slice(1));
  expect(historyOf(newestFirst([...long, user("w".repeat(300))]), 200)).toEqual([]);
});

test("a growing thread is read from the same message for several runs, and never more of it than allowed", () => {
  for (const max of [1, 2, 9, 10, 50, 200]) {
    const starts = new Set<number>();
    for (let total = 0; total <= 5 * max; total += 2) {
      const length = historyLength(total, max);
      expect(length).toBeLessThanOrEqual(max);
      expect(length).toBeGreaterThanOrEqual(Math.min(total, Math.ceil(max * 0.8)));
      starts.add(total - length);
    }
    if (max >= 10) expect(starts.size).toBeLessThanOrEqual(21);
  }
});
