import { afterAll, beforeAll, expect, test } from "bun:test";
import type { ScriptEntry } from "../../domain/model-call.ts";
import { capsuleOf, exportOf, importCapsule } from "../../testing/capsules.ts";
import type { Answer } from "../../testing/expect-declared.ts";
import { type Client, type TestApp, testApp } from "../../testing/test-app.ts";

let server: TestApp;
let client: Client;
beforeAll(async () => {
  server = testApp();
  client = await server.client();
});
afterAll(() => server[Symbol.asyncDispose]());

const look = {
  type: "client",
  name: "look",
  description: "Looks at a place.",
  parameters: { type: "object", properties: { at: { type: "string" } }, required: ["at"] },
};
const asking = [{ tool_calls: [{ name: "look", arguments: { at: "Oslo" } }] }, { text: "Rain." }];

async function newAgent(script: ScriptEntry[], more: object = {}): Promise<string> {
  const model = { model: "test/script", model_settings: { script } };
  const { body } = await client.post("/v1/agents", { name: "a", instructions: "Be kind.", ...model, ...more });
  expect(body.error ?? null).toBeNull();
  return body.id;
}
const ran = async (body: object, by = client): Promise<Answer["body"]> =>
  (await by.post("/v1/runs?wait=60", { input: "Go.", ...body })).body;
const promptOf = async (id: string): Promise<Answer["body"]> =>
  (await client.get(`/v1/traces/${id}?include=prompt`)).body.steps.flatMap(
    ({ prompt }: Answer["body"]) => prompt ?? [],
  )[0];

test("a run calls a tool from its request, and continues with the client's output", async () => {
  const run = await ran({ agent_id: await newAgent(asking), tools: [look] });
  const [call] = run.required_action.submit_tool_outputs.tool_calls;
  expect(call).toMatchObject({ name: "look", tool_id: null, arguments: { at: "Oslo" }, needs: "output" });
  expect(run.tool_calls[0]).toMatchObject({ type: "client", status: "awaiting_output" });
  const tool_outputs = [{ tool_call_id: call.tool_call_id, output: "Wet." }];
  await client.post(`/v1/runs/${run.id}/submit_tool_outputs`, { tool_outputs });
  const done = (await client.get(`/v1/runs/${run.id}`)).body;
  expect(["in_progress", "completed"]).toContain(done.status);
  const { name, description, parameters } = look;
  expect((await promptOf(run.id)).tools).toEqual([{ name, description, parameters }]);
});

test("schemas of a run may have patterns that cannot be run safely: these keywords are not checked", async () => {
  const parameters = { type: "object", properties: { at: { type: "string", pattern: "^(?=.*x)(a+)+$" } } };
  const asked = await ran({ agent_id: await newAgent(asking), tools: [{ ...look, parameters }] });
  expect(asked.required_action.submit_tool_outputs.tool_calls).toMatchObject([{ arguments: { at: "Oslo" } }]);
  const agent_id = await newAgent([{ text: '{"at":"Oslo"}' }]);
  const done = await ran({ agent_id, overrides: { output_schema: parameters } });
  expect(done).toMatchObject({ status: "completed", output: '{"at":"Oslo"}' });
});

test("tools of a request are part of the record: replays, forks and imports have them", async () => {
  const agent_id = await newAgent([{ text: "No." }]);
  const run = await ran({ agent_id, tools: [look] });
  for (const agent of ["pinned", "current"]) {
    const { body } = await client.post(`/v1/runs/${run.id}/replay`, { mode: "verify", agent });
    expect(body.replay.divergences).toEqual([]);
    const forked = await client.post(`/v1/runs/${run.id}/fork?wait=60`, { step_index: -1, agent });
    expect((await promptOf(forked.body.id)).tools).toHaveLength(1);
  }
  for (const taken of [
    await client.post("/v1/traces", await exportOf(client, run.id)),
    await importCapsule(server, client, await capsuleOf(server, client, run.id)),
  ])
    expect(taken.status).toBe(201);
  // A tool that the agent has since got under this name belongs to the agent.
  const own = (await client.post("/v1/tools", { name: "look", description: "Its own." })).body;
  await client.patch(`/v1/agents/${agent_id}`, { tools: [own.id] });
  const forked = await client.post(`/v1/runs/${run.id}/fork?wait=60`, { step_index: -1, agent: "current" });
  expect((await promptOf(forked.body.id)).tools).toMatchObject([{ description: "Its own." }]);
  const clash = await client.post("/v1/runs", { agent_id, input: "Go.", tools: [look] });
  expect([clash.status, clash.body.error.param]).toEqual([400, "tools[0].name"]);
});

