import { expect, test } from "bun:test";
import { chatAnswer, readChatAnswer } from "./chat-answer.ts";
import type { ModelEvent } from "./model.ts";

const said = (delta: object) => JSON.stringify({ choices: [{ delta }] });
const stop = JSON.stringify({ choices: [{ delta: {}, finish_reason: "stop" }] });
const call = (fields: object, name: string | null, args: unknown) => ({
  ...fields,
  function: { name, arguments: args },
});

/** Returns the events of reads with these payloads. */
function heard(...reads: string[][]): ModelEvent[] {
  const chat = chatAnswer([]);
  return [...reads.flatMap(chat.read), ...chat.end()];
}

const calls = (events: ModelEvent[]) =>
  events.flatMap((event) => (event.type === "tool_call" ? [[event.name, event.arguments]] : []));
const texts = (events: ModelEvent[]) => events.flatMap((event) => (event.type === "delta" ? [event.text] : []));

test("a call is assembled from its pieces, even if they repeat fields", () => {
  const pieces = [
    { tool_calls: [call({ index: 0, id: "a" }, "look", '{"at"')] },
    { tool_calls: [call({ index: 0, id: "" }, null, ":1")] },
    { tool_calls: [call({ index: 0, id: "a" }, "look", "}")] },
  ];
  expect(calls(heard([...pieces.map(said), stop]))).toEqual([["look", '{"at":1}']]);
});

test("calls with the same index are distinguished by their ids", () => {
  const both = ["a", "b"].map((id) => said({ tool_calls: [call({ index: 0, id }, "look", `{"at":"${id}"}`)] }));
  expect(calls(heard([...both, stop]))).toEqual([
    ["look", '{"at":"a"}'],
    ["look", '{"at":"b"}'],
  ]);
});

test("complete calls without index and id are separate calls", () => {
  const both = said({ tool_calls: [call({}, "look", "{}"), call({}, "listen", { to: "me" })] });
  expect(calls(heard([both, stop]))).toEqual([
    ["look", "{}"],
    ["listen", '{"to":"me"}'],
  ]);
});

test("an empty call beside others is dropped, and one with arguments and no name makes the answer incomplete", () => {
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
])("%s without a reason is not an end", (_, payloads) => {
  const error = { code: "model_incomplete", retryable: true };
  expect(heard(payloads).at(-1)).toMatchObject({ type: "error", error });
});

test("chunks after the end are ignored", () => {
  const chat = chatAnswer([]);
  expect(chat.isOver()).toBe(false);
  expect(texts(chat.read([said({ content: "So." }), stop, "[DONE]", said({ content: "And?" })]))).toEqual(["So."]);
  expect(chat.isOver()).toBe(true);
});

test("text before a broken chunk or an error is kept", () => {
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

test("empty data is ignored, and an empty reasoning field does not hide another", () => {
  const events = heard(["", said({ reasoning_content: "", reasoning: "Hm.", content: "" }), stop]);
  expect(events.slice(0, -1)).toEqual([
    { type: "delta", part: 0, kind: "reasoning", text: "Hm." },
    { type: "metadata", part: 0, metadata: { chat: { reasoning: "reasoning" } } },
    { type: "delta", part: 1, kind: "output", text: "Hm." },
  ]);
});

const finish = (finish_reason: unknown, more: object = {}) =>
  JSON.stringify({ choices: [{ index: 0, delta: {}, finish_reason, ...more }] });

test.each([
  ["stop", "stop"],
  ["STOP", "stop"],
  ["eos", "stop"],
  ["normal", "stop"],
  ["end_turn", "stop"],
  ["tool_calls", "tool_calls"],
  ["function_call", "tool_calls"],
  ["length", "length"],
  ["max_tokens", "length"],
  ["time_limit", "length"],
  ["content_filter", "content_filter"],
  ["content_filter: SAFETY", "content_filter"],
])("%s is a known end", (reason, known) => {
  expect(heard([said({ content: "Hello" }), finish(reason), "[DONE]"]).at(-1)).toMatchObject({ finish: known });
});

test.each([
  "error",
  "abort",
  "network_error",
  "malformed_function_call",
  "function_call_filter: MALFORMED",
  "new_word",
])("%s is a retryable error, not an end", (reason) => {
  const error = { code: "model_error", retryable: true, message: expect.stringContaining(reason) };
  const usage = JSON.stringify({ choices: [], usage: { prompt_tokens: 20, completion_tokens: 5 } });
  expect(heard([said({ content: "Hel" }), finish(reason), usage, "[DONE]"]).at(-1)).toMatchObject({
    type: "error",
    error,
    usage: { input_tokens: 20, output_tokens: 5 },
  });
});

test.each([
  ["in the choice", finish("error", { error: { code: 502, message: "Engine died." } })],
  ["as the chunk", JSON.stringify({ object: "error", message: "Engine died.", code: 500 })],
  ["as the event", JSON.stringify({ message: "Engine died.", status_code: 500 })],
  ["as a detail", JSON.stringify({ detail: "Engine died." })],
])("an error %s ends an answer, whatever follows", (_, chunk) => {
  const events = heard([said({ content: "Hel" }), chunk, stop, "[DONE]"]);
  const error = { code: "model_error", message: expect.stringContaining("Engine died."), retryable: true };
  expect(events.slice(1)).toMatchObject([{ type: "error", error }]);
});

test("a later stop does not take back that an answer was cut off, and null as a text is no reason", () => {
  const call_ = said({ tool_calls: [call({ index: 0, id: "a" }, "wipe", "{}")] });
  expect(heard([call_, finish("null"), finish("length"), stop]).at(-1)).toMatchObject({ finish: "length" });
  expect(heard([finish("network_error"), stop]).at(-1)).toMatchObject({ type: "error" });
  expect(heard([finish("null"), "[DONE]"]).at(-1)).toMatchObject({ error: { code: "model_incomplete" } });
});

test("reasoning that is counted beside the answer is added to the output, because it is paid", () => {
  const usage = { prompt_tokens: 20, completion_tokens: 5, completion_tokens_details: { reasoning_tokens: 500 } };
  const counted = (total_tokens: number) =>
    heard([stop, JSON.stringify({ choices: [], usage: { ...usage, total_tokens } })]).at(-1);
  expect(counted(525)).toMatchObject({ usage: { output_tokens: 505, reasoning_tokens: 500 } });
  expect(counted(25)).toMatchObject({ usage: { output_tokens: 5 } });
});

/** A response whose server sends these payloads, and never ends it. */
function endless(...payloads: string[]): Response {
  const start = (controller: ReadableStreamDefaultController) => {
    for (const payload of payloads) controller.enqueue(new TextEncoder().encode(`data: ${payload}\n\n`));
  };
  return new Response(new ReadableStream({ start }));
}

test("the end of a response is not waited for once its answer has a finish reason", async () => {
  const observer = { onByte() {}, onArguments() {} };
  const response = endless(said({ content: "So." }), stop);
  const events = await Array.fromAsync(readChatAnswer(response, { secrets: [], observer, tools: [], grace_ms: 1 }));
  expect([texts(events), events.at(-1)]).toMatchObject([["So."], { type: "done", finish: "stop" }]);
});
