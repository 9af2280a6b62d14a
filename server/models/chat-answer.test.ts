import { expect, test } from "bun:test";
import { chatAnswer } from "./chat-answer.ts";
import type { ModelEvent } from "./port.ts";

const said = (delta: object) => JSON.stringify({ choices: [{ delta }] });
const stop = JSON.stringify({ choices: [{ delta: {}, finish_reason: "stop" }] });
const call = (fields: object, name: string | null, args: unknown) => ({
  ...fields,
  function: { name, arguments: args },
});

/** What comes of reads that brought these payloads. */
function heard(...reads: string[][]): ModelEvent[] {
  const chat = chatAnswer([]);
  return [...reads.flatMap(chat.read), ...chat.end()];
}

const calls = (events: ModelEvent[]) =>
  events.flatMap((event) => (event.type === "tool_call" ? [[event.name, event.arguments]] : []));
const texts = (events: ModelEvent[]) => events.flatMap((event) => (event.type === "delta" ? [event.text] : []));

test("a call comes in pieces, whatever the pieces repeat", () => {
  const pieces = [
    { tool_calls: [call({ index: 0, id: "a" }, "look", '{"at"')] },
    { tool_calls: [call({ index: 0, id: "" }, null, ":1")] },
    { tool_calls: [call({ index: 0, id: "a" }, "look", "}")] },
  ];
  expect(calls(heard([...pieces.map(said), stop]))).toEqual([["look", '{"at":1}']]);
});

test("calls under one index are told apart by their ids", () => {
  const both = ["a", "b"].map((id) => said({ tool_calls: [call({ index: 0, id }, "look", `{"at":"${id}"}`)] }));
  expect(calls(heard([...both, stop]))).toEqual([
    ["look", '{"at":"a"}'],
    ["look", '{"at":"b"}'],
  ]);
});

test("whole calls with neither index nor id are one each", () => {
  const both = said({ tool_calls: [call({}, "look", "{}"), call({}, "listen", { to: "me" })] });
  expect(calls(heard([both, stop]))).toEqual([
    ["look", "{}"],
    ["listen", '{"to":"me"}'],
  ]);
});

test("an empty call beside others is nothing, and one with arguments and no name spoils the answer", () => {
  const whole = call({ index: 0, id: "a" }, "look", "{}");
  expect(calls(heard([said({ tool_calls: [whole, call({ index: 1 }, "", "")] }), stop]))).toEqual([["look", "{}"]]);
  const broken = heard([said({ tool_calls: [whole, call({ index: 1 }, null, "{}")] }), stop]);
  expect(broken).toMatchObject([{ type: "error", error: { retryable: true } }]);
});

test.each([
  ["[DONE] alone", ["[DONE]"]],
  ["a text and [DONE]", [said({ content: "So." }), "[DONE]"]],
  ["a text and an empty reason", [said({ content: "So." }), JSON.stringify({ choices: [{ finish_reason: "" }] })]],
  ["a text", [said({ content: "So." })]],
])("%s without a reason is no end", (_, payloads) => {
  const error = { code: "model_incomplete", retryable: true };
  expect(heard(payloads).at(-1)).toMatchObject({ type: "error", error });
});

test("nothing counts behind the end", () => {
  const chat = chatAnswer([]);
  expect(chat.isOver()).toBe(false);
  expect(texts(chat.read([said({ content: "So." }), stop, "[DONE]", said({ content: "And?" })]))).toEqual(["So."]);
  expect(chat.isOver()).toBe(true);
});

test("what was said before a broken chunk or an error was said", () => {
  const chat = chatAnswer([]);
  const events: ModelEvent[] = [];
  expect(() => {
    events.push(...chat.read([said({ content: "Well" }), "{broken", said({ content: "And?" })]));
    chat.end();
  }).toThrow(SyntaxError);
  expect(texts(events)).toEqual(["Well"]);
  const failed = heard([said({ content: "Well" }), JSON.stringify({ error: { message: "Oh." } }), stop]);
  expect(failed.map(({ type }) => type)).toEqual(["delta", "error"]);
});

test("empty data is nothing, and an empty reasoning does not hide another", () => {
  const events = heard(["", said({ reasoning_content: "", reasoning: "Hm.", content: "" }), stop]);
  expect(events.slice(0, -1)).toEqual([{ type: "delta", part: 0, kind: "reasoning", text: "Hm." }]);
});
