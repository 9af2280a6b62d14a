import { expect, test } from "bun:test";
import { newId } from "../../domain/ids.ts";
import { testActor } from "../../testing/test-actor.ts";
import { type Client, testApp } from "../../testing/test-app.ts";
import { createAgentStore } from "./store.ts";

const draft = { name: "Clerk", instructions: "Be brief.", model: "test/echo" };
const newTool = async (client: Client, name = "look_up") => (await client.post("/v1/tools", { name })).body;

test("an agent is returned as it was created, with defaults for the rest", async () => {
  await using server = testApp();
  const client = await server.client();
  const tool = await newTool(client);
  const created = await client.post("/v1/agents", { ...draft, tools: [tool.id], metadata: { team: "red" } });
  expect(created.status).toBe(201);
  // A copy, because the matcher replaces values in its subject.
  expect(structuredClone(created.body)).toMatchObject({
    ...draft,
    id: expect.stringMatching(/^agt_[0-9a-z]{26}$/),
    object: "agent",
    description: null,
    tools: [{ id: tool.id, name: "look_up", type: "client" }],
    tools_count: 1,
    max_turns: 25,
    model_settings: {},
    output_schema: null,
    version: 1,
    metadata: { team: "red" },
    ...client.scope,
    created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
  });
  const { request_id: _, ...agent } = created.body;
  expect((await client.get(`/v1/agents/${agent.id}`)).body).toMatchObject(agent);
});

test("a list counts the tools and is sorted newest first", async () => {
  await using server = testApp();
  const client = await server.client();
  const tools = [(await newTool(client, "a")).id, (await newTool(client, "b")).id];
  await client.post("/v1/agents", draft);
  await client.post("/v1/agents", { ...draft, name: "Second", tools });
  const { body } = await client.get("/v1/agents?limit=1");
  expect(body).toMatchObject({ object: "list", has_more: true, data: [{ name: "Second", tools: 2 }] });
  expect((await client.get(`/v1/agents?starting_after=${body.last_id}`)).body.data).toMatchObject([
    { name: "Clerk", tools: 0 },
  ]);
});

test("only a change creates a version, and every version stays readable", async () => {
  await using server = testApp();
  const client = await server.client();
  const tool = await newTool(client);
  const { body: agent } = await client.post("/v1/agents", { ...draft, tools: [tool.id] });
  const path = `/v1/agents/${agent.id}`;
  expect((await client.patch(path, { name: "Clerk", tools: [tool.id] })).body.version).toBe(1);
  expect((await client.patch(path, {})).body.version).toBe(1);
  expect((await client.patch(path, { instructions: "Be long.", tools: [], expected_version: 1 })).body).toMatchObject({
    version: 2,
    tools: [],
    name: "Clerk",
  });
  const stale = await client.patch(path, { name: "x", expected_version: 1 });
  expect([stale.status, stale.body.error.code]).toEqual([409, "version_conflict"]);
  await client.delete(`/v1/tools/${tool.id}`);
  expect((await client.get(`${path}/versions/1`)).body).toMatchObject({
    instructions: "Be brief.",
    tools: [{ id: tool.id }],
  });
  const versions = await client.get(`${path}/versions`);
  expect(versions.body.data.map(({ version }: { version: number }) => version)).toEqual([2, 1]);
  const first = await client.get(`${path}/versions?limit=1`);
  expect((await client.get(`${path}/versions?starting_after=${first.body.last_id}`)).body.data).toMatchObject([
    { version: 1 },
  ]);
  expect((await client.get(`${path}/versions/3`)).status).toBe(404);
  expect((await client.get(`${path}/versions?starting_after=9`)).body.error.code).toBe("invalid_cursor");
});

test("optional fields can be cleared", async () => {
  await using server = testApp();
  const client = await server.client();
  const { body: agent } = await client.post("/v1/agents", {
    ...draft,
    description: "d",
    output_schema: { type: "object" },
  });
  const { body } = await client.patch(`/v1/agents/${agent.id}`, { description: null, output_schema: null });
  expect(body).toMatchObject({ description: null, output_schema: null, version: 2 });
});

