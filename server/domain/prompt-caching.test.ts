import { expect, test } from "bun:test";
import type { ModelRequest, PromptMessage } from "./model-call.ts";
import { withPromptCaching } from "./prompt-caching.ts";

const look = { name: "look", description: "Looks.", parameters: {} };
const user: PromptMessage = { role: "user", content: "Hi" };
const answer: PromptMessage = { role: "assistant", parts: [{ type: "text", text: "Hello." }] };
const request: ModelRequest = { messages: [user], tools: [look], settings: { temperature: 0.5 } };
const settingsOf = (
  more: Partial<ModelRequest>,
  agent: Parameters<typeof withPromptCaching>[1],
  thread_id: string | null,
) => withPromptCaching({ ...request, ...more }, agent, { thread_id }).settings;

const keyOf = (id: string, thread_id: string | null) => settingsOf({}, { id }, thread_id).prompt_cache_key;

test("the key of a cache is the same for all runs of an agent in a thread, and tells neither", () => {
  expect(keyOf("agt_1", "thr_1")).toBe(keyOf("agt_1", "thr_1")!);
  const keys = [keyOf("agt_1", "thr_1"), keyOf("agt_1", "thr_2"), keyOf("agt_2", "thr_1"), keyOf("agt_1", null)];
  expect(new Set(keys).size).toBe(4);
  for (const key of keys) expect(key).toMatch(/^[0-9a-f]{32}$/);
});

test("an agent without the field caches, and one that is off sends nothing about it", () => {
  expect(settingsOf({}, { id: "agt_1" }, null)).toMatchObject({ temperature: 0.5, prompt_caching: "auto" });
  expect(settingsOf({}, { id: "agt_1", prompt_caching: "off" }, null)).toEqual({
    temperature: 0.5,
    prompt_caching: "off",
  });
});

test("the prompt of a single question, without tools, thread or earlier answers, is continued by no other", () => {
  const isLast = (more: Partial<ModelRequest>, thread_id: string | null) =>
    settingsOf(more, { id: "agt_1" }, thread_id).is_last_prompt ?? false;
  expect(isLast({ tools: [] }, null)).toBe(true);
  expect([
    isLast({}, null),
    isLast({ tools: [] }, "thr_1"),
    isLast({ tools: [], messages: [user, answer, user] }, null),
  ]).toEqual([false, false, false]);
});
