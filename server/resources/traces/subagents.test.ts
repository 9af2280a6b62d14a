import { expect, test } from "bun:test";
import type { ScriptEntry } from "../../domain/model-call.ts";
import type { TraceStep } from "../../domain/trace.ts";
import { type Client, testApp } from "../../testing/test-app.ts";

async function newAgent(client: Client, name: string, script: ScriptEntry[], tools: string[] = []): Promise<string> {
  const draft = { name, instructions: "Be brief.", model: "test/script", model_settings: { script }, tools };
  const { status, body } = await client.post("/v1/agents", draft);
  expect(status).toBe(201);
  return body.id;
}

async function newTool(client: Client, name: string, agent_id: string): Promise<string> {
  const { status, body } = await client.post("/v1/tools", { name, type: "agent", agent_id });
  expect(status).toBe(201);
  return body.id;
}

const calls = (...names: string[]): ScriptEntry[] => [
  { tool_calls: names.map((name) => ({ name, arguments: { input: "Do it." } })) },
  { text: "Done." },
];

/** Creates a run whose agent calls one that calls a third one, and one without calls. */
async function tree(client: Client) {
  const deepest = await newAgent(client, "Deepest", [{ text: "Deep." }]);
  const middle = await newAgent(client, "Middle", calls("deep"), [await newTool(client, "deep", deepest)]);
  const tools = [await newTool(client, "middle", middle), await newTool(client, "again", deepest)];
  const agent_id = await newAgent(client, "Top", calls("middle", "again"), tools);
  const { body } = await client.post("/v1/runs?wait=60", { agent_id, input: "Hello" });
  expect(body).toMatchObject({ status: "completed", output: "Done." });
  return { run: body, top: agent_id, middle, deepest };
}

const outline = (steps: TraceStep[]) => steps.map(({ type, name }) => `${type} ${name}`);
const whole = [
  "model_call test/script",
  "subagent middle",
  "model_call test/script",
  "subagent deep",
  "model_call test/script",
  "model_call test/script",
  "subagent again",
  "model_call test/script",
  "model_call test/script",
];

test("a trace shows its own steps, and on demand those of its child runs", async () => {
  await using server = testApp();
  const client = await server.client();
  const { run } = await tree(client);
  const plain = (await client.get(`/v1/traces/${run.id}`)).body.steps;
  expect(outline(plain)).toEqual([whole[0], "subagent middle", "subagent again", whole[0]] as string[]);
  const { steps } = (await client.get(`/v1/traces/${run.id}?include=subagents`)).body as { steps: TraceStep[] };
  expect(outline(steps)).toEqual(whole);
  for (const step of steps.filter(({ run_id }) => run_id !== run.id))
    expect(steps.find(({ id }) => id === step.parent_id)!.subagent!.run_id).toBe(step.run_id!);
  for (const step of steps.filter(({ run_id }) => run_id === run.id)) expect(step.parent_id).toBeNull();
});

test("its pages may end anywhere, and join to the whole", async () => {
  await using server = testApp();
  const client = await server.client();
  const { run } = await tree(client);
  const joined: TraceStep[] = [];
  for (let more = true; more; ) {
    const after = joined.length > 0 ? `&starting_after=${joined.at(-1)!.id}` : "";
    const { body } = await client.get(`/v1/traces/${run.id}?include=subagents,raw&limit=2${after}`);
    joined.push(...body.steps);
    more = body.steps_has_more;
  }
  expect(outline(joined)).toEqual(whole);
  expect(joined.every(({ raw }) => raw!.length > 0)).toBe(true);
  const wrong = await client.get(`/v1/traces/${run.id}?starting_after=${joined[2]!.id}`);
  expect([wrong.status, wrong.body.error.code]).toEqual([400, "invalid_cursor"]);
  expect((await client.get(`/v1/traces/${run.id}?include=all`)).status).toBe(400);
});

test("a key for the parent agent alone runs it with all its subagents, and sees of them what its own agent saw", async () => {
  await using server = testApp();
  const { top, middle, deepest } = await tree(await server.client());
  const bound = await server.client({ scopes: ["run", "read"], agent_ids: [top] });
  const { body: run } = await bound.post("/v1/runs?wait=60", { agent_id: top, input: "Hello" });
  expect(run).toMatchObject({ status: "completed", tool_calls: [{ output: "Done." }, { output: "Deep." }] });
  const { steps } = (await bound.get(`/v1/traces/${run.id}?include=subagents`)).body;
  expect(steps.map(({ run_id }: TraceStep) => run_id)).toEqual(Array(4).fill(run.id));
  for (const call of run.tool_calls) expect((await bound.get(`/v1/runs/${call.subagent_run_id}`)).status).toBe(404);
  expect((await bound.get(`/v1/runs?parent_run_id=${run.id}`)).body.data).toEqual([]);
  for (const agent_id of [middle, deepest])
    expect((await bound.post("/v1/runs", { agent_id, input: "Hello" })).status).toBe(400);
});

test("a run's child runs are listed, for its own project and environment", async () => {
  await using server = testApp();
  const client = await server.client();
  const { run } = await tree(client);
  const { data } = (await client.get(`/v1/runs?parent_run_id=${run.id}`)).body;
  expect(data.map(({ parent_run_id }: { parent_run_id: string }) => parent_run_id)).toEqual([run.id, run.id]);
  for (const other of [await server.client({ environment: "live" }), await server.client({ project: "other" })]) {
    expect((await other.get(`/v1/runs?parent_run_id=${run.id}`)).body.data).toEqual([]);
    expect((await other.get(`/v1/runs/${data[0].id}`)).status).toBe(404);
    expect((await other.get(`/v1/traces/${run.id}?include=subagents`)).status).toBe(404);
  }
  expect((await client.get("/v1/runs?parent_run_id=run_x")).status).toBe(400);
});
