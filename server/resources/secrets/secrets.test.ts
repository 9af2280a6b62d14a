import { afterAll, beforeEach, expect, test } from "bun:test";
import { testActor } from "../../testing/test-actor.ts";
import { type Client, testApp } from "../../testing/test-app.ts";

// Requests that the tool received, and its answer: by default all received headers, as a careless tool returns them.
let sent: Record<string, string>[] = [];
let beforeAnswer = async () => {};
const receiver = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  async fetch(request) {
    sent.push(Object.fromEntries(request.headers));
    await beforeAnswer();
    return Response.json(Object.fromEntries(request.headers));
  },
});
afterAll(() => receiver.stop(true));
beforeEach(() => {
  sent = [];
  beforeAnswer = async () => {};
});

const value = "canary-value-of-a-secret";

/** Creates an agent that calls an HTTP tool with these headers `calls` times, one after the other. */
async function agentWith(client: Client, headers: Record<string, string>, calls = 1) {
  const tool = await client.post("/v1/tools", { name: "look", url: `http://127.0.0.1:${receiver.port}/`, headers });
  expect(tool.status).toBe(201);
  const call = { tool_calls: [{ name: "look", arguments: {} }] };
  const model_settings = { script: [...Array(calls).fill(call), { text: "Done." }] };
  const body = { name: "a", instructions: "", model: "test/script", tools: [tool.body.id], model_settings };
  return (await client.post("/v1/agents", body)).body.id as string;
}

const runOf = async (client: Client, agent_id: string) =>
  (await client.post("/v1/runs?wait=60", { agent_id, input: "Go." })).body;

test("a secret is set, listed, changed and deleted by its name, and its value is never shown", async () => {
  await using server = testApp();
  const client = await server.client();
  const set = await client.put("/v1/secrets/API_KEY", { value, metadata: { team: "a" } });
  expect(set.status).toBe(200);
  expect(structuredClone(set.body)).toEqual({
    id: expect.stringMatching(/^sec_/),
    object: "secret",
    name: "API_KEY",
    metadata: { team: "a" },
    created_at: expect.any(String),
    updated_at: set.body.created_at,
    ...client.scope,
    request_id: expect.any(String),
  });
  const again = await client.put("/v1/secrets/API_KEY", { value: `${value}-2` });
  expect(again.body).toMatchObject({ id: set.body.id, created_at: set.body.created_at, metadata: { team: "a" } });
  await client.put("/v1/secrets/_other", { value });
  const list = await client.get("/v1/secrets");
  expect(list.body.data.map(({ name }: { name: string }) => name)).toEqual(["_other", "API_KEY"]);
  const one = await client.get("/v1/secrets/API_KEY");
  expect(JSON.stringify([set.body, again.body, list.body, one.body])).not.toContain("canary");
  expect((await client.delete("/v1/secrets/API_KEY")).body).toMatchObject({ id: set.body.id, deleted: true });
  for (const method of ["GET", "DELETE"] as const)
    expect((await client[method === "GET" ? "get" : "delete"]("/v1/secrets/API_KEY")).status).toBe(404);
});

test("a secret belongs to one project and environment", async () => {
  await using server = testApp();
  const [mine, live, other] = [
    await server.client(),
    await server.client({ environment: "live" }),
    await server.client({ project: "other" }),
  ];
  await mine.put("/v1/secrets/KEY", { value });
  for (const stranger of [live, other]) {
    expect((await stranger.get("/v1/secrets/KEY")).status).toBe(404);
    expect((await stranger.get("/v1/secrets")).body.data).toEqual([]);
    await stranger.put("/v1/secrets/KEY", { value: "another-value" });
  }
  await runOf(mine, await agentWith(mine, { "x-key": "{{secret.KEY}}" }));
  expect(sent[0]!["x-key"]).toBe(value);
});