const guardrails = [
  { type: "pii", on: ["output"], action: "redact", config: { kinds: ["email"] } },
  { type: "secrets", on: ["input", "output"], action: "block", config: {} },
  { type: "llm_judge", on: ["output"], action: "flag", config: { prompt: "Be kind.", model: "test/judge" } },
];

test("guardrails and a budget are returned as they were set, create versions, and can be removed", async () => {
  await using server = testApp();
  const client = await server.client();
  const budget = { max_cost_usd: 0.5, max_tool_calls: 3 };
  const [pii, { config: _, ...secrets }, judge] = guardrails as [object, { config: object }, object];
  const { body: agent } = await client.post("/v1/agents", { ...draft, guardrails: [pii, secrets, judge], budget });
  expect(agent).toMatchObject({ guardrails, budget, version: 1 });
  const path = `/v1/agents/${agent.id}`;
  expect((await client.patch(path, { guardrails, budget })).body.version).toBe(1);
  expect((await client.patch(path, { guardrails: [], budget: null })).body).toMatchObject({
    guardrails: [],
    budget: null,
    version: 2,
  });
  expect((await client.patch(path, { guardrails: null })).body.version).toBe(2);
  expect((await client.get(`${path}/versions/1`)).body).toMatchObject({ guardrails, budget });
  expect((await client.get("/v1/agents")).body.data[0]).toMatchObject({ guardrails: [], budget: null });
});

test("a judge uses a model of its agent's provider, also when the agent or run gets another one", async () => {
  await using server = testApp();
  const client = await server.client();
  await server.connections.put({ name: "openai", provider: "openai", base_url: null, api_key: "sk-test" }, testActor);
  const judged = (model: string) => ({
    type: "llm_judge",
    on: ["output"],
    action: "flag",
    config: { prompt: "x", model },
  });
  const { body: agent } = await client.post("/v1/agents", { ...draft, guardrails: [judged("test/judge")] });
  const model = "openai/gpt-5";
  for (const { status, body } of [
    await client.post("/v1/agents", { ...draft, guardrails: [judged(model)] }),
    await client.patch(`/v1/agents/${agent.id}`, { model }),
    await client.post("/v1/runs", { agent_id: agent.id, input: "x", overrides: { model } }),
  ]) {
    expect(status).toBe(400);
    expect(body.error.param).toBe("guardrails[0].config.model");
  }
  expect((await client.patch(`/v1/agents/${agent.id}`, { model, guardrails: [judged(model)] })).status).toBe(200);
});

test("a run pins the guardrails and the budget, and overrides change neither", async () => {
  await using server = testApp();
  const client = await server.client();
  const budget = { max_tool_calls: 3 };
  const { body: agent } = await client.post("/v1/agents", { ...draft, guardrails, budget });
  const store = createAgentStore({
    memoryFacts: () => null,
    db: server.db,
    audit: { note() {}, forgetOlder: () => 0 },
    modelAvailable: () => true,
    toolSnapshots: () => ({ tools: [], unavailable: [] }),
  });
  expect(store.snapshot(client.scope, agent.id, { instructions: "x" })).toMatchObject({ guardrails, budget });
  const { body: plain } = await client.post("/v1/agents", draft);
  expect(store.snapshot(client.scope, plain.id)).not.toContainAnyKeys(["guardrails", "budget"]);
});

test("an agent from before there were guardrails has none, and reading it is no change", async () => {
  await using server = testApp();
  const client = await server.client();
  const { body: agent } = await client.post("/v1/agents", draft);
  for (const table of ["agents", "agent_versions"])
    server.db.sqlite.run(`UPDATE ${table} SET definition = json_remove(definition, '$.guardrails', '$.budget')`);
  const path = `/v1/agents/${agent.id}`;
  expect((await client.patch(path, { name: draft.name })).body).toMatchObject({
    version: 1,
    guardrails: [],
    budget: null,
  });
  expect((await client.get(`${path}/versions/1`)).body).toMatchObject({ guardrails: [], budget: null });
});

