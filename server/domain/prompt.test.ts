import { expect, test } from "bun:test";
import {
  answer,
  asks,
  compacted,
  completed,
  created,
  started,
  stateOf,
  text,
  toolDone,
  turnWithCalls,
} from "./__fixtures__/events.ts";
import type { AgentSnapshot } from "./agent-snapshot.ts";
import { conversation, modelRequest, toolText } from "./prompt.ts";
import type { RunEvent } from "./run-event.ts";

const agent: AgentSnapshot = {
  id: "agt_1",
  version: 1,
  name: "Agent",
  model: "test/script",
  instructions: "Be brief.",
  settings: { temperature: 0 },
  tools: [],
  max_turns: 5,
  output_schema: null,
};

test("results stand in the order of the calls, whichever came first", () => {
  const calls = turnWithCalls(["a", null], ["b", null], ["c", null]);
  const [a, b, c] = [toolDone("a", 1, { output: "A" }), toolDone("b", 2), toolDone("c", 3, { output: null })];
  const messages = conversation(stateOf(...calls, ...c, ...a, ...b));
  expect(messages).toEqual(conversation(stateOf(...calls, ...a, ...b, ...c)));
  expect(messages.slice(2)).toEqual([
    { role: "tool", call_id: "a", tool: "tool_of_a", output: "A", is_error: false },
    { role: "tool", call_id: "b", tool: "tool_of_b", output: '{"ok":true}', is_error: false },
    { role: "tool", call_id: "c", tool: "tool_of_c", output: "null", is_error: false },
  ]);
});

test("a provider gets its own signatures back as they came", () => {
  const parts = [
    { type: "reasoning" as const, text: "hm", metadata: { anthropic: { signature: "s" } } },
    { ...asks("a"), metadata: { google: { thoughtSignature: "t" } } },
  ];
  const state = stateOf(created(), started(0), completed(0, { answer: answer(parts) }));
  expect(conversation(state)[1]).toEqual({ role: "assistant", parts });
});

test("the model can read the error", () => {
  expect(toolText({ output: null, error: { code: "http_error", message: "Status 500." } })).toEqual({
    output: "Error (http_error): Status 500.",
    is_error: true,
  });
});

test("an answer without a word is no message", () => {
  expect(conversation(stateOf(created(), started(0), completed(0, { answer: answer([]) })))).toHaveLength(1);
});

test("the same journal gives the same prompt, byte for byte", () => {
  const events = [...turnWithCalls(["a", null], ["b", null]), ...toolDone("b", 2), ...toolDone("a", 1)];
  const request = JSON.stringify(modelRequest(stateOf(...events), agent));
  expect(JSON.stringify(modelRequest(stateOf(...structuredClone(events)), structuredClone(agent)))).toBe(request);
  expect(JSON.parse(request)).toMatchObject({
    messages: [{ role: "system", content: "Be brief." }, { role: "user", content: "Hello" }, {}, {}, {}],
    settings: { temperature: 0 },
  });
});

test("an output_schema is named only where the agent has one", () => {
  expect(modelRequest(stateOf(created()), agent)).not.toHaveProperty("output_schema");
  const schema = { type: "object" };
  expect(modelRequest(stateOf(created()), { ...agent, output_schema: schema }).output_schema).toEqual(schema);
});

test("a script advances by the answers of the run itself, whatever precedes it or is left out", () => {
  const script = [{ text: "one" }, { text: "two" }];
  const scripted = { ...agent, settings: { script } };
  const settingsAfter = (...events: RunEvent[]) => modelRequest(stateOf(...events), scripted).settings;
  const answered = [started(0), completed(0, { answer: answer([text("one")]) })];
  const before: RunEvent = { type: "history.loaded", messages: [{ role: "assistant", parts: [text("Hello.")] }] };
  expect(settingsAfter(created(), ...answered)).toEqual({ script }); // Older journals have no settings of their own.
  expect(settingsAfter(created(), before)).toEqual({ script, script_at: 0 });
  expect(settingsAfter(created(), before, ...answered)).toEqual({ script, script_at: 1 });
  expect(settingsAfter(created(), ...answered, compacted(1, { left_out: 1 }))).toEqual({ script, script_at: 1 });
});