test("scopes below admin cannot read secrets", async () => {
  await using server = testApp();
  for (const scopes of [["read"], ["run"], ["read", "run"]] as const) {
    const client = await server.client({ scopes: [...scopes] });
    for (const answer of [
      await client.get("/v1/secrets"),
      await client.get("/v1/secrets/KEY"),
      await client.put("/v1/secrets/KEY", { value }),
      await client.delete("/v1/secrets/KEY"),
    ])
      expect(answer.body.error).toMatchObject({ code: "insufficient_scope", details: { required_scope: "admin" } });
  }
});

test.each<[string, string, unknown, string]>([
  ["a digit first", "1KEY", { value }, "name"],
  ["a hyphen in the name", "MY-KEY", { value }, "name"],
  ["a name of 65", "K".repeat(65), { value }, "name"],
  ["a line break in the value", "KEY", { value: `${value}\n` }, "value"],
  ["a second line in the value", "KEY", { value: `${value}\r\nx-admin: yes` }, "value"],
  ["a blank at the end", "KEY", { value: `${value} ` }, "value"],
  ["letters that no header carries", "KEY", { value: "ключ" }, "value"],
  ["nothing in the value", "KEY", { value: "" }, "value"],
  ["no value", "KEY", {}, "value"],
  ["a number for the value", "KEY", { value: 12345678 }, "value"],
])("a secret with %s is refused, and the answer does not contain the value", async (_, name, body, param) => {
  await using server = testApp();
  const client = await server.client();
  const answer = await client.put(`/v1/secrets/${name}`, body);
  expect([answer.status, answer.body.error.code, answer.body.error.param]).toEqual([400, "validation_failed", param]);
  expect(JSON.stringify(answer.body)).not.toContain("canary");
  expect((await client.get("/v1/secrets")).body.data).toEqual([]);
});

test("references in headers are replaced when the request is made, each once and nothing else", async () => {
  await using server = testApp();
  const client = await server.client();
  await client.put("/v1/secrets/USER", { value: "someone-$&-{{secret.PASS}}" });
  await client.put("/v1/secrets/PASS", { value: "open-sesame" });
  const headers = { Authorization: "Key {{secret.USER}}:{{secret.PASS}}", "x-plain": "{{other.PASS}}" };
  const run = await runOf(client, await agentWith(client, headers));
  expect(run.status).toBe("completed");
  expect(sent[0]).toMatchObject({
    authorization: "Key someone-$&-{{secret.PASS}}:open-sesame",
    "x-plain": "{{other.PASS}}",
  });
});

test("a tool can name only existing secrets, and none in its URL", async () => {
  await using server = testApp();
  const client = await server.client();
  const url = `http://127.0.0.1:${receiver.port}/`;
  await client.put("/v1/secrets/KEY", { value });
  const refusal = async (more: object) => (await client.post("/v1/tools", { name: "t", url, ...more })).body.error;
  expect(await refusal({ headers: { a: "{{secret.KEY}}", b: "{{secret.NONE}} {{secret.KEY}}" } })).toMatchObject({
    code: "validation_failed",
    param: "headers.b",
    message: "headers.b: There is no secret NONE.",
  });
  for (const text of ["{{ secret.KEY }}", "{{secret.MY-KEY}}", "{{secret.}}", "{{secret}}"])
    expect((await refusal({ headers: { a: text } })).param).toBe("headers.a");
  expect((await refusal({ url: `${url}?key={{secret.KEY}}` })).param).toBe("url");
  const tool = await client.post("/v1/tools", { name: "t", url, headers: { a: "{{secret.KEY}}" } });
  const changed = await client.patch(`/v1/tools/${tool.body.id}`, { headers: { a: "{{secret.NONE}}" } });
  expect(changed.body.error.param).toBe("headers.a");
});

/** Returns a text with this number of parts that are each redacted. */
const parts = (count: number, length = 8) =>
  Array.from({ length: count }, (_, index) => String(index).padStart(length, "p")).join(",");

