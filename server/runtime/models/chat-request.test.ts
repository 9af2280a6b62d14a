import { heapStats } from "bun:jsc";
import { expect, test } from "bun:test";
import { chatRequest } from "./chat-request.ts";
import type { ModelRequest, PromptMessage } from "./model.ts";

const length = 1024 * 1024;

/** Creates a conversation of answers with a megabyte and a call each. */
function conversation(answers: number): ModelRequest {
  const messages = Array.from({ length: answers }, (_, index): PromptMessage[] => [
    {
      role: "assistant",
      parts: [
        { type: "text", text: Buffer.alloc(length, `answer ${index} `).toString() },
        { type: "tool_call", id: `call_${index}`, name: "look", arguments: "{}" },
      ],
    },
    { role: "tool", call_id: `call_${index}`, tool: "look", output: "Seen.", is_error: false },
  ]);
  return { messages: [{ role: "user", content: "Go." }, ...messages.flat()], tools: [], settings: {} };
}

function bytesInUse(): number {
  Bun.gc(true);
  return heapStats().heapSize;
}

test("a request uses the texts of a conversation without copying them", () => {
  const request = conversation(16);
  const before = bytesInUse();
  const body = chatRequest("m", request, { streamed: true, format: "text" });
  expect(bytesInUse() - before).toBeLessThan(length);
  expect(JSON.stringify(body).length).toBeGreaterThan(16 * length);
});

test("the texts of an answer in several parts are joined", () => {
  const parts: Extract<PromptMessage, { role: "assistant" }>["parts"] = [
    { type: "reasoning", text: "Hm. " },
    { type: "text", text: "One" },
    { type: "reasoning", text: "Well." },
    { type: "text", text: ", two" },
  ];
  const request: ModelRequest = { messages: [{ role: "assistant", parts }], tools: [], settings: {} };
  expect(chatRequest("m", request, { streamed: true, format: "text" }).messages).toEqual([
    { role: "assistant", content: "One, two", reasoning_content: "Hm. Well." },
  ]);
});
