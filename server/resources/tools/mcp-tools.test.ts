import { afterAll, beforeEach, expect, test } from "bun:test";
import { newId } from "../../domain/ids.ts";
import type { Scope } from "../../domain/scope.ts";
import { createEgress } from "../../lib/egress.ts";
import { createSeal } from "../../lib/seal.ts";
import type { McpListing } from "../../runtime/mcp/read-tools.ts";
import { createAudit } from "../../storage/db/audit.ts";
import { testActor } from "../../testing/test-actor.ts";
import { type Client, testApp } from "../../testing/test-app.ts";
import type { CreateTool } from "./schema.ts";
import { openToolSecrets, resolveToolSecrets, sealedOf } from "./secrets.ts";
import { createToolStore } from "./store.ts";

interface Listed {
  name: string;
  description?: string;
  inputSchema?: unknown;
}

const inputSchema = { type: "object", properties: { id: { type: "string" } }, required: ["id"] };

let offers: Listed[] = [];
let asked: Headers[] = [];
let refuses = false;
/** Server that implements the part of the protocol needed for listing. */
const mcp = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  async fetch(request) {
    if (request.method !== "POST") return new Response(null, { status: 405 });
    const { id, method, params } = (await request.json()) as { id?: number; method: string; params?: Listed };
    asked.push(request.headers);
    if (refuses) return new Response(`No: ${request.headers.get("authorization")}`, { status: 503 });
    if (id === undefined) return new Response(null, { status: 202 });
    const { protocolVersion } = (params ?? {}) as { protocolVersion?: string };
    const result =
      method === "initialize"
        ? { protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "crm", version: "1" } }
        : { tools: offers };
    return Response.json({ jsonrpc: "2.0", id, result });
  },
});
afterAll(() => mcp.stop(true));
beforeEach(() => {
  offers = [
    { name: "find", description: "Finds.", inputSchema },
    { name: "delete", inputSchema },
  ];
  asked = [];
  refuses = false;
});

const server_url = `http://127.0.0.1:${mcp.port}/mcp`;
const crm = (change: object = {}) => ({ name: "crm", type: "mcp", server_url, ...change });

async function refusal(client: Client, body: object) {
  const { status, body: answer } = await client.post("/v1/tools", body);
  return [status, answer.error?.code, answer.error?.param];
}

test("an MCP tool shows its server's tools, and sends its headers", async () => {
  await using server = testApp();
  const client = await server.client();
  await client.put("/v1/secrets/KEY", { value: "canary-4711" });
  const { status, body } = await client.post("/v1/tools", crm({ headers: { Authorization: "Bearer {{secret.KEY}}" } }));
  expect(status).toBe(201);
  expect(body).toMatchObject({
    type: "mcp",
    server_url,
    allowed_tools: null,
    headers: { Authorization: "********" },
    timeout_ms: 30_000,
    parameters: null,
    tools: [
      { name: "find", description: "Finds.", parameters: inputSchema },
      { name: "delete", description: "", parameters: inputSchema },
    ],
    skipped: [],
    listed_at: expect.stringMatching(/Z$/),
    last_error: null,
  });
  for (const field of ["signing_secret", "idempotent"]) expect(body).not.toHaveProperty(field);
  expect(asked.map((headers) => headers.get("authorization"))).toContain("Bearer canary-4711");
});

