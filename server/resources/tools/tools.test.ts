import { expect, test } from "bun:test";
import { type Client, testApp } from "../../testing/test-app.ts";

const url = "http://127.0.0.1:8080/tool";
const http = (change: object = {}) => ({ name: "book", description: "Books.", url, ...change });

async function refusal(client: Client, body: object) {
  const { status, body: answer } = await client.post("/v1/tools", body);
  return [status, answer.error?.code, answer.error?.param];
}

test("a tool with a URL is an HTTP tool, and its secrets are shown once or never", async () => {
  await using server = testApp();
  const client = await server.client();
  const created = await client.post("/v1/tools", http({ headers: { Authorization: "Bearer canary" } }));
  expect(created.status).toBe(201);
  expect(structuredClone(created.body)).toMatchObject({
    object: "tool",
    type: "http",
    url,
    method: "POST",
    headers: { Authorization: "********" },
    timeout_ms: 30_000,
    retries: 0,
    response: "json",
    idempotent: false,
    approval: "never",
    on_unknown: "ask",
    max_output_bytes: 262_144,
    enabled: true,
    parameters: { type: "object", properties: {} },
    signing_secret: expect.stringMatching(/^whsec_/),
    ...client.scope,
  });
  const later = await client.get(`/v1/tools/${created.body.id}`);
  expect(later.body).not.toHaveProperty("signing_secret");
  const { definition, sealed } = server.db.sqlite
    .query<{ definition: string; sealed: string }, []>("SELECT * FROM tools")
    .get()!;
  expect(`${definition}${sealed}${JSON.stringify(later.body)}`).not.toContain("canary");
});

test("a tool without a URL is a client tool and has no HTTP fields", async () => {
  await using server = testApp();
  const client = await server.client();
  const { body } = await client.post("/v1/tools", { name: "ask" });
  expect(body.type).toBe("client");
  for (const field of ["url", "headers", "signing_secret", "idempotent"]) expect(body).not.toHaveProperty(field);
  expect(await refusal(client, { name: "x", type: "client", url })).toEqual([400, "validation_failed", "url"]);
  expect((await client.patch(`/v1/tools/${body.id}`, { retries: 1 })).body.error.param).toBe("retries");
});

test("a webhook tool is a POST with a signature of its own, and has no other method", async () => {
  await using server = testApp();
  const client = await server.client();
  const headers = { Authorization: "Bearer canary" };
  const { status, body } = await client.post("/v1/tools", http({ type: "webhook", headers, on_unknown: "retry" }));
  expect(status).toBe(201);
  expect(body).toMatchObject({
    type: "webhook",
    url,
    headers: { Authorization: "********" },
    timeout_ms: 30_000,
    retries: 0,
    idempotent: false,
    on_unknown: "retry",
    signing_secret: expect.stringMatching(/^whsec_/),
  });
  for (const field of ["method", "response"]) expect(body).not.toHaveProperty(field);
  const path = `/v1/tools/${body.id}`;
  expect((await client.get(path)).body).not.toHaveProperty("signing_secret");
  expect((await client.patch(path, { idempotent: true })).body.idempotent).toBe(true);
  expect((await client.patch(path, { method: "PUT" })).body.error.param).toBe("method");
  expect((await client.patch(path, { url: "http://127.0.0.1:9999/" })).body.error.param).toBe("headers");
});

// An ignored field would mislead its sender.
const minimal = {
  http: { url },
  webhook: { url },
  client: {},
  code: {},
  mcp: { server_url: "http://127.0.0.1:65535/" },
};
const fieldsOfOthers: Record<keyof typeof minimal, object> = {
  http: { language: "javascript", source: "1", memory_mb: 64, files: [], server_url: url, allowed_tools: [] },
  webhook: { method: "POST", response: "json", source: "1", server_url: url },
  client: { url, headers: {}, timeout_ms: 1000, retries: 0, idempotent: true, source: "1", allowed_tools: null },
  code: { url, headers: {}, retries: 0, idempotent: true, response: "json", server_url: url },
  mcp: { url, method: "GET", retries: 0, response: "json", idempotent: true, language: "python", files: [] },
};
test.each(Object.keys(minimal) as (keyof typeof minimal)[])(
  "each field of another type is refused to %s tools",
  async (type) => {
    await using server = testApp();
    const client = await server.client();
    for (const [field, value] of Object.entries(fieldsOfOthers[type])) {
      const { status, body } = await client.post("/v1/tools", { name: "a", type, ...minimal[type], [field]: value });
      expect({ field, status, faults: body.error?.errors }).toMatchObject({
        field,
        status: 400,
        faults: [{ param: field }],
      });
    }
    const { body: tool } = await client.post("/v1/tools", { name: "a", type, ...minimal[type] });
    for (const [field, value] of Object.entries(fieldsOfOthers[type]))
      expect((await client.patch(`/v1/tools/${tool.id}`, { [field]: value })).body.error).toMatchObject({
        param: field,
      });
  },
);

