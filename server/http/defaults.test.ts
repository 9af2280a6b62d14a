import { describe, expect, test } from "bun:test";
import { defaults } from "../domain/api-types/defaults.ts";
import { type Client, testApp } from "../testing/test-app.ts";

/** Body of the created object. */
async function create(client: Client, path: string, body: object) {
  const answer = await client.post(path, body);
  expect([answer.status, answer.body.error ?? null]).toEqual([201, null]);
  return answer.body;
}

const echo = { name: "Echo", instructions: "Repeat.", model: "test/echo" };

describe("a default in the document", () => {
  test("belongs to an existing field", async () => {
    await using server = testApp();
    const { schemas } = (await (await server.client()).get("/v1/openapi.json")).body.components;
    const told = Object.entries(defaults).flatMap(([component, values]) =>
      Object.entries(values).map(([field, value]) => [`${component}.${field}`, value]),
    );
    const found = Object.entries(defaults).flatMap(([component, values]) =>
      Object.keys(values).map((field) => [
        `${component}.${field}`,
        schemas[component]?.properties[field]?.["x-default"],
      ]),
    );
    expect(found).toEqual(told);
  });

  test("is applied to a tool created without the field", async () => {
    await using server = testApp();
    const client = await server.client();
    const http = await create(client, "/v1/tools", { name: "http", type: "http", url: "https://example.com/" });
    const code = await create(client, "/v1/tools", { name: "code", type: "code" });
    const { language, ...others } = defaults.CreateToolRequest!;
    expect(http).toMatchObject(others);
    expect(code).toMatchObject({ language });
  });

  test("is applied to a webhook and a memory store", async () => {
    await using server = testApp();
    const client = await server.client();
    const webhook = { url: "https://example.com/", events: ["*"] };
    expect(await create(client, "/v1/webhooks", webhook)).toMatchObject(defaults.CreateWebhookRequest!);
    expect(await create(client, "/v1/memory", { name: "Notes", kind: "kv" })).toMatchObject(
      defaults.CreateMemoryRequest!,
    );
  });

  test("is applied to an agent and a schedule", async () => {
    await using server = testApp();
    const client = await server.client();
    const agent = await create(client, "/v1/agents", echo);
    expect(agent).toMatchObject(defaults.CreateAgentRequest!);
    const plan = { name: "Report", agent_id: agent.id, input: "Hello", cron: "0 9 * * *", timezone: "UTC" };
    expect(await create(client, "/v1/schedules", plan)).toMatchObject(defaults.CreateScheduleRequest!);
  });

  test("is applied to an agent's memory", async () => {
    await using server = testApp();
    const client = await server.client();
    const { id: memory_id } = await create(client, "/v1/memory", { name: "Notes", kind: "kv" });
    const { memory } = await create(client, "/v1/agents", { ...echo, memory: { stores: [{ memory_id }] } });
    expect(memory.stores).toMatchObject([defaults.MemoryPolicyStoreInput!]);
    expect(memory.history).toEqual(defaults.HistoryPolicyInput!);
    expect(memory.context).toEqual(defaults.ContextPolicyInput!);
  });

  test("is applied to a run", async () => {
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

  test("is applied to a memory search", async () => {
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