test("a tool whose server does not answer is created all the same, reports why, and gets its list later", async () => {
  await using server = testApp();
  const client = await server.client();
  refuses = true;
  const { status, body } = await client.post("/v1/tools", crm({ headers: { Authorization: "Bearer canary-4711" } }));
  expect([status, body.tools, body.listed_at]).toEqual([201, [], null]);
  expect(body.last_error).toMatchObject({ code: "mcp_unreachable", message: expect.stringContaining("503") });
  expect(JSON.stringify(body)).not.toContain("canary-4711");
  refuses = false;
  const refreshed = await client.post(`/v1/tools/${body.id}/refresh`);
  expect([refreshed.status, refreshed.body.tools.length, refreshed.body.last_error]).toEqual([200, 2, null]);
  refuses = true;
  const again = (await client.post(`/v1/tools/${body.id}/refresh`)).body;
  expect([again.tools.length, again.listed_at, again.last_error.code]).toEqual([
    2,
    refreshed.body.listed_at,
    "mcp_unreachable",
  ]);
  const { body: other } = await client.post("/v1/tools", { name: "ask" });
  expect((await client.post(`/v1/tools/${other.id}/refresh`)).status).toBe(400);
});

test("agents get the allowed tools, and the omitted ones are named", async () => {
  await using server = testApp();
  const client = await server.client();
  offers.push({ name: "odd", inputSchema: { type: "object", properties: { a: { type: "foo" } } } });
  const { body } = await client.post("/v1/tools", crm({ allowed_tools: ["find", "odd", "absent"] }));
  expect(body.tools.map(({ name }: Listed) => name)).toEqual(["find"]);
  expect(body.skipped.map(({ name }: Listed) => name)).toEqual(["odd", "absent"]);
  const all = await client.patch(`/v1/tools/${body.id}`, { allowed_tools: null });
  expect(all.body.tools.map(({ name }: Listed) => name)).toEqual(["find", "delete"]);
});

test("a changed URL means another server: its headers must be set again, and its list is unknown", async () => {
  await using server = testApp();
  const client = await server.client();
  const { body: tool } = await client.post("/v1/tools", crm({ headers: { "x-key": "secret" } }));
  const path = `/v1/tools/${tool.id}`;
  const nobody = "http://127.0.0.1:65535/";
  expect((await client.patch(path, { server_url: nobody })).body.error.param).toBe("headers");
  const kept = await client.patch(path, { server_url: nobody, headers: { "x-key": "********" } });
  expect(kept.body.error.param).toBe("headers.x-key");
  const moved = (await client.patch(path, { server_url: nobody, headers: {} })).body;
  expect([moved.tools, moved.listed_at, moved.last_error.code]).toEqual([[], null, "connect_failed"]);
  expect((await client.patch(path, { server_url })).body.tools).toHaveLength(2);
});

test("a stdio server must be configured by the operator, and gets no headers", async () => {
  await using server = testApp({ environment: { RUNNEL_MCP_NOTES_COMMAND: "/nowhere/notes" } });
  const client = await server.client();
  const { status, body } = await client.post("/v1/tools", crm({ server_url: "stdio:notes" }));
  expect([status, body.listed_at, body.last_error.code]).toEqual([201, null, "mcp_unreachable"]);
  for (const [change, param] of [
    [{ server_url: "stdio:other" }, "server_url"],
    [{ server_url: "stdio:__proto__" }, "server_url"],
    [{ server_url: "stdio:notes", headers: { a: "b" } }, "headers"],
  ] as const)
    expect(await refusal(client, crm({ name: "b", ...change }))).toEqual([400, "validation_failed", param]);
  expect((await client.patch(`/v1/tools/${body.id}`, { headers: { a: "b" } })).body.error.param).toBe("headers");
});

test.each<[string, object, number, string, string]>([
  ["no address", { server_url: undefined }, 400, "validation_failed", "server_url"],
  ["a private address", { server_url: "https://10.0.0.1/" }, 403, "url_not_allowed", "server_url"],
  ["a password in its address", { server_url: "https://a:b@example.com/" }, 400, "validation_failed", "server_url"],
  ["a secret in its address", { server_url: `${server_url}/{{secret.A}}` }, 400, "validation_failed", "server_url"],
  ["parameters of its own", { parameters: { type: "object" } }, 400, "validation_failed", "parameters"],
  [
    "a header of the protocol",
    { headers: { "Mcp-Session-Id": "1" } },
    400,
    "validation_failed",
    "headers.Mcp-Session-Id",
  ],
  ["an unknown secret", { headers: { a: "{{secret.NONE}}" } }, 400, "validation_failed", "headers.a"],
  ["a timeout under a second", { timeout_ms: 999 }, 400, "validation_failed", "timeout_ms"],
  ["one name twice", { allowed_tools: ["a", "a"] }, 400, "validation_failed", "allowed_tools"],
])("an MCP tool with %s is refused", async (_, change, ...expected) => {
  await using server = testApp();
  expect(await refusal(await server.client(), crm(change))).toEqual(expected);
});

