import { describe, expect, test } from "bun:test";
import type { Agent as FullAgent } from "../../../../server/resources/agents/schema.ts";
import {
  agentChanges,
  changedWords,
  draftOf,
  faultsOf,
  hasChanges,
  modelHint,
  readsThreadHistory,
  rebaseDraftOn,
  runParts,
  unsavedChangeLabels,
  withParallel,
} from "./draft.ts";
import { presetAgent, presets } from "./new-agent.tsx";
import { readPlaygroundSearch } from "./read-playground-search.ts";
import { isOpen, newTurn, requestsOf, turnOf } from "./turn.ts";
import { parseStoredDraft } from "./use-draft.ts";

const at = "2026-11-01T00:00:00.000Z";
const agent: FullAgent = {
  id: "agt_1",
  name: "Desk",
  instructions: "Help.",
  model: "openai/gpt-4.1",
  model_settings: { temperature: 0.5, parallel_tool_calls: false },
  tools: [{ id: "tool_1", name: "look", type: "http" }],
  max_turns: 25,
  skills: [],
  memory: {
    stores: [],
    history: { mode: "none", max_messages: 20 },
    context: { strategy: "compact", reserve_output_tokens: 1000, tool_output_max_bytes: 20_000 },
  },
  version: 7,
  object: "agent",
  description: null,
  tools_count: 1,
  output_schema: null,
  guardrails: [],
  handoffs: [],
  provider_tools: [],
  variables: [],
  snippets: [],
  budget: null,
  tool_loading: "auto",
  prompt_caching: "auto",
  input_schema: null,
  doors: { mcp: false, a2a: false },
  metadata: {},
  created_at: at,
  updated_at: at,
  project_id: "proj_1",
  environment: "test",
};
const draft = draftOf(agent);
const reading = { ...agent.memory!, history: { mode: "thread" as const, max_messages: 20 } };

describe("an agent draft", () => {
  test("equals the agent while nothing is changed", () => {
    for (const memory of [agent.memory, reading, null]) expect(runParts({ ...agent, memory }, draft)).toEqual({});
    expect(agentChanges(agent, draft)).toBeNull();
    expect(unsavedChangeLabels(agent, draft)).toEqual([]);
    expect(faultsOf(draft)).toEqual({});
  });

  test("gives runs the changes that they can override, and no others", () => {
    const changed = {
      ...draft,
      instructions: "Be brief.",
      tools: [],
      max_turns: "3",
      run_cost_usd: "0.1",
      user: " ada ",
      temperature: "1",
    };
    expect(runParts(agent, changed)).toEqual({
      overrides: {
        instructions: "Be brief.",
        tools: [],
        max_turns: 3,
        model_settings: { temperature: 1 },
      },
      budget: { max_cost_usd: 0.1 },
      user_id: "ada",
    });
    expect(unsavedChangeLabels(agent, changed)).toEqual([]);
  });

  test("gives runs no setting that they cannot override: a removed one, a higher output limit, a script", () => {
    const limited = { ...agent, model_settings: { ...agent.model_settings, max_output_tokens: 100 } };
    const changed = { ...draftOf(limited), temperature: "", max_output_tokens: "200", script: "[]" };
    expect(runParts(limited, changed)).toEqual({});
    expect(unsavedChangeLabels(limited, changed)).toEqual(["temperature", "output limit", "script"]);
    const lower = { ...changed, max_output_tokens: "50" };
    expect(runParts(limited, lower).overrides).toMatchObject({ model_settings: { max_output_tokens: 50 } });
  });

  test("uses the agent's thread memory in its runs unless it is switched", () => {
    const [reads, forgets] = [true, false].map((remembers) => ({ ...draft, remembers }));
    const modes = [agent.memory, reading, null].map((memory) =>
      [draft, reads!, forgets!].map((each) => runParts({ ...agent, memory }, each).overrides?.history?.mode),
    );
    expect(modes).toEqual([
      [undefined, "thread", undefined],
      [undefined, undefined, "none"],
      [undefined, "thread", undefined],
    ]);
    expect([agent.memory, reading, null].map((memory) => readsThreadHistory({ memory }, draft))).toEqual([
      false,
      true,
      false,
    ]);
    expect(agentChanges(agent, forgets!)).toBeNull();
  });

  test("gives the other side of a comparison its own model", () => {
    expect(runParts(agent, draft, "test/echo").overrides).toMatchObject({ model: "test/echo" });
  });

  test("asks a chosen model alone, and the agent's own with its fallback models", () => {
    const several = { ...agent, models: [agent.model, "anthropic/claude-sonnet-4-5", "test/echo"] };
    const [own, chosen] = [draftOf(several), { ...draftOf(several), model: "test/echo" }];
    expect([runParts(several, own), runParts(several, chosen)]).toEqual([{}, { overrides: { model: "test/echo" } }]);
    expect([modelHint(agent, draft), modelHint(several, own), modelHint(several, chosen)]).toEqual([
      undefined,
      "If it cannot answer, the next one is asked: anthropic/claude-sonnet-4-5, test/echo.",
      "Runs here ask this model alone.",
    ]);
  });

  test("is saved with each of its models once, also if a fallback model became the first", () => {
    const several = { ...agent, models: [agent.model, "anthropic/claude-sonnet-4-5", "test/echo"] };
    const models = ["test/echo", "anthropic/claude-sonnet-4-5"];
    expect(agentChanges(several, { ...draftOf(several), model: "test/echo" })).toEqual({ model: models[0], models });
    const two = { ...agent, models: [agent.model, "test/echo"] };
    expect(agentChanges(two, { ...draftOf(two), model: "test/echo" })).toEqual({ model: "test/echo" });
  });

  test("compares models, not their fallback models", () => {
    const several = { ...agent, models: [agent.model, "test/echo"] };
    const sides = [agent.model, "test/echo"].map((model) => runParts(several, draftOf(several), model));
    expect(sides).toEqual([{ overrides: { model: agent.model } }, { overrides: { model: "test/echo" } }]);
    expect(runParts(agent, draft, agent.model)).toEqual({});
  });

  test("is saved whole: untouched settings stay and emptied ones are removed", () => {
    expect(agentChanges(agent, { ...draft, temperature: "", max_output_tokens: "100" })).toEqual({
      model_settings: { parallel_tool_calls: false, max_output_tokens: 100 },
    });
    expect(agentChanges(agent, { ...draft, ...withParallel(agent, true) })).toEqual({
      model_settings: { temperature: 0.5, parallel_tool_calls: true },
    });
    expect(agentChanges(agent, { ...draft, run_cost_usd: "1", user: "ada" })).toBeNull();
    expect(agentChanges(agent, { ...draft, ...withParallel(agent, false) })).toBeNull();
  });

  test("reports invalid values", () => {
    const faults = faultsOf({ ...draft, temperature: "hot", max_turns: "0", model: " ", max_output_tokens: "1.5" });
    expect(Object.keys(faults).sort()).toEqual(["max_output_tokens", "max_turns", "model", "temperature"]);
    expect(faultsOf({ ...draft, model: "test/script", script: "{" })).toHaveProperty("script");
    expect(faultsOf({ ...draft, script: "{" })).toEqual({});
  });
});