test.each<[string, Record<string, string>]>([
  ["too many parts of one value", { a: parts(300) }],
  [
    "too many values",
    Object.fromEntries(Array.from({ length: 50 }, (_, index) => [`x-${index}`, parts(5, index + 8)])),
  ],
  [
    "too much text",
    Object.fromEntries(Array.from({ length: 9 }, (_, index) => [`x-${index}`, parts(1, 8000 - index)])),
  ],
  ["a long secret in many places", { a: "{{secret.LONG}} ".repeat(500) }],
])("headers with %s are refused in every request that sets them", async (_, headers) => {
  await using server = testApp();
  const client = await server.client();
  await client.put("/v1/secrets/LONG", { value: "l".repeat(8192) });
  const tool = { name: "t", url: `http://127.0.0.1:${receiver.port}/` };
  const made = await client.post("/v1/tools", tool);
  for (const refused of [
    await client.post("/v1/tools", { ...tool, name: "u", headers }),
    await client.patch(`/v1/tools/${made.body.id}`, { headers }),
  ])
    expect(refused).toMatchObject({ status: 400, body: { error: { code: "validation_failed", param: "headers" } } });
});

test("a secret of too many parts is refused, and one that grows too long for a tool makes its calls fail", async () => {
  await using server = testApp();
  const client = await server.client();
  expect((await client.put("/v1/secrets/KEY", { value: parts(300) })).body.error.param).toBe("value");
  await client.put("/v1/secrets/KEY", { value });
  const agent = await agentWith(client, { "x-key": "{{secret.KEY}} ".repeat(20) });
  expect((await runOf(client, agent)).tool_calls[0]).toMatchObject({ status: "completed", error: null });
  await client.put("/v1/secrets/KEY", { value: "l".repeat(8192) });
  const [call] = (await runOf(client, agent)).tool_calls;
  expect(call).toMatchObject({ status: "failed", output: null, error: { code: "too_many_secrets" }, attempts: 0 });
  expect(call.error.message).not.toContain("lll");
  expect(sent).toHaveLength(1);
});

test("tools with more secrets together than can be redacted are not called", async () => {
  await using server = testApp();
  const client = await server.client();
  const tools = await Promise.all(
    Array.from({ length: 9 }, async (_, tool) => {
      const headers = Object.fromEntries(
        Array.from({ length: 8 }, (_, index) => [`x-${index}`, `${tool}${index}`.padEnd(8000, "z")]),
      );
      return (await client.post("/v1/tools", { name: `t${tool}`, url: `http://127.0.0.1:${receiver.port}/`, headers }))
        .body.id;
    }),
  );
  const tool_calls = tools.map((_, index) => ({ name: `t${index}`, arguments: {} }));
  const model_settings = { script: [{ tool_calls }, { text: "Done." }] };
  const { body: agent } = await client.post("/v1/agents", {
    name: "a",
    instructions: "",
    model: "test/script",
    tools,
    model_settings,
  });
  type Call = { error: { code: string } | null; attempts: number };
  const calls: Call[] = (await runOf(client, agent.id)).tool_calls;
  const [refused, called] = [true, false].map((is) =>
    calls.filter(({ error }) => (error?.code === "too_many_secrets") === is),
  );
  // Headers of this length may exceed the receiver's limit, which does not matter here.
  expect([refused!.map(({ attempts }) => attempts), called!.length]).toEqual([[0], 8]);
  expect(called!.every(({ attempts }) => attempts > 0)).toBe(true);
});

test("a changed secret applies from the next call on, also within a run; the run pins the reference", async () => {
  await using server = testApp();
  const client = await server.client();
  await client.put("/v1/secrets/KEY", { value });
  const agent = await agentWith(client, { "x-key": "{{secret.KEY}}" }, 2);
  beforeAnswer = async () => {
    if (sent.length === 1) await client.put("/v1/secrets/KEY", { value: "canary-of-tomorrow" });
  };
  expect((await runOf(client, agent)).status).toBe("completed");
  expect(sent.map((headers) => headers["x-key"])).toEqual([value, "canary-of-tomorrow"]);
});

