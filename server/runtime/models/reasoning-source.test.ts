import { expect, test } from "bun:test";
import { chatAnswer } from "./chat-answer.ts";

const said = (delta: object) => JSON.stringify({ choices: [{ delta }] });
const stop = JSON.stringify({ choices: [{ delta: {}, finish_reason: "stop" }] });

/** Returns the metadata that is kept of an answer. */
function metadataOf(...deltas: object[]) {
  const chat = chatAnswer([]);
  const events = [...deltas.flatMap((delta) => chat.read([said(delta)])), ...chat.read([stop]), ...chat.end()];
  return events.flatMap((event) => (event.type === "metadata" ? [event.metadata] : []));
}

test("the usual name of reasoning is not recorded, another one is", () => {
  expect(metadataOf({ reasoning_content: "Hm." })).toEqual([]);
  expect(metadataOf({ reasoning_content: "Hm.", reasoning: "Hm." })).toEqual([]);
  expect(metadataOf({ reasoning: "Hm." })).toEqual([{ chat: { reasoning: "reasoning" } }]);
  const content = [{ type: "thinking", thinking: [{ type: "text", text: "Hm." }] }];
  expect(metadataOf({ content })).toEqual([{ chat: { reasoning: "content_parts" } }]);
});

test("details in pieces become one with its signature, and others stay as they came", () => {
  const piece = (text: string, more: object = {}) => ({ type: "reasoning.text", text, index: 0, ...more });
  const sealed = { type: "reasoning.encrypted", data: "c2ln", id: "call_1", index: 0 };
  const all = metadataOf(
    { reasoning_details: [piece("I ", { format: "anthropic-claude-v1" })] },
    { reasoning_details: [piece("look.")] },
    { reasoning_details: [piece("", { signature: "EqQB" })] },
    { reasoning_details: [{ type: "reasoning.text", text: "Then.", index: 1 }, sealed, sealed] },
  );
  const first = { type: "reasoning.text", text: "I look.", index: 0, format: "anthropic-claude-v1", signature: "EqQB" };
  const details = [first, { type: "reasoning.text", text: "Then.", index: 1 }, sealed, sealed];
  expect(all).toEqual([{ chat: { details } }]);
});

test("details without an end are not kept in memory", () => {
  const data = "x".repeat(1024 * 1024);
  const large = { reasoning_details: [{ type: "reasoning.encrypted", data }] };
  expect(metadataOf({ content: "So." }, large, large, large)).toEqual([]);
});