test("an agent tool calls an agent of its own project and environment, with a text", async () => {
  await using server = testApp();
  const client = await server.client();
  const agentOf = async (of: Client) =>
    (await of.post("/v1/agents", { name: "a", instructions: "", model: "test/echo" })).body.id;
  const agent_id = await agentOf(client);
  const body = { name: "ask", type: "agent", agent_id };
  const created = await client.post("/v1/tools", body);
  expect(created.status).toBe(201);
  expect(created.body).toMatchObject({ type: "agent", agent_id, parameters: { required: ["input"] } });
  expect(created.body).not.toHaveProperty("signing_secret");
  const path = `/v1/tools/${created.body.id}`;
  const stranger = await server.client({ project: "other" });
  const bound = await server.client({ agent_ids: [await agentOf(client)] });
  for (const [who, refused, param] of [
    [client, { name: "b", type: "agent" }, "agent_id"],
    [client, { ...body, name: "b", agent_id: "agt_none" }, "agent_id"],
    [client, { ...body, name: "b", agent_id: await agentOf(stranger) }, "agent_id"],
    [stranger, body, "agent_id"],
    [bound, { ...body, name: "b" }, "agent_id"],
    [client, { ...body, name: "b", parameters: { type: "object" } }, "parameters"],
    [client, { ...body, name: "b", headers: {} }, "headers"],
  ] as const)
    expect(await refusal(who, refused)).toEqual([400, "validation_failed", param]);
  expect((await client.patch(path, { agent_id: await agentOf(stranger) })).body.error.param).toBe("agent_id");
  await client.delete(`/v1/agents/${agent_id}`);
  expect((await client.patch(path, { description: "x" })).status).toBe(200);
  const other = await agentOf(client);
  expect((await client.patch(path, { agent_id: other })).body.agent_id).toBe(other);
});

test("a tool of an earlier version, whose row has fewer fields, is shown and changed like any other", async () => {
  await using server = testApp();
  const client = await server.client();
  const { body: tool } = await client.post("/v1/tools", http());
  const old = {
    description: "Old.",
    parameters: { type: "object" },
    approval: "never",
    on_unknown: "ask",
    max_output_bytes: 100,
    enabled: true,
    http: { url, method: "PUT", timeout_ms: 1000, retries: 1, response: "text", idempotent: null, header_names: [] },
  };
  server.db.sqlite.query("UPDATE tools SET definition = ?").run(JSON.stringify(old));
  const path = `/v1/tools/${tool.id}`;
  const { http: call, ...rest } = old;
  const { header_names, ...shown } = call;
  expect((await client.get(path)).body).toMatchObject({ ...rest, ...shown, idempotent: true, headers: {} });
  expect((await client.patch(path, { retries: 2 })).body).toMatchObject({ ...shown, retries: 2, idempotent: true });
});

test("idempotency follows the method unless it is set", async () => {
  await using server = testApp();
  const client = await server.client();
  const { body: tool } = await client.post("/v1/tools", http({ method: "GET" }));
  const path = `/v1/tools/${tool.id}`;
  expect(tool.idempotent).toBe(true);
  expect((await client.patch(path, { method: "POST" })).body.idempotent).toBe(false);
  expect((await client.patch(path, { idempotent: true })).body.idempotent).toBe(true);
  expect((await client.get(path)).body).toMatchObject({ method: "POST", idempotent: true });
});

test("a masked header that is sent back keeps its value", async () => {
  await using server = testApp();
  const client = await server.client();
  const { body: tool } = await client.post("/v1/tools", http({ headers: { "x-key": "secret", "x-old": "gone" } }));
  const changed = await client.patch(`/v1/tools/${tool.id}`, { headers: { "x-key": "********", "x-new": "1" } });
  expect(changed.body.headers).toEqual({ "x-key": "********", "x-new": "********" });
  const invented = await client.patch(`/v1/tools/${tool.id}`, { headers: { "x-old": "********" } });
  expect(invented.body.error.param).toBe("headers.x-old");
});