test("a live MCP server must use https", async () => {
  await using server = testApp();
  expect((await refusal(await server.client({ environment: "live" }), crm()))[1]).toBe("url_not_allowed");
});

// --- Pinned tools
// -----------------------------------------------------------------------------------------------------

const tool = (name: string) => ({ name, description: "", parameters: inputSchema, idempotent: false });

/** Creates a store whose servers return the test's lists. */
async function setUp() {
  let at = 1_800_000_000_000;
  const server = testApp();
  const { scope } = await server.client();
  const seal = createSeal(new Uint8Array(32));
  const servers: Record<string, () => Promise<McpListing>> = {};
  const calls: string[] = [];
  const tools = createToolStore({
    db: server.db,
    audit: createAudit({ db: server.db }),
    seal,
    egress: () => ({ ...createEgress({ allow: [], loopback: true }), check: async () => {} }),
    secrets: { has: () => true, value: () => "value-of-the-secret" },
    hasAgent: () => true,
    resolveAgent: (_, { agent_id }) => ({ agent_id, version: null, label: null }),
    fileFacts: () => [],
    hasStdioServer: () => false,
    oauth: {
      hasClient: () => false,
      isPerUser: () => false,
      clientFor: () => Promise.reject(new Error("No tool of this test asks for a client.")),
      tokenFor: () => Promise.reject(new Error("No tool of this test asks for a token.")),
    },
    sandboxLevel: async () => "strict",
    python: null,
    listTools: async (_, { url }) => {
      calls.push(url);
      return servers[url]!();
    },
    now: () => at,
  });
  const make = async (name: string, input: Partial<CreateTool>) =>
    (await tools.create({ ...scope, actor: testActor }, { name, ...input } as CreateTool)).id;
  return {
    tools,
    scope,
    seal,
    servers,
    calls,
    make,
    /** Creates an MCP tool whose server has these tools. */
    serving(name: string, names: string[], input: Partial<CreateTool> = {}) {
      servers[`https://${name}/`] = async () => ({ tools: names.map(tool), skipped: [] });
      return make(name, { type: "mcp", server_url: `https://${name}/`, ...input });
    },
    pass(ms: number) {
      at += ms;
    },
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

const pinnedNames = (store: Awaited<ReturnType<typeof setUp>>, scope: Scope, ids: string[]) =>
  store.tools.snapshots(scope, ids).tools.map(({ name }) => name);

test("each tool of a server is pinned under a unique name, with the rules of the MCP tool", async () => {
  await using store = await setUp();
  const headers = { Authorization: "Bearer {{secret.KEY}}" };
  const id = await store.serving("crm", ["find", "delete"], { approval: "always", on_unknown: "report", headers });
  const { tools, unavailable } = store.tools.snapshots(store.scope, [id]);
  expect(unavailable).toEqual([]);
  expect(tools).toMatchObject(
    ["delete", "find"].map((name) => ({
      id,
      name: `crm_${name}`,
      type: "mcp",
      approval: "always",
      on_unknown: "report",
      http: null,
      parameters: inputSchema,
      idempotent: false,
      mcp: { server_url: "https://crm/", tool: name, timeout_ms: 30_000 },
    })),
  );
  const opened = openToolSecrets(store.seal, store.scope, id, sealedOf(tools[0]!)!);
  expect(opened.headers).toEqual(headers);
  expect(resolveToolSecrets(opened, () => "k").headers).toEqual({ Authorization: "Bearer k" });
});

test("a server that lists its tools in another order gives agents the same", async () => {
  await using store = await setUp();
  const [first, second] = [
    await store.serving("crm", ["find", "delete", "Add"]),
    await store.serving("crm2", ["delete", "Add", "find"]),
  ];
  expect(pinnedNames(store, store.scope, [first])).toEqual(["crm_Add", "crm_delete", "crm_find"]);
  expect(pinnedNames(store, store.scope, [second])).toEqual(["crm2_Add", "crm2_delete", "crm2_find"]);
});

test("what a server lists never contains the headers that it was sent", async () => {
  await using store = await setUp();
  const secret = "value-of-the-secret";
  const described = { ...tool("find"), description: `Finds by ${secret}.` };
  store.servers["https://crm/"] = async () => ({ tools: [described], skipped: [{ name: secret, reason: secret }] });
  const headers = { "x-key": "{{secret.KEY}}" };
  const id = await store.make("crm", { type: "mcp", server_url: "https://crm/", headers });
  store.servers["https://crm/"] = () => Promise.reject(Object.assign(new Error(`No ${secret}`), { code: "mcp_error" }));
  store.pass(300_001);
  await store.tools.refreshStale(store.scope, [id]);
  const shown = store.tools.get(store.scope, id);
  expect(shown).toMatchObject({
    tools: [{ description: "Finds by [hidden]." }],
    last_error: { message: "No [hidden]" },
  });
  expect(JSON.stringify([shown, store.tools.snapshots(store.scope, [id])])).not.toContain(secret);
});

test("a server that lists more than it was asked for gives agents no more", async () => {
  await using store = await setUp();
  const id = await store.serving("crm", ["find", "delete"], { allowed_tools: ["find"] });
  expect(pinnedNames(store, store.scope, [id])).toEqual(["crm_find"]);
});

test("names that are equal or too long are made unique, in the same way each time", async () => {
  await using store = await setUp();
  const long = "x".repeat(64);
  const client = await store.make("a_b_c", {});
  const first = await store.serving("a", ["b_c", "b.c", `${long}1`, `${long}2`]);
  const second = await store.serving("a_b", ["c"]);
  const names = pinnedNames(store, store.scope, [first, second, client]);
  expect(names).toEqual(["a_b_c_2", "a_b_c_3", `a_${"x".repeat(62)}`, `a_${"x".repeat(60)}_2`, "a_b_c_4", "a_b_c"]);
  expect(pinnedNames(store, store.scope, [first, second, client])).toEqual(names);
});

test("a server that never answered, or whose list is too long, is not pinned, and the run reports it", async () => {
  await using store = await setUp();
  store.servers["https://silent/"] = () => Promise.reject(Object.assign(new Error("No."), { code: "mcp_unreachable" }));
  const silent = await store.make("silent", { type: "mcp", server_url: "https://silent/" });
  const large = await store.serving(
    "large",
    Array.from({ length: 128 }, (_, i) => `t${i}`),
  );
  const ask = await store.make("ask", {});
  const off = await store.serving("off", ["a"], { enabled: false });
  const { tools, unavailable } = store.tools.snapshots(store.scope, [ask, silent, large, off, newId("tool")]);
  expect(tools.map(({ name }) => name)).toEqual(["ask"]);
  expect(unavailable).toEqual([
    { tool: "silent", message: "The tools of its MCP server have never been listed. No." },
    { tool: "large", message: expect.stringContaining("129, more than 128") },
  ]);
});

test("a run waits for a list only if it is older than five minutes, and several runs share one request", async () => {
  await using store = await setUp();
  const id = await store.serving("crm", ["old"]);
  const client = await store.make("ask", {});
  store.servers["https://crm/"] = async () => ({ tools: [tool("new")], skipped: [] });
  store.pass(300_000);
  expect(store.tools.refreshStale(store.scope, [id, client])).toBeUndefined();
  store.pass(1);
  const before = store.calls.length;
  await Promise.all([store.tools.refreshStale(store.scope, [id]), store.tools.refreshStale(store.scope, [client, id])]);
  expect(store.calls.length - before).toBe(1);
  expect(pinnedNames(store, store.scope, [id])).toEqual(["crm_new"]);
  expect(store.tools.refreshStale(store.scope, [id])).toBeUndefined();
});

test("a server that says that its list has changed is asked again by the next run, once", async () => {
  await using store = await setUp();
  const id = await store.serving("crm", ["old"]);
  store.servers["https://crm/"] = async () => ({ tools: [tool("new")], skipped: [] });
  expect(store.tools.refreshStale(store.scope, [id])).toBeUndefined();
  store.tools.noteChanged(id);
  await store.tools.refreshStale(store.scope, [id]);
  expect(pinnedNames(store, store.scope, [id])).toEqual(["crm_new"]);
  expect(store.tools.refreshStale(store.scope, [id])).toBeUndefined();
});

test("an unavailable server keeps its last list, and not every run waits for it", async () => {
  await using store = await setUp();
  const id = await store.serving("crm", ["old"]);
  store.servers["https://crm/"] = () => Promise.reject(new Error("secret inside"));
  store.pass(300_001);
  await store.tools.refreshStale(store.scope, [id]);
  expect(pinnedNames(store, store.scope, [id])).toEqual(["crm_old"]);
  expect(JSON.stringify(store.tools.get(store.scope, id))).not.toContain("secret inside");
  expect(store.tools.refreshStale(store.scope, [id])).toBeUndefined();
  store.pass(30_000);
  expect(store.tools.refreshStale(store.scope, [id])).toBeInstanceOf(Promise);
});

test("a late answer of the former server does not apply to a tool's new server", async () => {
  await using store = await setUp();
  const id = await store.serving("before", ["a"]);
  const late = Promise.withResolvers<McpListing>();
  store.servers["https://before/"] = () => late.promise;
  store.pass(300_001);
  const refreshing = store.tools.refreshStale(store.scope, [id]);
  store.servers["https://after/"] = async () => ({ tools: [tool("b")], skipped: [] });
  await store.tools.update({ ...store.scope, actor: testActor }, id, { server_url: "https://after/" });
  late.resolve({ tools: [tool("a")], skipped: [] });
  await refreshing;
  expect(pinnedNames(store, store.scope, [id])).toEqual(["before_b"]);
});

test("pinned tools of other types have everything that their calls need", async () => {
  await using store = await setUp();
  const agent_id = newId("agent");
  const ids = [
    await store.make("code", { type: "code", source: "() => 1" }),
    await store.make("any", { type: "code", language: "python" }),
    await store.make("agent", { type: "agent", agent_id }),
    await store.make("hook", { type: "webhook", url: "https://hook/", retries: 2 }),
  ];
  const { tools } = store.tools.snapshots(store.scope, ids);
  const call = { url: "https://hook/", method: "POST", timeout_ms: 30_000, retries: 2, response: "json" };
  const limits = { timeout_ms: 5000, file_ids: [] };
  expect(tools).toMatchObject([
    { code: { language: "javascript", source: "() => 1", memory_mb: 64, ...limits }, idempotent: true, http: null },
    { code: { language: "python", source: null, memory_mb: 256, ...limits }, parameters: { required: ["code"] } },
    { agent: { agent_id }, parameters: { required: ["input"] }, http: null },
    { type: "webhook", http: { ...call, sealed: expect.any(String) }, idempotent: false },
  ]);
  for (const tool of tools) if (tool.type === "code") expect(tool.code).not.toHaveProperty("files");
  expect(tools.map(sealedOf).map((sealed) => sealed !== null)).toEqual([false, false, false, true]);
});