test("an agent allows no protocol by default, and each change of that is a version", async () => {
  await using server = testApp();
  const client = await server.client();
  const { body: agent } = await client.post("/v1/agents", draft);
  expect(agent.doors).toEqual({ mcp: false, a2a: false });
  const path = `/v1/agents/${agent.id}`;
  expect((await client.patch(path, { doors: { mcp: true } })).body).toMatchObject({
    version: 2,
    doors: { mcp: true, a2a: false },
  });
  expect((await client.patch(path, { doors: { mcp: true } })).body.version).toBe(2);
  expect((await client.get(`${path}/versions/1`)).body.doors).toEqual({ mcp: false, a2a: false });
  expect((await client.patch(path, { doors: {} })).body.doors).toEqual({ mcp: false, a2a: false });
  const { status, body } = await client.patch(path, { doors: { ftp: true } });
  expect([status, body.error.code, body.error.param]).toEqual([400, "unknown_parameter", "doors.ftp"]);
  for (const table of ["agents", "agent_versions"])
    server.db.sqlite.run(`UPDATE ${table} SET definition = json_remove(definition, '$.doors')`);
  expect((await client.get(path)).body.doors).toEqual({ mcp: false, a2a: false });
});

test("an input schema must describe objects, and is validated like every schema", async () => {
  await using server = testApp();
  const client = await server.client();
  const input_schema = { type: "object", properties: { n: { type: "integer" } } };
  const made = await client.post("/v1/agents", { ...draft, input_schema });
  expect([made.status, made.body.input_schema]).toEqual([201, input_schema]);
  for (const wrong of [{ type: "string" }, {}, { type: "object", properties: 7 }]) {
    const { status, body } = await client.post("/v1/agents", { ...draft, input_schema: wrong });
    expect([status, body.error.param]).toEqual([400, "input_schema"]);
  }
});

test("a deleted tool is removed from its agents, and a deleted agent is gone", async () => {
  await using server = testApp();
  const client = await server.client();
  const tool = await newTool(client);
  const { body: agent } = await client.post("/v1/agents", { ...draft, tools: [tool.id] });
  await client.delete(`/v1/tools/${tool.id}`);
  expect((await client.get(`/v1/agents/${agent.id}`)).body).toMatchObject({ tools: [], tools_count: 0 });
  const deleted = await client.delete(`/v1/agents/${agent.id}`);
  expect([deleted.status, deleted.body]).toMatchObject([200, { id: agent.id, object: "agent", deleted: true }]);
  expect((await client.delete(`/v1/agents/${agent.id}`)).status).toBe(404);
  expect((await client.get(`/v1/agents/${agent.id}/versions/1`)).status).toBe(404);
});

test.each<[string, object, string, string]>([
  ["a model without a provider", { model: "gpt" }, "model_not_available", "model"],
  ["a provider without a credential", { model: "openai/gpt-5" }, "model_not_available", "model"],
  ["a test model that is not there", { model: "test/none" }, "model_not_available", "model"],
  ["a tool of nobody", { tools: [newId("tool")] }, "validation_failed", "tools[0]"],
  ["a broken output schema", { output_schema: { type: "foo" } }, "validation_failed", "output_schema"],
  ["too many bytes of instructions", { instructions: "ä".repeat(200_000) }, "validation_failed", "instructions"],
  ["too long a name", { name: "x".repeat(129) }, "validation_failed", "name"],
  [
    "17 pairs",
    { metadata: Object.fromEntries(Array.from({ length: 17 }, (_, i) => [i, ""])) },
    "validation_failed",
    "metadata",
  ],
  ["a long key", { metadata: { ["k".repeat(65)]: "" } }, "validation_failed", `metadata.${"k".repeat(65)}`],
  [
    "a guardrail of no type",
    { guardrails: [{ type: "magic", on: ["input"], action: "block" }] },
    "validation_failed",
    "guardrails[0].type",
  ],
  [
    "a pattern with look-around",
    { guardrails: [guardrails[0], { type: "regex", on: ["input"], action: "block", config: { pattern: "(?=a)" } }] },
    "validation_failed",
    "guardrails[1].config.pattern",
  ],
  [
    "a setting of a guardrail that is none",
    { guardrails: [{ ...guardrails[1], config: { level: 1 } }] },
    "unknown_parameter",
    "guardrails[0].config.level",
  ],
  [
    "a judge that is not there",
    { guardrails: [{ ...guardrails[2], config: { prompt: "x", model: "openai/gpt-5" } }] },
    "model_not_available",
    "guardrails[0].config.model",
  ],
  ["a budget of nothing", { budget: { max_cost_usd: 0 } }, "validation_failed", "budget.max_cost_usd"],
  ["an endless budget", { budget: { max_wall_ms: 1e15 } }, "validation_failed", "budget.max_wall_ms"],
  ["a budget of half a call", { budget: { max_tool_calls: 1.5 } }, "validation_failed", "budget.max_tool_calls"],
  [
    "a broken script",
    { model_settings: { script: [{ tool_calls: [{ name: "a" }] }] } },
    "validation_failed",
    "model_settings.script[0].tool_calls[0].arguments",
  ],
])("an agent with %s is refused", async (_, change, code, param) => {
  await using server = testApp();
  const client = await server.client();
  const { status, body } = await client.post("/v1/agents", { ...draft, ...change });
  expect([status, body.error.code, body.error.param]).toEqual([400, code, param]);
  expect((await client.get("/v1/agents")).body.data).toEqual([]);
});