describe("a version saved elsewhere", () => {
  const written = { ...draft, instructions: "Be brief.", run_cost_usd: "1", user: "ada" };
  const newer = { ...agent, version: 9, instructions: "Be kind.", max_turns: 3 };

  test("overwrites no local change and updates all other fields", () => {
    const both = rebaseDraftOn(newer, written, draft);
    expect(both).toMatchObject({ instructions: "Be brief.", max_turns: "3", run_cost_usd: "1" });
    expect(agentChanges(newer, both)).toEqual({ instructions: "Be brief." });
    expect(changedWords(draft, draftOf(newer))).toEqual(["instructions", "model calls"]);
  });

  test("keeps changes that were made while its own version was saved", () => {
    const saved = { ...agent, version: 8, instructions: "Be brief." };
    expect(rebaseDraftOn(saved, written, written)).toEqual({
      ...draftOf(saved),
      run_cost_usd: "1",
      user: "ada",
    });
    expect(rebaseDraftOn(saved, { ...written, model: "test/echo" }, written).model).toBe("test/echo");
    expect(hasChanges(written, saved)).toBeFalse();
    expect(hasChanges(written, agent)).toBeTrue();
  });

  test("restores a stored draft with the version it was based on", () => {
    const kept = JSON.stringify({ base: agent, draft: written });
    expect(parseStoredDraft(kept, newer)).toEqual({ base: agent, draft: written });
    expect(parseStoredDraft(kept, { ...agent, version: 6 })).toBeNull();
    expect(parseStoredDraft(kept, { ...newer, id: "agt_2" })).toBeNull();
    for (const none of [null, "{", "[]", '{"base":{"id":"agt_1","version":7}}', "null"])
      expect(parseStoredDraft(none, agent)).toBeNull();
  });
});

test("an address keeps only valid values", () => {
  const kept = {
    agent: "agt_1",
    compare: "test/echo",
    thread: "thr_1",
    other: "thr_2",
    code: "off",
    pane: "agent",
  } as const;
  expect(readPlaygroundSearch({ ...kept, x: 1 })).toEqual(kept);
  expect(readPlaygroundSearch({ agent: "../x", thread: "run_1", code: "maybe", pane: 3 })).toEqual({});
});

test("the code shows the next run while a message is written, otherwise the last run with its answers", () => {
  const body = { agent_id: "agt_1", input: "Hi", stream: true } as const;
  const turn = { ...newTurn("1", "Hi", body, "run_1"), answers: [{ tool_call_id: "call_1", output: 1 }] };
  expect(requestsOf({ ...body, input: "" }, turn).map(({ path }) => path)).toEqual([
    "/v1/runs",
    "/v1/runs/run_1/submit_tool_outputs",
  ]);
  expect(requestsOf({ ...body, input: "Next" }, turn)).toEqual([
    { method: "POST", path: "/v1/runs", body: { ...body, input: "Next" }, stream: true },
  ]);
  expect(requestsOf({ ...body, input: "" }, undefined)[0]?.body).toEqual({ ...body, input: "Hello" });
});

test("the code shows a message to the run while one works", () => {
  const body = { agent_id: "agt_1", input: "Shorter", stream: true } as const;
  const content = { role: "user", content: "Shorter" };
  const request = { method: "POST", path: "/v1/runs/run_1/messages", body: content } as const;
  expect(requestsOf(body, newTurn("1", "Hi", body, "run_1"), "run_1")).toEqual([request]);
});

test("the API accepts every preset", () => {
  const written = { name: "A", instructions: "I", model: "openai/gpt-4.1" };
  expect(presets.map((preset) => presetAgent(preset, written, "tool_1").model)).toEqual([
    "openai/gpt-4.1",
    "test/script",
    "test/echo",
  ]);
});

test("a run that was over when it was read is no open turn, although its events are not here yet", () => {
  const run = (status: string) => ({ id: "run_1", input: "Hi", status }) as Parameters<typeof turnOf>[0];
  for (const status of ["completed", "failed", "cancelled"]) expect(isOpen(turnOf(run(status)))).toBeFalse();
  for (const status of ["queued", "in_progress", "requires_action"]) expect(isOpen(turnOf(run(status)))).toBeTrue();
});