test("a changed header applies from the next run on, however many runs have sent the old one", async () => {
  await using server = testApp();
  const client = await server.client();
  const agent = await agentWith(client, { "x-key": "first" });
  await runOf(client, agent);
  await runOf(client, agent);
  const [tool] = (await client.get(`/v1/agents/${agent}`)).body.tools;
  expect((await client.patch(`/v1/tools/${tool.id}`, { headers: { "x-key": "second" } })).status).toBe(200);
  await runOf(client, agent);
  expect(sent.map((headers) => headers["x-key"])).toEqual(["first", "first", "second"]);
});

test("a deleted secret fails the call with an error that names it, and the run continues", async () => {
  await using server = testApp();
  const client = await server.client();
  await client.put("/v1/secrets/KEY", { value });
  const agent = await agentWith(client, { "x-key": "{{secret.KEY}}" });
  await client.delete("/v1/secrets/KEY");
  const run = await runOf(client, agent);
  expect(run).toMatchObject({ status: "completed", output: "Done." });
  expect(run.tool_calls[0]).toMatchObject({ status: "failed", error: { code: "secret_not_found" }, attempts: 0 });
  expect(run.tool_calls[0].error.message).toContain("KEY");
  expect(sent).toEqual([]);
});

test("a secret echoed by a tool reaches neither the model nor the journal", async () => {
  await using server = testApp();
  const client = await server.client();
  await client.put("/v1/secrets/KEY", { value });
  const headers = { Authorization: "Bearer {{secret.KEY}}", "x-own": "canary-of-a-header" };
  const run = await runOf(client, await agentWith(client, headers));
  expect(sent[0]).toMatchObject({ authorization: `Bearer ${value}`, "x-own": "canary-of-a-header" });
  expect(run.tool_calls[0].output).toMatchObject({ authorization: "[hidden]", "x-own": "[hidden]" });
  const trace = await client.get(`/v1/traces/${run.id}?include=raw`);
  const tables = ["run_events", "blobs", "runs"].map((table) => server.db.sqlite.query(`SELECT * FROM ${table}`).all());
  expect(JSON.stringify([run, trace.body, tables])).not.toContain("canary");
});

test("sealed values are unreadable in the database, and a copied row cannot be decrypted", async () => {
  await using server = testApp();
  const client = await server.client();
  await client.put("/v1/secrets/KEY", { value });
  await server.connections.put(
    { name: "c", provider: "openai", base_url: null, api_key: "canary-of-a-provider" },
    testActor,
  );
  const tool = await client.post("/v1/tools", {
    name: "t",
    url: "https://example.com/",
    headers: { a: "canary-of-a-header" },
  });
  const bytes = Buffer.from(server.db.sqlite.serialize()).toString("latin1");
  for (const secret of ["canary", tool.body.signing_secret, client.key.secret]) expect(bytes).not.toContain(secret);
  const agent = await agentWith(client, { "x-key": "{{secret.KEY}}" });
  await client.put("/v1/secrets/OTHER", { value: "of-less-worth" });
  server.db.sqlite.run("UPDATE secrets SET sealed = (SELECT sealed FROM secrets WHERE name = 'OTHER')");
  expect((await runOf(client, agent)).error.code).toBe("internal_error");
  expect(sent).toEqual([]);
});

test("the audit log names who set and deleted a secret, without the value", async () => {
  await using server = testApp();
  const client = await server.client();
  const { body } = await client.put("/v1/secrets/KEY", { value });
  await client.delete("/v1/secrets/KEY");
  const rows = server.db.sqlite.query("SELECT * FROM audit_log WHERE target_type = 'secret' ORDER BY id").all();
  expect(rows).toMatchObject(
    ["secret.set", "secret.deleted"].map((action) => ({
      action,
      actor_id: client.key.id,
      target_id: body.id,
      details: '{"name":"KEY"}',
      ...client.scope,
    })),
  );
  expect(JSON.stringify(rows)).not.toContain("canary");
});