test("a changed origin does not get headers set for the former one", async () => {
  await using server = testApp();
  const client = await server.client();
  const { body: tool } = await client.post("/v1/tools", http({ headers: { "x-key": "secret" } }));
  const change = (fields: object) => client.patch(`/v1/tools/${tool.id}`, fields);
  const elsewhere = "http://127.0.0.1:9999/";
  for (const [fields, param] of [
    [{ url: elsewhere }, "headers"],
    [{ url: elsewhere, headers: { "x-key": "********" } }, "headers.x-key"],
  ] as const) {
    const { status, body } = await change(fields);
    expect([status, body.error.code, body.error.param]).toEqual([400, "validation_failed", param]);
  }
  expect((await client.get(`/v1/tools/${tool.id}`)).body.url).toBe(url);
  expect((await change({ url: `${url}/other` })).status).toBe(200);
  expect((await change({ url: elsewhere, headers: { "x-key": "new" } })).status).toBe(200);
  expect((await change({ url, headers: {} })).status).toBe(200);
  expect((await change({ url: elsewhere })).status).toBe(200);
});

test("a name is unique in its project and environment, and free again when the tool is deleted", async () => {
  await using server = testApp();
  const client = await server.client();
  const { body: tool } = await client.post("/v1/tools", http());
  expect(await refusal(client, http())).toEqual([409, "name_taken", "name"]);
  const { body: other } = await client.post("/v1/tools", { name: "other" });
  expect((await client.patch(`/v1/tools/${other.id}`, { name: "book" })).body.error.code).toBe("name_taken");
  expect((await client.patch(`/v1/tools/${tool.id}`, { name: "book" })).status).toBe(200);
  expect((await (await server.client({ project: "other" })).post("/v1/tools", http())).status).toBe(201);
  expect((await client.delete(`/v1/tools/${tool.id}`)).body).toMatchObject({
    id: tool.id,
    object: "tool",
    deleted: true,
  });
  expect((await client.delete(`/v1/tools/${tool.id}`)).status).toBe(404);
  expect((await client.post("/v1/tools", http())).status).toBe(201);
});

test("tools are listed by type", async () => {
  await using server = testApp();
  const client = await server.client();
  await client.post("/v1/tools", http());
  await client.post("/v1/tools", { name: "ask" });
  expect((await client.get("/v1/tools?type=client")).body.data).toMatchObject([{ name: "ask" }]);
  expect((await client.get("/v1/tools?type=none")).body.error.param).toBe("type");
});

test.each<[string, object, number, string, string]>([
  ["no URL that can be read", http({ url: "nonsense" }), 400, "validation_failed", "url"],
  ["a password in the URL", http({ url: "https://a:b@example.com/" }), 400, "validation_failed", "url"],
  ["a private address", http({ url: "https://10.0.0.1/" }), 403, "url_not_allowed", "url"],
  ["the cloud's metadata", http({ url: "http://169.254.169.254/" }), 403, "url_not_allowed", "url"],
  ["no URL though it is HTTP", { name: "a", type: "http" }, 400, "validation_failed", "url"],
  ["a header of ours", http({ headers: { Host: "x" } }), 400, "validation_failed", "headers"],
  ...["Idempotency-Key", "X-Run-Id", "x-tool-call-id", "webhook-id", "Webhook-Timestamp", "webhook-signature"].map(
    (name): [string, object, number, string, string] => [
      `the header ${name} that each call sets`,
      http({ headers: { [name]: "x" } }),
      400,
      "validation_failed",
      `headers.${name}`,
    ],
  ),
  ["a line break in a header", http({ headers: { a: "b\r\nc: d" } }), 400, "validation_failed", "headers"],
  ["a named secret", http({ headers: { a: "{{secret.KEY}}" } }), 400, "validation_failed", "headers.a"],
  ["an odd name", { name: "a b" }, 400, "validation_failed", "name"],
  [
    "parameters of no object",
    { name: "a", parameters: { type: "string" } },
    400,
    "validation_failed",
    "parameters.type",
  ],
  [
    "an unknown type of parameter",
    { name: "a", parameters: { type: "object", properties: { a: { type: "foo" } } } },
    400,
    "validation_failed",
    "parameters",
  ],
  ["a broken approval", { name: "a", approval: { when: { type: "foo" } } }, 400, "validation_failed", "approval.when"],
  ["a timeout under a second", http({ timeout_ms: 999 }), 400, "validation_failed", "timeout_ms"],
  ["six retries", http({ retries: 6 }), 400, "validation_failed", "retries"],
  ["a type that there is not", { name: "a", type: "memory" }, 400, "validation_failed", "type"],
])("a tool with %s is refused", async (_, body, ...expected) => {
  await using server = testApp();
  expect(await refusal(await server.client(), body)).toEqual(expected);
});

