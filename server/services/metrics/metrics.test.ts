import { describe, expect, test } from "bun:test";
import { Elysia } from "elysia";
import { type Client, type TestApp, testApp } from "../../testing/test-app.ts";
import { metricsRoutes } from "./routes.ts";

type Samples = Map<string, number>;

/** Every sample of the Prometheus text by name and labels. */
async function scrape(server: TestApp): Promise<Samples> {
  const { status, body, headers } = await server.send("GET", "/metrics");
  expect([status, headers.get("content-type")]).toEqual([200, "text/plain; version=0.0.4; charset=utf-8"]);
  const lines = String(body).split("\n");
  return new Map(
    lines.flatMap((line) => {
      const [, name, value] = /^([a-z_]+(?:\{.*\})?) (\S+)$/.exec(line) ?? [];
      return name === undefined ? [] : [[name, Number(value)] as const];
    }),
  );
}

const agentOf = async (client: Client, more: object): Promise<string> =>
  (await client.post("/v1/agents", { name: "a", instructions: "", ...more })).body.id;

const run = async (client: Client, agent_id: string) =>
  (await client.post("/v1/runs?wait=60", { agent_id, input: "Go." })).body;

test("runs, model calls and tool calls are counted as they happen, by status and outcome", async () => {
  await using server = testApp();
  const client = await server.client();
  const tool = (await client.post("/v1/tools", { name: "look", type: "client" })).body.id;
  const script = [{ tool_calls: [{ name: "look", arguments: {} }] }, { text: "Done." }];
  const calling = await agentOf(client, { model: "test/script", model_settings: { script }, tools: [tool] });
  const failing = await agentOf(client, { model: "test/timeout", budget: { max_wall_ms: 1000 } });

  const waiting = await run(client, calling);
  await run(client, await agentOf(client, { model: "test/echo" }));
  const { error } = await run(client, failing);
  const before = await scrape(server);
  expect(before.get('runnel_runs{status="requires_action"}')).toBe(1);
  expect(before.get('runnel_tool_calls_total{type="client",outcome="completed"}')).toBeUndefined();

  const [call] = waiting.required_action.submit_tool_outputs.tool_calls;
  const tool_outputs = [{ tool_call_id: call.tool_call_id, output: 1 }];
  await client.post(`/v1/runs/${waiting.id}/submit_tool_outputs`, { tool_outputs, stream: true });
  const after = await scrape(server);
  const ended = (status: string, code = "") =>
    after.get(`runnel_runs_ended_total{environment="test",status="${status}",error_code="${code}"}`);
  expect([ended("completed"), ended("failed", error.code), after.get('runnel_runs{status="requires_action"}')]).toEqual(
    [2, 1, 0],
  );
  expect(after.get('runnel_runs_created_total{environment="test"}')).toBe(3);
  expect(after.get('runnel_run_duration_seconds_count{environment="test",status="completed"}')).toBe(2);
  expect(after.get('runnel_model_calls_total{provider="test",outcome="completed"}')).toBe(3);
  expect(after.get('runnel_tool_calls_total{type="client",outcome="completed"}')).toBe(1);
  const { totals } = (await client.get("/v1/usage")).body;
  expect(after.get('runnel_model_tokens_total{provider="test",type="output"}')).toBe(totals.output_tokens);
  expect(after.get("runnel_journal_entries_total")).toBeGreaterThan(10);
  expect(after.get("runnel_db_commit_duration_seconds_count")).toBe(server.db.write.commits());
});

test("an external request is counted once, by its route and not by its URL", async () => {
  await using server = testApp();
  const client = await server.client();
  await client.get("/v1/runs/run_none");
  await client.get("/v1/nothing?secret=sk_live_x");
  await client.post("/v1/agents", { name: 1 });
  await server.send("POST", "/openai/v1/chat/completions", {}, { authorization: `Bearer ${client.key.secret}` });
  const samples = await scrape(server);
  const counted = [...samples].filter(([name]) => name.startsWith("http_server_request_duration_seconds_count"));
  const of = (method: string, route: string, status: number) =>
    `http_server_request_duration_seconds_count{http_request_method="${method}",http_route="${route}",http_response_status_code="${status}"}`;
  expect(new Map(counted)).toEqual(
    new Map([
      [of("GET", "/v1/runs/:id", 404), 1],
      [of("GET", "", 404), 1],
      [of("POST", "/v1/agents", 400), 1],
      [of("POST", "/openai/v1/chat/completions", 400), 1],
    ]),
  );
});

