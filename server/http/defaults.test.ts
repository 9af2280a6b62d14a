import { describe, expect, test } from "bun:test";
import { type Client, testApp } from "../testing/test-app.ts";
import { defaults } from "../wire/defaults.ts";

/** The body of what was created. */
async function create(client: Client, path: string, body: object) {
  const answer = await client.post(path, body);
  expect([answer.status, answer.body.error ?? null]).toEqual([201, null]);
  return answer.body;
}

const echo = { name: "Echo", instructions: "Repeat.", model: "test/echo" };

describe("what the document calls a default", () => {
  test("is one of a field that there is", async () => {
    await using server = testApp();
    const { schemas } = (await (await server.client()).get("/v1/openapi.json")).body.components;
    const told = Object.entries(defaults).flatMap(([component, values]) =>
      Object.entries(values).map(([field, value]) => [`${component}.${field}`, value]),
    );
    const found = Object.entries(defaults).flatMap(([component, values]) =>
      Object.keys(values).map((field) => [`${component}.${field}`, schemas[component]?.properties[field]?.default]),
    );
    expect(found).toEqual(told);
  });

  test("is what a tool has that was created without it", async () => {
    await using server = testApp();
    const client = await server.client();
    const http = await create(client, "/v1/tools", { name: "http", type: "http", url: "https://example.com/" });
    const code = await create(client, "/v1/tools", { name: "code", type: "code" });
    const { language, ...others } = defaults.CreateToolRequest!;
    expect(http).toMatchObject(others);
    expect(code).toMatchObject({ language });
  });

  test("is what a webhook and a memory store have", async () => {
    await using server = testApp();
    const client = await server.client();
    const webhook = { url: "https://example.com/", events: ["*"] };
    expect(await create(client, "/v1/webhooks", webhook)).toMatchObject(defaults.CreateWebhookRequest!);
    expect(await create(client, "/v1/memory", { name: "Notes", kind: "kv" })).toMatchObject(
      defaults.CreateMemoryRequest!,
    );
  });

  test("is what an agent and a schedule have", async () => {
    await using server = testApp();
    const client = await server.client();
    const agent = await create(client, "/v1/agents", echo);
    expect(agent).toMatchObject(defaults.CreateAgentRequest!);
    const plan = { name: "Report", agent_id: agent.id, input: "Hello", cron: "0 9 * * *", timezone: "UTC" };
    expect(await create(client, "/v1/schedules", plan)).toMatchObject(defaults.CreateScheduleRequest!);
  });

  test("is what an agent's memory has", async () => {
    await using server = testApp();
    const client = await server.client();
    const { id: memory_id } = await create(client, "/v1/memory", { name: "Notes", kind: "kv" });
    const { memory } = await create(client, "/v1/agents", { ...echo, memory: { stores: [{ memory_id }] } });
    expect(memory.stores).toMatchObject([defaults.MemoryPolicyStoreInput!]);
    expect(memory.history).toEqual(defaults.HistoryPolicyInput!);
    expect(memory.context).toEqual(defaults.ContextPolicyInput!);
  });

  test("is what a run is created with", async () => {
    await using server = testApp();
    const client = await server.client();
    const { id: agent_id } = await create(client, "/v1/agents", echo);
    const { id } = await create(client, "/v1/runs?wait=60", { agent_id, input: "Hello" });
    const { raw } = (await client.get(`/v1/traces/${id}?include=raw`)).body;
    const { timeout_ms, action_timeout_ms, on_disconnect } = defaults.CreateRunRequest!;
    expect(raw[0].event).toMatchObject({ timeout_ms, action_timeout_ms, on_disconnect });
    const replay = await create(client, `/v1/runs/${id}/replay`, {});
    expect((await client.get(`/v1/runs/${replay.id}`)).body.replay).toMatchObject(defaults.ReplayRunRequest!);
  });

  test("is what a search in memory goes by", async () => {
    await using server = testApp();
    const client = await server.client();
    const { id } = await create(client, "/v1/memory", { name: "Notes", kind: "vector" });
    for (let note = 0; note < 12; note++) await create(client, `/v1/memory/${id}/entries`, { text: `Lime ${note}.` });
    const { top_k } = defaults.SearchMemoryRequest!;
    const search = async (more: object) =>
      (await client.post(`/v1/memory/${id}/search`, { query: "lime", ...more })).body;
    expect((await search({})).data).toHaveLength(top_k as number);
    expect((await search({})).data).toEqual((await search(defaults.SearchMemoryRequest!)).data);
  });
});
