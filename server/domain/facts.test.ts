import { expect, test } from "bun:test";
import { factChanges, learningAgent, learningInput, learningStore } from "./facts.ts";
import { limits } from "./limits.ts";

const known = [
  { id: "a", text: "Lives in Oslo." },
  { id: "b", text: "Has a dog." },
  { id: "c", text: "Is a nurse." },
];
const nothing = { add: [], replace: [], forget: [] };

test("new facts are added, contradicted ones replaced, and forgotten ones deleted", () => {
  const output = { add: ["Likes tea."], replace: [{ fact: 1, text: "Lives in Bergen." }], forget: [2] };
  expect(factChanges(output, known, 10)).toEqual({ gone: ["b", "a"], fresh: ["Lives in Bergen.", "Likes tea."] });
});

test("unknown numbers, empty texts and known facts change nothing", () => {
  const output = {
    add: ["  ", "Has a dog.", "New.", "New. "],
    replace: [{ fact: 9, text: "Nobody." }],
    forget: [0, 7],
  };
  expect(factChanges(output, known, 10)).toEqual({ gone: [], fresh: ["New."] });
});

test("a forgotten fact is not replaced too, and long texts are cut", () => {
  const replace = [
    { fact: 1, text: "x".repeat(2 * limits.fact_length) },
    { fact: 2, text: "Has a cat." },
  ];
  expect(factChanges({ ...nothing, replace, forget: [2] }, known, 10)).toEqual({
    gone: ["b", "a"],
    fresh: ["x".repeat(limits.fact_length)],
  });
});

test("facts are added only while there is room, except those that replace another", () => {
  const output = { add: ["1", "2", "3"], replace: [{ fact: 1, text: "0" }], forget: [] };
  expect(factChanges(output, known, 1).fresh).toEqual(["0", "1"]);
  expect(factChanges(output, known, -5).fresh).toEqual([]);
});

test.each([null, "text", {}, { add: "x", replace: [], forget: [] }, { ...nothing, more: 1 }])(
  "an answer of another form changes nothing: %p",
  (output) => expect(factChanges(output, known, 10)).toEqual({ gone: [], fresh: [] }),
);

test("the learning agent has the model of the run's agent, but not its tools, guardrails and memory", () => {
  const store = { memory_id: "m", access: "read", auto_retrieve: true, top_k: 6, score_threshold: 0 } as const;
  const stores = [{ ...store, name: "facts", kind: "vector", scope: "user", learn: true } as const];
  const agent = {
    id: "agt",
    version: 3,
    name: "a",
    model: "test/echo",
    instructions: "Sell.",
    max_turns: 50,
    tools: [],
    settings: { seed: 1, tool_choice: "required", stop: ["."] } as const,
    output_schema: null,
    guardrails: [],
    memory: { stores, history: { mode: "thread", max_messages: 9 } as const, context: {} as never },
  };
  expect(learningStore(agent)).toEqual(stores[0]!);
  const own = learningAgent({ ...agent, settings: { seed: 1, tool_choice: "required", stop: ["."] } });
  expect(own).toMatchObject({ model: "test/echo", settings: { seed: 1 }, tools: [], max_turns: 2 });
  expect(own).not.toContainAnyKeys(["memory", "guardrails"]);
  expect(own.instructions).not.toContain("Sell.");
  expect(learningStore(own)).toBeNull();
  expect(JSON.parse(learningInput(known, { user: "Hi.", assistant: "Hello." }))).toEqual({
    known: known.map(({ text }, index) => ({ fact: index + 1, text })),
    conversation: [
      { role: "user", content: "Hi." },
      { role: "assistant", content: "Hello." },
    ],
  });
});