test("only webhooks that the server disabled are counted, and none that a person disabled or deleted", async () => {
  await using server = testApp();
  const client = await server.client();
  const add = async (): Promise<string> =>
    (await client.post("/v1/webhooks", { url: "https://example.com/", events: ["*"] })).body.id;
  const [gone, failing, switchedOff, deleted] = [await add(), await add(), await add(), await add()];
  await client.patch(`/v1/webhooks/${switchedOff}`, { enabled: false });
  await client.delete(`/v1/webhooks/${deleted}`);
  const disable = (reason: string, ...ids: string[]) =>
    server.db.sqlite.run(
      `UPDATE webhooks SET enabled = 0, disabled_reason = ? WHERE id IN (${ids.map(() => "?").join(", ")})`,
      [reason, ...ids],
    );
  disable("gone", gone, deleted);
  disable("failing", failing);
  expect((await scrape(server)).get("runnel_webhooks_disabled")).toBe(2);
});

test("imported events are not counted", async () => {
  await using server = testApp();
  const client = await server.client();
  const { id } = await run(client, await agentOf(client, { model: "test/echo" }));
  const { body: record } = await client.get(`/v1/traces/${id}?include=raw`);
  const before = await scrape(server);
  const imported = await client.post("/v1/traces", record);
  expect(imported.status).toBe(201);
  const after = await scrape(server);
  for (const name of ["runs_created_total", 'model_calls_total{provider="test",outcome="completed"}'])
    expect(after.get(`runnel_${name}`)).toBe(before.get(`runnel_${name}`));
});

describe("metrics are for the server's machine and for the operator's token", () => {
  const ask = async (client: string | null, headers: Record<string, string>, token?: string, isLed = false) => {
    const read = () => ({ text: "up 1", type: "text/plain" });
    const app = new Elysia().use(metricsRoutes({ clientOf: () => client, isRebound: () => isLed, token, read }));
    return (await app.handle(new Request("http://localhost/metrics", { headers }))).status;
  };
  const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

  test("a page that uses DNS rebinding cannot read them", async () => {
    expect(await ask("127.0.0.1", {}, undefined, true)).toBe(401);
    expect(await ask("127.0.0.1", bearer("guess"), "token", true)).toBe(401);
    expect(await ask("127.0.0.1", bearer("token"), "token", true)).toBe(200);
  });

  test.each([
    ["127.0.0.1", {}, undefined, 200],
    ["::1", {}, undefined, 200],
    ["::ffff:127.0.0.1", {}, undefined, 200],
    ["10.0.0.2", {}, undefined, 401],
    ["203.0.113.7", bearer(""), undefined, 401],
    ["203.0.113.7", bearer("undefined"), undefined, 401],
    ["203.0.113.7", bearer("wrong"), "right", 401],
    ["203.0.113.7", bearer("right"), "right", 200],
    // An undeclared proxy on this machine: the client may be anywhere.
    ["127.0.0.1", { "x-forwarded-for": "203.0.113.7" }, undefined, 401],
    ["127.0.0.1", { forwarded: "for=203.0.113.7" }, undefined, 401],
    ["127.0.0.1", { "x-forwarded-for": "203.0.113.7", ...bearer("right") }, "right", 200],
  ] as const)("%s with %j where the token is %p", async (client, headers, token, status) => {
    expect(await ask(client, headers as Record<string, string>, token)).toBe(status);
  });
});

test("the lag of the main thread is that of the time with work, also of work that begins after a rest", async () => {
  await using server = testApp();
  const client = await server.client();
  await Bun.sleep(1500); // By then the measurement rests.
  await client.get("/v1/me");
  Bun.sleepSync(2000); // Longer than any wait for the next measurement, so that it is late by at least a second.
  await Bun.sleep(1);
  expect((await scrape(server)).get("runnel_event_loop_lag_seconds")).toBeGreaterThan(1);
  expect((await scrape(server)).get("runnel_event_loop_lag_seconds")).toBeLessThan(1);
});

test("a request that blocks the main thread after a rest is in its lag", async () => {
  await using server = testApp();
  const { key } = await server.client();
  await Bun.sleep(1500); // By then the measurement rests.
  const body = new ReadableStream(
    {
      pull(controller) {
        Bun.sleepSync(2000);
        controller.close();
      },
    },
    { highWaterMark: 0 }, // Read by the handler only.
  );
  const headers = { authorization: `Bearer ${key.secret}`, "content-type": "application/json" };
  await server.app.fetch(new Request("http://localhost/v1/agents", { method: "POST", headers, body }));
  await Bun.sleep(1);
  expect((await scrape(server)).get("runnel_event_loop_lag_seconds")).toBeGreaterThan(1);
});
