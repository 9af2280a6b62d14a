import { expect, test } from "bun:test";
import { type Client, testApp } from "../testing/test-app.ts";

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

test("a tool without a URL is a client tool and has nothing of HTTP", async () => {
  await using server = testApp();
  const client = await server.client();
  const { body } = await client.post("/v1/tools", { name: "ask" });
  expect(body.type).toBe("client");
  for (const field of ["url", "headers", "signing_secret", "idempotent"]) expect(body).not.toHaveProperty(field);
  expect(await refusal(client, { name: "x", type: "client", url })).toEqual([400, "validation_failed", "url"]);
  expect((await client.patch(`/v1/tools/${body.id}`, { retries: 1 })).body.error.param).toBe("retries");
});

test("what may be sent twice follows the method unless the tool says otherwise", async () => {
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

test("another origin gets no header that was written for the one before", async () => {
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

test("a name is one tool's in its project and environment, and free again when the tool is deleted", async () => {
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
  ["a type of later", { name: "a", type: "mcp" }, 400, "validation_failed", "type"],
])("a tool with %s is refused", async (_, body, ...expected) => {
  await using server = testApp();
  expect(await refusal(await server.client(), body)).toEqual(expected);
});

test("a live tool is reached over https, never on this machine", async () => {
  await using server = testApp();
  const live = await server.client({ environment: "live" });
  for (const address of [url, "https://127.0.0.1/", "http://93.184.215.14/"])
    expect((await refusal(live, http({ url: address })))[1]).toBe("url_not_allowed");
});
