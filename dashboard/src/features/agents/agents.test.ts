import { expect, test } from "bun:test";
import {
  assignAgentErrors,
  changedFields,
  changesOf,
  creationOf,
  draftOf,
  fallbackFaults,
  readDraft,
  restorationOf,
} from "../../entities/agent/agent-draft.ts";
import { type Definition, isSame } from "../../entities/agent/definition.ts";
import { pickStores, readPolicy } from "../../entities/agent/policy.ts";
import { rebaseDraft } from "../../hooks/use-draft.ts";
import { ApiError } from "../../lib/api.ts";

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
  handoffs: [],
  provider_tools: [],
  variables: [],
  snippets: [],
  budget: { max_tool_calls: 3 },
  skills: [],
  memory: null,
  tool_loading: "auto",
  prompt_caching: "auto",
  input_schema: null,
  doors: { mcp: false, a2a: false },
  metadata: {},
};

test("an unedited agent has no changes", () => {
  expect(changesOf(draftOf(agent), agent)).toEqual({});
  expect(readDraft(draftOf(agent)).faults).toEqual({});
});

test("only changed fields are sent, in the API's format", () => {
  const draft = { ...draftOf(agent), temperature: "", max_turns: "3", max_tool_calls: "", tools: [] };
  expect(changesOf(draft, agent)).toEqual({ model_settings: {}, max_turns: 3, budget: null, tools: [] });
});

test("creating an agent sends no field that has its default value", () => {
  const draft = { ...draftOf(), name: " Desk ", instructions: "Help.", model: "test/echo" };
  expect(creationOf(draft)).toEqual({ name: "Desk", instructions: "Help.", model: "test/echo" });
});

test("a value that cannot be parsed is reported at its field", () => {
  const draft = { ...draftOf(), temperature: "warm", guardrails: "{}", memory: "[", output_schema: "[]" };
  expect(Object.keys(readDraft(draft).faults).sort()).toEqual(
    ["guardrails", "instructions", "memory", "model", "name", "output_schema", "temperature"].sort(),
  );
});

test("restoring a version leaves out deleted tools", () => {
  expect(restorationOf(agent, () => false)).toMatchObject({ name: "Desk", tools: [], memory: null });
  expect(restorationOf(agent, () => true)).toMatchObject({ tools: ["tool_1"] });
});

test("changed fields are found regardless of the order of keys", () => {
  const other = { ...agent, model: "test/slow", model_settings: { temperature: 0.2 }, metadata: { a: "1" } };
  expect(changedFields(agent, other)).toEqual(["model", "metadata"]);
  expect(isSame({ a: 1, b: [{ c: 2, d: 3 }] }, { b: [{ d: 3, c: 2 }], a: 1 })).toBe(true);
});

test("the server's errors appear at the fields that they name", () => {
  const refused = [
    { param: "guardrails[2].config.pattern", message: "Not RE2." },
    { param: "model_settings.temperature", message: "Must be at most 2." },
    { param: null, message: "Something else." },
  ];
  const { faults, rest } = assignAgentErrors(new ApiError(400, "validation_failed", "", null, refused), draftOf());
  expect(faults).toEqual({
    guardrails: "guardrails[2].config.pattern: Not RE2.",
    temperature: "model_settings.temperature: Must be at most 2.",
  });
  expect(rest).toEqual(["Something else."]);
});

test("a refused model is marked in its own row, also beside empty rows and repeated models", () => {
  const refused = [
    { param: "models[0]", message: "No such model." },
    { param: "models[1]", message: "models[1]: Unknown provider." },
    { param: "models[2]", message: "Not connected." },
  ];
  const draft = { ...draftOf(), model: "a/b", fallbacks: ["a/b", " ", "c/d", "c/d", "e/f"] };
  const { faults } = assignAgentErrors(new ApiError(400, "validation_failed", "", null, refused), draft);
  expect(readDraft(draft).body.models).toEqual(["a/b", "c/d", "e/f"]);
  expect(faults.model).toBe("No such model.");
  expect(fallbackFaults(draft, faults.fallbacks ?? "")).toEqual([
    undefined,
    undefined,
    "Unknown provider.",
    undefined,
    "Not connected.",
  ]);
  expect(fallbackFaults(draft, "Must be at most 8.")[2]).toBe("Must be at most 8.");
});

test("an agent without a memory policy keeps none, and a new agent gets the default", () => {
  const draft = draftOf(agent);
  expect(readPolicy(draft.memory)).toEqual({ history: { mode: "none" } });
  expect(changesOf({ ...draft, name: "Bureau" }, agent)).toEqual({ name: "Bureau" });
  expect(changesOf({ ...draft, memory: "" }, agent)).toEqual({ memory: {} });
  expect(creationOf({ ...draftOf(), name: "Desk", instructions: "Help.", model: "test/echo" })).not.toHaveProperty(
    "memory",
  );
});

test("the memory form keeps settings that only the JSON contains", () => {
  const policy = readPolicy('{"stores": [{"memory_id": "mem_1", "top_k": 3}], "context": {"strategy": "fail"}}');
  expect(pickStores(policy ?? {}, ["mem_1", "mem_2"])).toEqual({
    stores: [{ memory_id: "mem_1", top_k: 3 }, { memory_id: "mem_2" }],
    context: { strategy: "fail" },
  });
  expect(readPolicy("[")).toBeNull();
  expect(readPolicy("")).toEqual({});
});

test("unsaved edits are rebased onto a version saved meanwhile", () => {
  const newer: Definition = {
    ...agent,
    model: "test/script",
    model_settings: { temperature: 0.2, max_output_tokens: 9 },
  };
  const draft = rebaseDraft(
    { ...draftOf(agent), description: "Mine", temperature: "1" },
    draftOf(agent),
    draftOf(newer),
  );
  expect(changesOf(draft, newer)).toEqual({
    description: "Mine",
    model_settings: { temperature: 1, max_output_tokens: 9 },
  });
});
