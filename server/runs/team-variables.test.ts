import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Answer } from "../testing/expect-declared.ts";
import { type Client, testApp } from "../testing/test-app.ts";

const server = testApp();
let client: Client;
beforeAll(async () => {
  client = await server.client();
});
afterAll(() => server[Symbol.asyncDispose]());

type Body = Answer["body"];

const create = async (name: string, more: object): Promise<string> => {
  const answer = await client.post("/v1/agents", { name, model: "test/script", instructions: "Help.", ...more });
  expect([answer.status, answer.body.error]).toEqual([201, undefined]);
  return answer.body.id;
};
const transfer = { tool_calls: [{ name: "transfer_to_refunds", arguments: {} }] };

/** Makes a desk and the agent that it hands over to. */
async function team(variables: object[], own: object = {}): Promise<{ desk: string; refunds: string }> {
  const places = variables.map((variable) => `{{${(variable as { name: string }).name}}}`);
  const refunds = await create("refunds", {
    instructions: `Refunds for ${places.join(", ")}.`,
    variables,
    model_settings: { script: [{ text: "Done." }] },
  });
  const desk = await create("desk", { model_settings: { script: [transfer] }, handoffs: [refunds], ...own });
  return { desk, refunds };
}
const run = async (agent_id: string, more: object = {}): Promise<Answer> =>
  client.post("/v1/runs?wait=60", { agent_id, input: "My money.", ...more });
/** Returns the instructions of the last model call. */
async function instructionsIn({ id }: Body): Promise<string> {
  const { body } = await client.get(`/v1/traces/${id}?include=prompt`);
  return body.steps.flatMap(({ prompt }: Body) => prompt ?? []).at(-1).messages[0].content;
}

test("a required variable of an agent that a handoff leads to is 400 with its name and agent, when the run is made", async () => {
  const { desk } = await team([{ name: "customer", type: "string", required: true }]);
  const { status, body } = await run(desk);
  expect([status, body.error.param, body.error.message]).toEqual([
    400,
    "variables.customer",
    'variables.customer: The agent "refunds", which a handoff leads to, needs a value of the variable customer.',
  ]);
});

test("a run gives values for all agents that it may hand over to", async () => {
  const { desk } = await team([{ name: "customer", type: "string", required: true }]);
  const { status, body } = await run(desk, { variables: { customer: "Ada" } });
  expect([status, body.status, body.variables]).toEqual([201, "completed", { customer: "Ada" }]);
  expect(await instructionsIn(body)).toBe("Refunds for Ada.");
  const unknown = await run(desk, { variables: { customer: "Ada", city: "Oslo" } });
  expect([unknown.status, unknown.body.error.param]).toEqual([400, "variables.city"]);
});

test("each agent has its own default of a variable", async () => {
  const own = { instructions: "{{tone}}", variables: [{ name: "tone", type: "string", default: "short" }] };
  const { desk } = await team([{ name: "tone", type: "string", required: true, default: "warm" }], own);
  const { body } = await run(desk);
  expect(await instructionsIn(body)).toBe("Refunds for warm.");
  const given = await run(desk, { variables: { tone: "dry" } });
  expect(await instructionsIn(given.body)).toBe("Refunds for dry.");
});

test("a value has to fit each agent that has the variable, and the error names the agent", async () => {
  const own = { instructions: "{{level}}", variables: [{ name: "level", type: "string" }] };
  const { desk } = await team([{ name: "level", type: "integer" }], own);
  const { status, body } = await run(desk, { variables: { level: "high" } });
  expect([status, body.error.param]).toEqual([400, "variables.level"]);
  expect(JSON.stringify(body.error)).toContain("refunds");
});

test("a thread's values reach the agents of handoffs, and those that do not fit are left out", async () => {
  const { desk } = await team([
    { name: "customer", type: "string", required: true },
    { name: "age", type: "integer" },
  ]);
  const thread = (await client.post("/v1/threads", { variables: { customer: "Ada", age: "old" } })).body.id;
  const { body } = await run(desk, { thread_id: thread });
  expect([body.status, body.variables]).toEqual(["completed", { customer: "Ada" }]);
});

test("a schedule is refused for a required variable of an agent that a handoff leads to", async () => {
  const { desk } = await team([{ name: "customer", type: "string", required: true }]);
  const schedule = { name: "daily", agent_id: desk, input: "x", cron: "0 9 * * *", timezone: "UTC" };
  const refused = await client.post("/v1/schedules", schedule);
  expect([refused.status, refused.body.error.param]).toEqual([400, "variables.customer"]);
  expect((await client.post("/v1/schedules", { ...schedule, variables: { customer: "Ada" } })).status).toBe(201);
});

test("a client token has values for the agents of handoffs", async () => {
  const { desk } = await team([{ name: "customer", type: "string", required: true }]);
  const token = { agent_id: desk, user_id: "u1", scopes: ["run"], expires_in_seconds: 60 };
  const made = await client.post("/v1/client_tokens", { ...token, variables: { customer: "Ada" } });
  expect([made.status, made.body.error]).toEqual([201, undefined]);
  const wrong = await client.post("/v1/client_tokens", { ...token, variables: { city: "Oslo" } });
  expect([wrong.status, wrong.body.error.param]).toEqual([400, "variables.city"]);
});

test("a client token's value that does not fit an agent of a handoff is 400 with its name, and an unknown one is left out", async () => {
  const own = { instructions: "{{level}}", variables: [{ name: "level", type: "string" }] };
  const { desk, refunds } = await team([{ name: "level", type: "string" }], own);
  const token = {
    agent_id: desk,
    user_id: "u1",
    scopes: ["run"],
    expires_in_seconds: 60,
    variables: { level: "high" },
  };
  const made = await client.post("/v1/client_tokens", token);
  const runOf = () =>
    server.send(
      "POST",
      "/v1/runs?wait=60",
      { agent_id: desk, input: "My money." },
      { authorization: `Bearer ${made.body.token}` },
    );
  expect((await runOf()).status).toBe(201);

  const change = async (variables: object[], instructions: string) =>
    expect((await client.patch(`/v1/agents/${refunds}`, { instructions, variables })).status).toBe(200);
  await change([{ name: "level", type: "integer" }], "{{level}}");
  const { status, body } = await runOf();
  expect([status, body.error.param, body.error.message]).toEqual([
    400,
    "variables.level",
    'variables.level: In the client token: Must be an integer. (the agent "refunds", which a handoff leads to)',
  ]);

  await change([], "Help.");
  expect((await client.patch(`/v1/agents/${desk}`, { instructions: "Help.", variables: [] })).status).toBe(200);
  expect((await runOf()).status).toBe(201);
});