test.each<[string, unknown[], string]>([
  ["of another type", [{ ...look, type: "http" }], "tools[0].type"],
  ["with an address", [{ ...look, url: "https://example.com" }], "tools[0].url"],
  ["with an approval", [{ ...look, approval: "never" }], "tools[0].approval"],
  ["without a name", [{ type: "client" }], "tools[0].name"],
  ["with a name of words", [{ ...look, name: "look at" }], "tools[0].name"],
  ["twice", [look, look], "tools[1].name"],
  ["whose parameters are a list", [{ ...look, parameters: { type: "array" } }], "tools[0].parameters.type"],
  ["whose schema is none", [{ ...look, parameters: { type: "nothing" } }], "tools[0].parameters"],
  ["too often", Array.from({ length: 129 }, (_, i) => ({ ...look, name: `t${i}` })), "tools"],
])("a tool %s is rejected, with the path of the fault", async (_, tools, param) => {
  const answer = await client.post("/v1/runs", { agent_id: await newAgent([]), input: "Go.", tools });
  expect([answer.status, answer.body.error.param]).toEqual([400, param]);
});

test("a run has its own settings, within its agent's limits, and additional instructions", async () => {
  const agent_id = await newAgent([{ text: "one two three" }], {});
  await client.patch(`/v1/agents/${agent_id}`, {
    model_settings: { temperature: 1, max_output_tokens: 2, script: [{ text: "one two three" }] },
  });
  const model_settings = { temperature: 0, top_p: 0.5, seed: 7, stop: ["END"], max_output_tokens: 100 };
  const run = await ran({ agent_id, overrides: { model_settings, additional_instructions: "Be short." } });
  const prompt = await promptOf(run.id);
  expect(prompt.settings).toMatchObject({ ...model_settings, max_output_tokens: 2 });
  expect(prompt.messages[0].content).toBe("Be kind.\n\nBe short.");
  expect(run.output).toBe("one two ");
  const script = { agent_id, input: "Go.", overrides: { model_settings: { script: [] } } };
  expect((await client.post("/v1/runs", script)).body.error.param).toBe("overrides.model_settings.script");
});

test("tool_choice forces a tool call only in the first answer", async () => {
  const agent_id = await newAgent(asking);
  const tool_choice = { name: "look" };
  const run = await ran({ agent_id, tools: [look], overrides: { model_settings: { tool_choice } } });
  expect((await promptOf(run.id)).settings.tool_choice).toEqual(tool_choice);
  const [call] = run.required_action.submit_tool_outputs.tool_calls;
  const tool_outputs = [{ tool_call_id: call.tool_call_id, output: "Wet." }];
  const answer = await client.post(`/v1/runs/${run.id}/submit_tool_outputs`, { tool_outputs, stream: true });
  expect(String(answer.body)).toContain("run.completed");
  const { steps } = (await client.get(`/v1/traces/${run.id}?include=prompt`)).body;
  expect(steps.at(-1).prompt.settings.tool_choice).toBeUndefined();
  const { body } = await client.post(`/v1/runs/${run.id}/replay`, { mode: "verify" });
  expect(body.replay.divergences).toEqual([]);
  const none = { agent_id, input: "Go.", overrides: { model_settings: { tool_choice } } };
  expect((await client.post("/v1/runs", none)).body.error.param).toBe("overrides.model_settings.tool_choice.name");
});

test("a call id resolves to the run that made it, for viewers of that run, until the run is deleted", async () => {
  const run = await ran({ agent_id: await newAgent(asking), tools: [look] });
  const [{ tool_call_id: call }] = run.required_action.submit_tool_outputs.tool_calls;
  const { runs } = server;
  expect(runs.askedBy(client.scope, call)).toBe(run.id);
  expect(runs.askedBy({ ...client.scope, agent_ids: [] }, call)).toBeNull();
  expect(runs.askedBy((await server.client({ project: "other" })).scope, call)).toBeNull();
  expect(runs.askedBy(client.scope, "call_none")).toBeNull();
  const plan = server.db.sqlite
    .query<{ detail: string }, []>(
      "EXPLAIN QUERY PLAN SELECT run_id FROM client_calls WHERE project_id = 'p' AND environment = 'test' AND id = 'c'",
    )
    .get();
  expect(plan?.detail).toContain("PRIMARY KEY");
  await client.post(`/v1/runs/${run.id}/submit_tool_outputs`, { tool_outputs: [{ tool_call_id: call, output: 1 }] });
  expect(runs.askedBy(client.scope, call)).toBe(run.id);
  await client.post(`/v1/runs/${run.id}/cancel`);
  await client.delete(`/v1/runs/${run.id}`);
  expect(runs.askedBy(client.scope, call)).toBeNull();
});