// Clients and generators omit the type: arguments are an object in any case.
test.each([
  [{}, { type: "object", properties: {} }],
  [{ properties: { a: { type: "number" } } }, { type: "object", properties: { a: { type: "number" } } }],
  [{ type: "object" }, { type: "object" }],
])("parameters %j become those of an object", async (parameters, shown) => {
  await using server = testApp();
  const client = await server.client();
  const { status, body } = await client.post("/v1/tools", { name: "a", parameters });
  expect([status, body.parameters]).toEqual([201, shown]);
  await client.patch(`/v1/tools/${body.id}`, { parameters: { type: "object", required: ["b"] } });
  expect((await client.patch(`/v1/tools/${body.id}`, { parameters })).body.parameters).toEqual(shown);
});

test("a live tool must use https, and cannot be on this machine", async () => {
  await using server = testApp();
  const live = await server.client({ environment: "live" });
  for (const address of [
    url,
    "https://127.0.0.1/",
    "http://93.184.215.14/",
    "https://nas.localdomain/",
    "https://a.localhost/",
  ])
    expect((await refusal(live, http({ url: address })))[1]).toBe("url_not_allowed");
});

test("the URL of an HTTP tool may have its arguments as placeholders, and one that could stay empty is refused", async () => {
  await using server = testApp();
  const client = await server.client();
  const parameters = {
    type: "object",
    properties: { id: { type: "string" }, tags: { type: "array" } },
    required: ["id"],
  };
  const create = (path: string, more: object = {}) =>
    client.post("/v1/tools", {
      name: `t_${crypto.randomUUID()}`,
      url: `http://127.0.0.1:8080${path}`,
      parameters,
      ...more,
    });
  const { status, body: tool } = await create("/orders/{id}");
  expect([status, tool.url]).toEqual([201, "http://127.0.0.1:8080/orders/{id}"]);
  for (const path of ["/{id", "/{a b}", "/{?id}", "/{{id}}", "/#{id}", "/{tags}", "/{other}", ":{id}/"])
    expect([path, (await create(path)).body.error?.param]).toEqual([path, "url"]);
  expect((await create("/{id}", { type: "webhook" })).body.error.param).toBe("url");
  expect((await create("/{id}", { parameters: { type: "object" } })).body.error.param).toBe("url");
  const change = (body: object) => client.patch(`/v1/tools/${tool.id}`, body);
  expect((await change({ url: "http://127.0.0.1:8080/{other}" })).body.error.param).toBe("url");
  expect((await change({ parameters: { type: "object", properties: {} } })).body.error.param).toBe("parameters");
  const both = {
    url: "http://127.0.0.1:8080/{n}",
    parameters: { type: "object", properties: { n: { type: "number" } } },
  };
  expect((await change(both)).status).toBe(200);
  expect((await change({ description: "Reads." })).status).toBe(200);
});

test("rules for failures are kept and shown, taken away by null, and refused where they say nothing", async () => {
  await using server = testApp();
  const client = await server.client();
  const failures = [{ field: "ok", equals: false, hint: "Ask later.", repeat: true }, { status: 409 }];
  const tool = { name: "t", type: "http", url: "https://api.example.com/" };
  const { body } = await client.post("/v1/tools", { ...tool, failures });
  expect(body.failures).toEqual(failures);
  expect((await client.patch(`/v1/tools/${body.id}`, { description: "x" })).body.failures).toEqual(failures);
  expect((await client.patch(`/v1/tools/${body.id}`, { failures: null })).body.failures).toBeNull();
  for (const [wrong, param] of [
    [{ hint: "Always." }, "failures[0]"],
    [{ status: 200, equals: 1 }, "failures[0].field"],
    [{ status: 99 }, "failures[0].status"],
    [{ field: "a", equals: {} }, "failures[0].equals"],
  ] as const) {
    const refused = await client.post("/v1/tools", { ...tool, name: "u", failures: [wrong] });
    expect([refused.status, refused.body.error?.param, wrong]).toEqual([400, param, wrong]);
  }
});
