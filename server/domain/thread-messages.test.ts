import { expect, test } from "bun:test";
import {
  answer,
  asks,
  completed,
  created,
  requested,
  started,
  stateOf,
  text,
  toolDone,
  turnWithCalls,
  usage,
} from "./__fixtures__/events.ts";
import type { RunEvent } from "./run-event.ts";
import { threadMessages } from "./thread-messages.ts";
import { noUsage } from "./usage.ts";

const cancelled: RunEvent = { type: "run.cancelled", reason: null, output: null, usage: noUsage };
const promptsOf = (...events: RunEvent[]) => threadMessages(stateOf(...events)).map(({ prompt }) => prompt);

test("results follow the answer with their calls, in the order of the calls", () => {
  const prompts = promptsOf(
    ...turnWithCalls(["a", null], ["b", null]),
    ...toolDone("b", 2),
    ...toolDone("a", 1),
    cancelled,
  );
  expect(prompts.map((prompt) => (prompt.role === "tool" ? prompt.call_id : prompt.role))).toEqual([
    "user",
    "assistant",
    "a",
    "b",
  ]);
});

test("calls without a result are left out, and their text is kept", () => {
  const parts = [text("I look."), asks("a"), asks("b")];
  const asked = [created(), started(0), completed(0, { answer: answer(parts) }), requested("a", 1), requested("b", 2)];
  for (const events of [asked, [...asked, ...toolDone("a", 1)]])
    expect(promptsOf(...events, cancelled)).toEqual([
      { role: "user", content: "Hello" },
      { role: "assistant", parts: [text("I look.")] },
    ]);
  const silent = [created(), started(0), completed(0, { answer: answer([asks("a")]) }), requested("a", 1), cancelled];
  expect(promptsOf(...silent)).toEqual([{ role: "user", content: "Hello" }]);
});

test("later runs get neither reasoning nor provider signatures, because they may have another model", () => {
  const signature = { openai: { itemId: "rs_1" } };
  const parts = [
    { type: "reasoning" as const, text: "Hm.", metadata: signature },
    { type: "text" as const, text: "Hi.", metadata: signature },
  ];
  const prompts = promptsOf(created(), started(0), completed(0, { answer: answer(parts, { usage }) }), cancelled);
  expect(prompts.at(-1)).toEqual({ role: "assistant", parts: [text("Hi.")] });
});

test("an input that a guardrail blocked leaves nothing, and a blocked answer leaves the input", () => {
  const blockedOn = (on: "input" | "output"): RunEvent => ({
    type: "run.failed",
    error: {
      type: "run_error",
      code: "guardrail_blocked",
      message: "",
      step_index: null,
      retryable: false,
      guardrail: { index: 0, type: "regex", on },
    },
    output: null,
    usage: noUsage,
  });
  expect(promptsOf(created(), blockedOn("input"))).toEqual([]);
  expect(promptsOf(created(), blockedOn("output"))).toEqual([{ role: "user", content: "Hello" }]);
});