test.each([
  ["openai/gpt-5", "runnel models add openai"],
  ["openai_compatible/gpu/qwen", "runnel models add gpu"],
  ["test/none", "no test model of this name"],
])("the refusal of %s says what is missing: %s", async (model, hint) => {
  await using server = testApp();
  const client = await server.client();
  expect((await client.post("/v1/agents", { ...draft, model })).body.error.message).toContain(hint);
});

test("a live agent cannot have a test model", async () => {
  await using server = testApp();
  const client = await server.client({ environment: "live" });
  expect((await client.post("/v1/agents", draft)).body.error.code).toBe("model_not_available");
});

test("another project's tool cannot be attached", async () => {
  await using server = testApp();
  const [mine, theirs] = [await server.client(), await server.client({ project: "other" })];
  const { body } = await mine.post("/v1/agents", { ...draft, tools: [(await newTool(theirs)).id] });
  expect(body.error).toMatchObject({ code: "validation_failed", param: "tools[0]" });
});

test("a key restricted to some agents sees no others", async () => {
  await using server = testApp();
  const admin = await server.client();
  const [{ body: one }, { body: two }] = [await admin.post("/v1/agents", draft), await admin.post("/v1/agents", draft)];
  const some = await server.client({ scopes: ["read"], agent_ids: [one.id] });
  expect((await some.get(`/v1/agents/${one.id}`)).status).toBe(200);
  expect((await some.get(`/v1/agents/${two.id}`)).status).toBe(404);
  expect((await some.get(`/v1/agents/${two.id}/versions`)).status).toBe(404);
  expect((await some.get("/v1/agents")).body.data).toHaveLength(1);
});

test("a key restricted to agents runs them only with the tools and models of these agents", async () => {
  await using server = testApp();
  const admin = await server.client();
  const [own, foreign] = [
    (await admin.post("/v1/tools", { name: "own" })).body,
    (await admin.post("/v1/tools", { name: "foreign" })).body,
  ];
  const make = async (more: object) =>
    (await admin.post("/v1/agents", { name: "a", instructions: "", model: "test/echo", ...more })).body;
  const [mine, plain] = [await make({ tools: [own.id] }), await make({})];
  await make({ tools: [foreign.id], model: "test/script", model_settings: { script: [{ text: "Hi." }] } });
  const bound = await server.client({ scopes: ["run"], agent_ids: [mine.id, plain.id] });
  const run = (client: typeof bound, overrides: object) =>
    client.post("/v1/runs?wait=60", { agent_id: plain.id, input: "Hi", overrides });
  const allowed = { tools: [own.id], model: "test/echo", instructions: "Briefly.", max_turns: 2 };
  expect((await run(bound, allowed)).status).toBe(201);
  for (const [overrides, code, param] of [
    [{ tools: [own.id, foreign.id] }, "validation_failed", "overrides.tools[1]"],
    [{ model: "test/script" }, "model_not_available", "overrides.model"],
  ] as const) {
    expect((await run(bound, overrides)).body.error).toMatchObject({ code, param });
    expect((await run(admin, overrides)).status).toBe(201);
  }
});
