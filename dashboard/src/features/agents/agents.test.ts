import { expect, test } from "bun:test";
import {
  blameAgent,
  changedFields,
  changesOf,
  creationOf,
  draftOf,
  readDraft,
  restorationOf,
} from "../../entities/agent/agent-draft.ts";
import { type Definition, isSame } from "../../entities/agent/definition.ts";
import { pickStores, readPolicy } from "../../entities/agent/policy.ts";
import { ApiError } from "../../lib/api.ts";
import { rebased } from "../../lib/use-edited.ts";

const agent: Definition = {
  name: "Desk",
  description: null,
  instructions: "Help.",
  model: "test/echo",
  model_settings: { temperature: 0.2 },
  tools: [{ id: "tool_1", name: "find", type: "client" }],
  max_turns: 25,
  output_schema: null,
  guardrails: [],
  budget: { max_tool_calls: 3 },
  memory: null,
  input_schema: null,
  doors: { mcp: false, a2a: false },
  metadata: {},
};

test("an agent that nobody has touched has no changes", () => {
  expect(changesOf(draftOf(agent), agent)).toEqual({});
  expect(readDraft(draftOf(agent)).faults).toEqual({});
});

test("only what is different is sent, as the API takes it", () => {
  const draft = { ...draftOf(agent), temperature: "", max_turns: "3", max_tool_calls: "", tools: [] };
  expect(changesOf(draft, agent)).toEqual({ model_settings: {}, max_turns: 3, budget: null, tools: [] });
});

test("a new agent is sent without what has its default", () => {
  const draft = { ...draftOf(), name: " Desk ", instructions: "Help.", model: "test/echo" };
  expect(creationOf(draft)).toEqual({ name: "Desk", instructions: "Help.", model: "test/echo" });
});

test("what cannot be read is told at its field", () => {
  const draft = { ...draftOf(), temperature: "warm", guardrails: "{}", memory: "[", output_schema: "[]" };
  expect(Object.keys(readDraft(draft).faults).sort()).toEqual(
    ["guardrails", "instructions", "memory", "model", "name", "output_schema", "temperature"].sort(),
  );
});

test("a version comes back without the tools that are gone", () => {
  expect(restorationOf(agent, () => false)).toMatchObject({ name: "Desk", tools: [], memory: null });
  expect(restorationOf(agent, () => true)).toMatchObject({ tools: ["tool_1"] });
});

test("the fields in which two versions differ are told, whatever the order of keys", () => {
  const other = { ...agent, model: "test/slow", model_settings: { temperature: 0.2 }, metadata: { a: "1" } };
  expect(changedFields(agent, other)).toEqual(["model", "metadata"]);
  expect(isSame({ a: 1, b: [{ c: 2, d: 3 }] }, { b: [{ d: 3, c: 2 }], a: 1 })).toBe(true);
});

test("the server's faults stand at the fields that they speak of", () => {
  const refused = [
    { param: "guardrails[2].config.pattern", message: "Not RE2." },
    { param: "model_settings.temperature", message: "Expected at most 2." },
    { param: null, message: "Something else." },
  ];
  const { faults, rest } = blameAgent(new ApiError(400, "validation_failed", "", null, refused), draftOf());
  expect(faults).toEqual({
    guardrails: "guardrails[2].config.pattern: Not RE2.",
    temperature: "model_settings.temperature: Expected at most 2.",
  });
  expect(rest).toEqual(["Something else."]);
});

test("an agent without a memory policy keeps having none, and a new one gets the default", () => {
  const draft = draftOf(agent);
  expect(readPolicy(draft.memory)).toEqual({ history: { mode: "none" } });
  expect(changesOf({ ...draft, name: "Bureau" }, agent)).toEqual({ name: "Bureau" });
  expect(changesOf({ ...draft, memory: "" }, agent)).toEqual({ memory: {} });
  expect(creationOf({ ...draftOf(), name: "Desk", instructions: "Help.", model: "test/echo" })).not.toHaveProperty(
    "memory",
  );
});

test("a memory policy of the form keeps what only its JSON says", () => {
  const policy = readPolicy('{"stores": [{"memory_id": "mem_1", "top_k": 3}], "context": {"strategy": "fail"}}');
  expect(pickStores(policy ?? {}, ["mem_1", "mem_2"])).toEqual({
    stores: [{ memory_id: "mem_1", top_k: 3 }, { memory_id: "mem_2" }],
    context: { strategy: "fail" },
  });
  expect(readPolicy("[")).toBeNull();
  expect(readPolicy("")).toEqual({});
});

test("what was typed stands upon what somebody else saved meanwhile", () => {
  const newer: Definition = {
    ...agent,
    model: "test/script",
    model_settings: { temperature: 0.2, max_output_tokens: 9 },
  };
  const draft = rebased({ ...draftOf(agent), description: "Mine", temperature: "1" }, draftOf(agent), draftOf(newer));
  expect(changesOf(draft, newer)).toEqual({
    description: "Mine",
    model_settings: { temperature: 1, max_output_tokens: 9 },
  });
});
