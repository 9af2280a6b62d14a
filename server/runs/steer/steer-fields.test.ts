import { afterAll, describe, expect, test } from "bun:test";
import { settledRun } from "../../testing/settled-run.ts";
import { type Client, testApp } from "../../testing/test-app.ts";

// Fields of a run that is to become a message to the thread's run at work (`if_thread_busy: "steer"`).

const server = testApp();
afterAll(() => server[Symbol.asyncDispose]());

const look = { type: "client", name: "look", description: "Looks." };
const own = {
  label: "production",
  variables: { tone: "warm" },
  overrides: { additional_instructions: "Be brief." },
  tools: [look],
};

/** Starts a run, with these fields, that waits for its client in a thread. */
async function busyThread() {
  const client = await server.client({ project: crypto.randomUUID() });
  const script = [{ tool_calls: [{ name: "look", arguments: {} }] }, { text: "Done." }];
  const agent = {
    name: "a",
    instructions: "Be {{tone}}.",
    model: "test/script",
    model_settings: { script },
    variables: [{ name: "tone", type: "string" }],
  };
  const { id: agent_id } = (await client.post("/v1/agents", agent)).body;
  for (const label of ["production", "next"])
    expect((await client.put(`/v1/agents/${agent_id}/labels/${label}`, { version: 1 })).status).toBeLessThan(300);
  const { id: thread_id } = (await client.post("/v1/threads", {})).body;
  const body = { agent_id, thread_id, input: "Hello" };
  const { body: run } = await client.post("/v1/runs?wait=60", { ...body, ...own });
  expect([run.status, run.agent_version]).toEqual(["requires_action", 1]);
  const send = async (more: object) =>
    client.post("/v1/runs", { ...body, input: "More", if_thread_busy: "steer", ...more });
  return { client, agent_id, run, send };
}

const saidIn = async (client: Client, id: string): Promise<string[]> =>
  (await client.get(`/v1/runs/${id}`)).body.messages.flatMap(({ role, content }: { role: string; content: string }) =>
    role === "user" ? [content] : [],
  );

describe("a run for a busy thread", () => {
  test.each([
    ["no fields", {}],
    ["the same label", { label: "production" }],
    ["the same version", { version: 1 }],
    ["the same values", { variables: own.variables }],
    ["the same fields", own],
    ["nothing in its fields", { variables: {}, overrides: {}, tools: [] }],
    ["a budget, metadata and a timeout", { budget: { max_cost_usd: 1 }, metadata: { a: "b" }, timeout_ms: 1000 }],
  ])("with %s becomes a message of the run at work", async (_, more) => {
    const { client, run, send } = await busyThread();
    const { status, body } = await send(more);
    expect([status, body.id]).toEqual([201, run.id]);
    expect(await saidIn(client, run.id)).toEqual(["Hello", "More"]);
  });

  test.each([
    ["another label", { label: "next" }],
    ["another version", { version: 2 }],
    ["other values", { variables: { tone: "dry" } }],
    ["other overrides", { ...own, overrides: { additional_instructions: "Be long." } }],
    ["overrides alone", { overrides: { max_turns: 3 } }],
    ["other tools", { ...own, tools: [{ ...look, description: "Listens." }] }],
    ["one tool more", { ...own, tools: [look, { ...look, name: "listen" }] }],
  ])("with %s waits for the run at work, and has them", async (_, more) => {
    const { client, agent_id, run, send } = await busyThread();
    expect((await client.patch(`/v1/agents/${agent_id}`, { description: "Newer." })).body.version).toBe(2);
    const { status, body } = await send(more);
    expect([status, body.status, body.id === run.id]).toEqual([201, "queued", false]);
    expect(await saidIn(client, run.id)).toEqual(["Hello"]);
    if ("variables" in more) expect(body.variables).toEqual(more.variables);
    if ("version" in more) expect(body.agent_version).toBe(more.version);
    if ("label" in more) expect(body.agent_label).toBe(more.label);

    const [call] = run.required_action.submit_tool_outputs.tool_calls;
    const tool_outputs = [{ tool_call_id: call.tool_call_id, output: "blue" }];
    expect((await client.post(`/v1/runs/${run.id}/submit_tool_outputs`, { tool_outputs })).status).toBe(200);
    expect((await settledRun(server, client, run.id)).status).toBe("completed");
    expect((await settledRun(server, client, body.id)).status).not.toBe("queued");
  });

  test("with a value or a tool that the agent cannot have is 400, and the run at work has no message", async () => {
    const { client, run, send } = await busyThread();
    for (const more of [{ variables: { tone: 5 } }, { variables: { city: "Oslo" } }, { tools: [look, look] }])
      expect((await send(more)).status).toBe(400);
    expect(await saidIn(client, run.id)).toEqual(["Hello"]);
  });

  test("with its label goes to the run at work, also when the label has moved", async () => {
    const { client, agent_id, run, send } = await busyThread();
    await client.patch(`/v1/agents/${agent_id}`, { description: "Newer." });
    await client.put(`/v1/agents/${agent_id}/labels/production`, { version: 2 });
    expect((await send(own)).body.id).toBe(run.id);
  });
});
