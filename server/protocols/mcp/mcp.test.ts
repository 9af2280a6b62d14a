import { afterAll, describe, expect, test } from "bun:test";
import type { Permission } from "../../domain/scope.ts";
import { connectMcp, kitVersions, type McpProgress, type McpTestClient } from "../../testing/mcp-client.ts";
import { rejection } from "../../testing/rejection.ts";
import { testActor } from "../../testing/test-actor.ts";
import { type Client as ApiClient, testApp } from "../../testing/test-app.ts";
import { sessionVersions } from "./protocol.ts";

// The official client and this server, without a socket between them.

const server = testApp();
afterAll(() => server[Symbol.asyncDispose]());

type Elicited = Record<string, unknown>;

interface Options {
  address?: string;
  /** Answers questions to a person; without it, the client cannot ask. */
  elicit?: (params: Elicited) => object;
  headers?: Record<string, string>;
}

const fetchOf =
  (headers: Record<string, string> = {}) =>
  (url: string | URL, init: RequestInit = {}) => {
    const all = new Headers(init.headers);
    for (const [name, value] of Object.entries(headers)) all.set(name, value);
    return server.app.handle(new Request(String(url), { ...init, headers: all }));
  };

const connect = ({ key }: Pick<ApiClient, "key">, { address = "/mcp", elicit, headers = {} }: Options = {}) =>
  connectMcp({
    url: `http://localhost${address}`,
    fetch: fetchOf({ authorization: `Bearer ${key.secret}`, ...headers }),
    ...(elicit && { elicit }),
  });

const agentBody = { name: "Desk helper", instructions: "Help.", model: "test/echo", doors: { mcp: true } };
const scripted = (script: object[], more: object = {}) => ({
  ...agentBody,
  name: `s${Math.random().toString(36).slice(2)}`,
  model: "test/script",
  model_settings: { script },
  ...more,
});

async function opened(more: { scopes?: Permission[]; agent?: object } = {}) {
  const owner = await server.client({ project: crypto.randomUUID() });
  const { body: agent } = await owner.post("/v1/agents", more.agent ?? agentBody);
  expect(agent.error).toBeUndefined();
  return { owner, agent, name: String(agent.name).replaceAll(" ", "_") };
}

// biome-ignore lint/suspicious/noExplicitAny: a test asks for fields that the types of the client do not promise.
const call = async (client: McpTestClient, name: string, args: object, options: object = {}): Promise<any> =>
  client.callTool({ name, arguments: args as Record<string, unknown> }, undefined, options);

test("the versions with sessions are those that the official kit speaks over this transport", () => {
  expect(kitVersions).toEqual(expect.arrayContaining([...sessionVersions]));
});

describe("an agent that opted in", () => {
  test("is a tool, and a call of it is a run with its record", async () => {
    const { owner, agent, name } = await opened();
    await owner.post("/v1/agents", { ...agentBody, name: "hidden", doors: {} });
    await using it = await connect(owner);
    expect(it.client.getServerVersion()).toMatchObject({ name: "runnel" });
    const { tools } = await it.client.listTools();
    expect(tools.map((tool) => [tool.name, tool.title])).toEqual([[name, "Desk helper"]]);
    const { content, isError, _meta } = await call(it.client, name, { input: "Hello" });
    expect([content, isError]).toEqual([[{ type: "text", text: "Hello" }], undefined]);
    const { body: run } = await owner.get(`/v1/runs/${_meta["runnel/run_id"]}`);
    expect(run).toMatchObject({ agent_id: agent.id, status: "completed", input: "Hello", output: "Hello" });
  });

  test("is gone for clients when it opts out, and its name is no tool", async () => {
    const { owner, agent, name } = await opened();
    await using it = await connect(owner);
    await owner.patch(`/v1/agents/${agent.id}`, { doors: { mcp: false } });
    expect((await it.client.listTools()).tools).toEqual([]);
    expect(await rejection(call(it.client, name, { input: "x" }))).toMatchObject({ code: -32602 });
  });

  test("answers with structured content where it has an output schema of objects", async () => {
    const output_schema = { type: "object", properties: { n: { type: "integer" } }, required: ["n"] };
    const { owner, name } = await opened({ agent: scripted([{ text: '{"n": 4}' }], { output_schema }) });
    await using it = await connect(owner);
    expect((await it.client.listTools()).tools[0]!.outputSchema).toEqual(output_schema as never);
    expect((await call(it.client, name, { input: "Go." })).structuredContent).toEqual({ n: 4 });
  });

  test("accepts what its input schema allows, and starts no run for anything else", async () => {
    const properties = { city: { type: "string" }, days: { type: "integer", minimum: 1 } };
    const input_schema = { type: "object", properties, required: ["city"], additionalProperties: false };
    const { owner, name } = await opened({ agent: { ...agentBody, input_schema } });
    await using it = await connect(owner);
    expect((await it.client.listTools()).tools[0]!.inputSchema).toEqual(input_schema as never);
    const { content } = await call(it.client, name, { city: "Oslo", days: 2 });
    expect(JSON.parse(content[0].text)).toEqual({ city: "Oslo", days: 2 });
    for (const wrong of [{}, { city: 1 }, { city: "Oslo", days: 0 }, { city: "Oslo", input: "x" }])
      expect((await call(it.client, name, wrong)).isError).toBe(true);
    expect((await owner.get("/v1/runs")).body.data.length).toBe(1);
  });

  test("is a prompt with the arguments of its input schema, and with its instructions if it has none", async () => {
    const properties = { city: { type: "string", description: "Where." }, days: { type: "integer" } };
    const input_schema = { type: "object", properties, required: ["city"] };
    const { owner, name } = await opened({ agent: { ...agentBody, instructions: "Be brief.", input_schema } });
    await using it = await connect(owner);
    expect((await it.client.listPrompts()).prompts[0]!.arguments).toEqual([
      { name: "city", description: "Where.", required: true },
      { name: "days", required: false },
    ]);
    const textOf = async (prompt: object) =>
      ((await it.client.getPrompt(prompt as never)).messages[0]!.content as { text: string }).text;
    expect(await textOf({ name, arguments: { city: "Oslo" } })).toBe('Be brief.\n\n{"city":"Oslo"}');
    for (const wrong of [{}, { city: "Oslo", other: "x" }])
      expect(await rejection(textOf({ name, arguments: wrong }))).toMatchObject({ code: -32602 });
    await owner.post("/v1/agents", { ...agentBody, name: "plain", instructions: "Be brief." });
    expect(await textOf({ name: "plain" })).toBe("Be brief.");
    expect(await textOf({ name: "plain", arguments: { input: "Hi." } })).toBe("Be brief.\n\nHi.");
  });

  test("continues a thread", async () => {
    const { owner, name } = await opened();
    const { body: thread } = await owner.post("/v1/threads", { title: "t" });
    await using it = await connect(owner);
    const { _meta } = await call(it.client, name, { input: "Hi", thread_id: thread.id });
    expect((await owner.get(`/v1/runs/${_meta["runnel/run_id"]}`)).body.thread_id).toBe(thread.id);
  });

  test("waits for its turn in a thread that is at work, and is refused in one that waits for answers", async () => {
    const { owner, name } = await opened();
    const { body: thread } = await owner.post("/v1/threads", {});
    const script = [{ text: "One two three.", delta_ms: 60_000 }];
    const { body: slow } = await owner.post("/v1/agents", scripted(script));
    const { body: run } = await owner.post("/v1/runs", { agent_id: slow.id, input: "Count.", thread_id: thread.id });
    await using it = await connect(owner);
    const second = call(it.client, name, { input: "Hi", thread_id: thread.id });
    while ((await owner.get("/v1/runs?status=queued")).body.data.length === 0) await Bun.sleep(5);
    await owner.post(`/v1/runs/${run.id}/cancel`, {});
    expect((await second).content[0].text).toBe("Hi");
    const { body: tool } = await owner.post("/v1/tools", { name: "ask" });
    const asks = scripted([{ tool_calls: [{ name: "ask", arguments: {} }] }], { tools: [tool.id] });
    const { body: asking } = await owner.post("/v1/agents", asks);
    await owner.post("/v1/runs?wait=60", { agent_id: asking.id, input: "Go.", thread_id: thread.id });
    const refused = await call(it.client, name, { input: "Hi", thread_id: thread.id });
    expect([refused.isError, refused.content[0].text]).toEqual([
      true,
      expect.stringContaining("waits for the answers"),
    ]);
  });

  test("reports progress that only grows", async () => {
    const { owner, name } = await opened();
    await using it = await connect(owner);
    const told: McpProgress[] = [];
    await call(it.client, name, { input: "Hello" }, { onprogress: (progress: McpProgress) => told.push(progress) });
    expect(told.length).toBeGreaterThan(1);
    expect(told.map(({ progress }) => progress)).toEqual(
      told.map(({ progress }) => progress).toSorted((a, b) => a - b),
    );
    expect(told[0]!.message).toMatch(/^run_\w+ began\.$/);
  });

  test.each([
    [{ input: "" }, /input/],
    [{}, /input/],
    [{ input: "x", model: "test/slow" }, /model: There is no such parameter/],
    [{ input: "x", thread_id: "thr_00000000000000000000000000" }, /thread/],
  ])("tells a model the fault of %j, and starts no run", async (args, message) => {
    const { owner, name } = await opened();
    await using it = await connect(owner);
    const { isError, content } = await call(it.client, name, args);
    expect([isError, content[0].text]).toEqual([true, expect.stringMatching(message)]);
    expect((await owner.get("/v1/runs")).body.data).toEqual([]);
  });

  test("with a failed run returns the reason, as an error for the model", async () => {
    const { owner, name } = await opened({ agent: scripted([{ error: "bad_request" }]) });
    await using it = await connect(owner);
    const { isError, content } = await call(it.client, name, { input: "Go." });
    expect([isError, content.at(-1).text]).toEqual([true, expect.stringMatching(/^model_error: /)]);
  });

  test("is called with the longest id and progress token, and no run begins with longer ones", async () => {
    const { owner, name } = await opened();
    const headers = { "mcp-session-id": await session(owner) };
    const ask = (id: string, progressToken: string) =>
      raw(
        owner,
        {
          jsonrpc: "2.0",
          id,
          method: "tools/call",
          params: { name, arguments: { input: "x" }, _meta: { progressToken } },
        },
        headers,
      );
    const [longest, longer] = [`"${"x".repeat(508)}`, `"${"x".repeat(509)}`];
    expect((await ask(longest, longest)).status).toBe(200);
    const [byId, byToken] = [await ask(longer, "p"), await ask("1", longer)];
    expect([byId.status, byId.body.id, byId.body.error.message]).toEqual([
      400,
      longer,
      "Expected an id of at most 512 characters as JSON.",
    ]);
    expect([byToken.body.id, byToken.body.error]).toEqual([
      "1",
      { code: -32602, message: "params._meta.progressToken: expected at most 512 characters as JSON." },
    ]);
    expect((await owner.get("/v1/runs")).body.data.length).toBe(1);
  });

  test("ends when the client cancels its request, and the run has the reason", async () => {
    const { owner, name } = await opened({ agent: scripted([{ text: "x ".repeat(5000), delta_ms: 50 }]) });
    await using it = await connect(owner);
    const abort = new AbortController();
    const begun = Promise.withResolvers<void>();
    const outcome = call(it.client, name, { input: "Go." }, { signal: abort.signal, onprogress: begun.resolve });
    outcome.catch(() => {});
    await begun.promise;
    abort.abort("Never mind.");
    expect(await rejection(outcome)).toMatchObject({ message: expect.stringContaining("Never mind.") });
    const [run] = (await owner.get("/v1/runs")).body.data;
    await endOf(owner, run.id);
    const { body } = await owner.get(`/v1/runs/${run.id}`);
    expect([body.status, body.error.message]).toEqual(["cancelled", expect.stringContaining("Never mind.")]);
  });
});

/** Resolves when the run is over. */
const endOf = ({ key }: ApiClient, id: string) =>
  server.send("GET", `/v1/runs/${id}/events`, undefined, {
    authorization: `Bearer ${key.secret}`,
    accept: "text/event-stream",
  });

describe("a run that waits", () => {
  const asking = (needs: "approval" | "output") => async () => {
    const owner = await server.client({ project: crypto.randomUUID() });
    const tool = { name: "ask", ...(needs === "approval" && { approval: "always", type: "code", source: "() => 7" }) };
    const { body } = await owner.post("/v1/tools", tool);
    const script = [{ tool_calls: [{ name: "ask", arguments: { what: "now" } }] }, { text: "{{last_tool_output}}" }];
    const { body: agent } = await owner.post("/v1/agents", scripted(script, { tools: [body.id] }));
    return { owner, name: agent.name as string };
  };

  test.each([
    ["an output that a person gives", "output", { action: "accept", content: { output: "Now." } }, "completed", "Now."],
    ["a declined form", "output", { action: "decline" }, "failed", "The user did not answer."],
    ["a form that was closed", "output", { action: "cancel" }, "failed", "The user did not answer."],
    [
      "a rejection with its reason",
      "approval",
      { action: "accept", content: { decision: "reject", reason: "No." } },
      "rejected",
      "No.",
    ],
    ["a declined approval", "approval", { action: "decline" }, "rejected", "The user did not answer."],
  ] as const)("continues with %s", async (_, needs, answer, status, said) => {
    const { owner, name } = await asking(needs)();
    const asked: Elicited[] = [];
    const elicit = (params: Elicited) => {
      asked.push(params);
      return answer;
    };
    await using it = await connect(owner, { elicit });
    const { isError, _meta } = await call(it.client, name, { input: "Go." });
    expect(isError).toBeUndefined();
    expect(asked).toEqual([{ message: expect.stringContaining('"what": "now"'), requestedSchema: expect.anything() }]);
    const { body: run } = await owner.get(`/v1/runs/${_meta["runnel/run_id"]}`);
    expect([run.status, run.tool_calls[0].status]).toEqual(["completed", status]);
    expect(JSON.stringify(run.tool_calls[0])).toContain(said);
  });

  test("reports the waiting run if the client cannot ask", async () => {
    const { owner, name } = await asking("output")();
    await using it = await connect(owner);
    const { isError, content, _meta } = await call(it.client, name, { input: "Go." });
    expect([isError, _meta["runnel/status"]]).toEqual([true, "requires_action"]);
    expect(content[0].text).toContain(`/v1/runs/${_meta["runnel/run_id"]}/submit_tool_outputs`);
    expect((await owner.get(`/v1/runs/${_meta["runnel/run_id"]}`)).body.status).toBe("requires_action");
  });

  test("takes no answer of another project", async () => {
    const { owner, name } = await asking("output")();
    await using it = await connect(owner);
    const { _meta } = await call(it.client, name, { input: "Go." });
    const id = _meta["runnel/run_id"];
    const { tool_call_id: callId } = (await owner.get(`/v1/runs/${id}`)).body.required_action.submit_tool_outputs
      .tool_calls[0];
    const stranger = await server.client({ project: "stranger" });
    await using theirs = await connect(stranger);
    const response = { jsonrpc: "2.0", id: `${id}/${callId}`, result: { action: "accept", content: { output: "x" } } };
    const { status, body } = await raw(stranger, response, { "mcp-session-id": theirs.transport.sessionId! });
    expect([status, body.error.data.code]).toEqual([404, "resource_not_found"]);
    expect((await owner.get(`/v1/runs/${id}`)).body.status).toBe("requires_action");
  });
});

/** A message as sent over HTTP. */
function raw(
  client: Pick<ApiClient, "key"> | null,
  message: unknown,
  headers: Record<string, string> = {},
  address = "/mcp",
) {
  const authorization: Record<string, string> = client ? { authorization: `Bearer ${client.key.secret}` } : {};
  return server.send("POST", address, message, {
    ...authorization,
    accept: "application/json, text/event-stream",
    ...headers,
  });
}

const initialize = (protocolVersion = "2025-11-25") => ({
  jsonrpc: "2.0",
  id: 0,
  method: "initialize",
  params: { protocolVersion, capabilities: {}, clientInfo: { name: "t", version: "1" } },
});
const session = async (client: Pick<ApiClient, "key">, address = "/mcp") =>
  (await raw(client, initialize(), {}, address)).headers.get("mcp-session-id")!;
const listTools = { jsonrpc: "2.0", id: 1, method: "tools/list" };

interface Sent {
  id: string | null;
  // biome-ignore lint/suspicious/noExplicitAny: a message of the protocol.
  message: any;
}
const eventsOf = (text: string): Sent[] =>
  text.split("\n\n").flatMap((block) => {
    const lines = block.split("\n");
    const field = (name: string) => lines.find((line) => line.startsWith(`${name}: `))?.slice(name.length + 2);
    const data = lines
      .find((line) => line.startsWith("data:"))
      ?.slice(5)
      .trim();
    return data === undefined ? [] : [{ id: field("id") ?? null, message: data === "" ? null : JSON.parse(data) }];
  });

describe("a stream that was cut off", () => {
  test("resumes after any of its events, with the later ones only", async () => {
    const { owner, name } = await opened({ agent: scripted([{ text: "One." }]) });
    const headers = { "mcp-session-id": await session(owner), "mcp-protocol-version": "2025-11-25" };
    const params = { name, arguments: { input: "Go." }, _meta: { progressToken: "p" } };
    const answer = await raw(owner, { jsonrpc: "2.0", id: "a", method: "tools/call", params }, headers);
    const all = eventsOf(answer.body);
    expect(all[0]!.message).toBeNull(); // An event id to resume from, before the first message.
    expect(all.at(-1)!.message).toMatchObject({ id: "a", result: { content: [{ text: "One." }] } });
    expect(all.length).toBeGreaterThan(3);
    for (const [index, { id }] of all.entries()) {
      if (all[index + 1]?.id === id) continue; // The opening event shares its position with the first message.
      const resumed = await server.send("GET", "/mcp", undefined, {
        authorization: `Bearer ${owner.key.secret}`,
        accept: "text/event-stream",
        ...headers,
        "last-event-id": id!,
      });
      expect(eventsOf(resumed.body)).toEqual(all.slice(index + 1));
    }
  });

  test.each([
    ["nonsense", 400],
    [Buffer.from(JSON.stringify(["run_00000000000000000000000000", 1, 1, null])).toString("base64url"), 404],
    [Buffer.from(JSON.stringify(["../agents", 1, 1, null])).toString("base64url"), 404],
  ])("does not resume after %s", async (id, status) => {
    const { owner } = await opened();
    const headers = { authorization: `Bearer ${owner.key.secret}`, "mcp-session-id": await session(owner) };
    expect((await server.send("GET", "/mcp", undefined, { ...headers, "last-event-id": id })).status).toBe(status);
    expect((await server.send("GET", "/mcp", undefined, headers)).status).toBe(405);
  });

  test("is not there for another project, nor behind an event that never was", async () => {
    const { owner, name } = await opened();
    await using it = await connect(owner);
    const { _meta } = await call(it.client, name, { input: "x" });
    const id = (seq: number) =>
      Buffer.from(JSON.stringify([_meta["runnel/run_id"], seq, 1, null])).toString("base64url");
    const stranger = await server.client({ project: "stranger" });
    const ask = async (client: ApiClient, seq: number) =>
      (
        await server.send("GET", "/mcp", undefined, {
          authorization: `Bearer ${client.key.secret}`,
          "mcp-session-id": await session(client),
          "last-event-id": id(seq),
        })
      ).status;
    expect([await ask(owner, 1), await ask(owner, 1000), await ask(stranger, 1)]).toEqual([200, 400, 404]);
  });
});

describe("a connecting client", () => {
  test("gets a 401 with the address of the key metadata if it has no key", async () => {
    for (const address of ["/mcp", "/mcp/admin"]) {
      const { status, headers, body } = await raw(null, initialize(), {}, address);
      const metadata = `https://localhost/.well-known/oauth-protected-resource${address}`;
      expect([status, headers.get("www-authenticate")]).toEqual([401, `Bearer resource_metadata="${metadata}"`]);
      expect(body).toMatchObject({ jsonrpc: "2.0", id: null, error: { data: { code: "missing_api_key" } } });
      const { body: told } = await server.send("GET", new URL(metadata).pathname);
      expect(told).toMatchObject({ resource: `https://localhost${address}`, bearer_methods_supported: ["header"] });
      for (const method of ["GET", "DELETE"])
        expect((await server.send(method, address)).headers.get("www-authenticate")).toContain("resource_metadata=");
    }
    const wrong = { key: { id: "", secret: "sk_test_wrong" } };
    expect((await raw(wrong, initialize())).body.error.data.code).toBe("invalid_api_key");
  });

  test("a page of another origin may not, with any key, unless the key's project names it", async () => {
    const { owner } = await opened();
    const from = async (origin: string) => (await raw(owner, initialize(), { origin })).status;
    expect([await from("https://localhost"), await from("https://evil.example"), await from("null")]).toEqual([
      200, 403, 403,
    ]);
    const page = "https://pages.example";
    await server.projects.update(owner.scope.project_id, { origins: [page] });
    const { status, headers } = await raw(owner, initialize(), { origin: page });
    expect([status, headers.get("access-control-allow-origin")]).toEqual([200, page]);
    expect(headers.get("access-control-expose-headers")).toContain("Mcp-Session-Id");
    expect((await raw((await opened()).owner, initialize(), { origin: page })).status).toBe(403);
  });

  test.each([
    [["run"], { tools: 1, prompts: 0, call: undefined, admin: false }],
    [["read"], { tools: 1, prompts: 1, call: "insufficient_scope", admin: false }],
    [["admin"], { tools: 1, prompts: 1, call: undefined, admin: true }],
  ] as const)("with the scope %j has that scope's operations of the API", async (scopes, may) => {
    const { owner, name } = await opened();
    const { body: key } = await owner.post("/v1/api_keys", { name: "k", scopes });
    await using it = await connect({ key });
    expect((await it.client.listTools()).tools.length).toBe(may.tools);
    expect((await it.client.listPrompts()).prompts.length).toBe(may.prompts);
    const params = { name, arguments: { input: "x" } };
    const called = await raw(
      { key },
      { jsonrpc: "2.0", id: 1, method: "tools/call", params },
      {
        "mcp-session-id": it.transport.sessionId!,
      },
    );
    expect(called.body.error?.data.code).toBe(may.call);
    const admin = await raw({ key }, initialize(), {}, "/mcp/admin");
    expect(admin.status).toBe(may.admin ? 200 : 403);
  });

  test("with a client token has its agent, and of that neither instructions nor memory", async () => {
    const { owner, agent, name } = await opened();
    const { body: store } = await owner.post("/v1/memory", { name: "n", kind: "vector" });
    await owner.patch(`/v1/agents/${agent.id}`, { memory: { stores: [{ memory_id: store.id }] } });
    await owner.post("/v1/agents", { ...agentBody, name: "other" });
    const asked = { agent_id: agent.id, scopes: ["run", "read"], expires_in_seconds: 60 };
    const { body } = await owner.post("/v1/client_tokens", asked);
    const key = { id: "", secret: body.token };
    await using it = await connect({ key });
    expect((await it.client.listTools()).tools.map((tool) => tool.name)).toEqual([name]);
    expect((await it.client.listPrompts()).prompts).toEqual([]);
    expect((await it.client.listResources()).resources).toEqual([]);
    const { content, _meta } = await call(it.client, name, { input: "Hi" });
    expect(content[0].text).toBe("Hi");
    expect((await owner.get(`/v1/runs/${_meta["runnel/run_id"]}`)).body.user_id).toBe(body.user_id);
    const admin = await raw({ key }, initialize(), {}, "/mcp/admin");
    expect([admin.status, JSON.stringify(admin.body)]).toEqual([403, expect.stringContaining("No client token may")]);
  });

  test("a key that is bound to agents sees those, and another environment or project sees none", async () => {
    const { owner, agent, name } = await opened();
    const { body: other } = await owner.post("/v1/agents", { ...agentBody, name: "other" });
    const { body: key } = await owner.post("/v1/api_keys", { name: "k", scopes: ["run"], agent_ids: [other.id] });
    await using bound = await connect({ key });
    expect((await bound.client.listTools()).tools.map((tool) => tool.name)).toEqual(["other"]);
    expect(await rejection(call(bound.client, name, { input: "x" }))).toMatchObject({ code: -32602 });
    expect(agent.project_id).toBe(owner.scope.project_id);
    await using stranger = await connect(await server.client({ project: "elsewhere" }));
    expect((await stranger.client.listTools()).tools).toEqual([]);
  });

  test("pays for each message as for a read, and for a call as for a run", async () => {
    const { owner, name } = await opened();
    await server.projects.update(owner.scope.project_id, { limits: { run_creations_per_minute: 1 } });
    await using it = await connect(owner);
    await call(it.client, name, { input: "x" });
    const headers = { "mcp-session-id": it.transport.sessionId! };
    const params = { name, arguments: { input: "x" } };
    const refused = await raw(owner, { jsonrpc: "2.0", id: 9, method: "tools/call", params }, headers);
    expect([refused.status, refused.body.id, refused.body.error.data.code]).toEqual([429, 9, "rate_limited"]);
    expect(Number(refused.headers.get("x-ratelimit-limit"))).toBe(600);
    await server.projects.update(owner.scope.project_id, { limits: { reads_per_minute: 1 } });
    const slowed = await raw(owner, listTools, headers);
    expect([slowed.status, Number(slowed.headers.get("retry-after")) > 0]).toEqual([429, true]);
  });
});

describe("a session", () => {
  test("is needed, is its key's and its address's own, and ends when it is deleted", async () => {
    const { owner } = await opened();
    const id = await session(owner);
    const { body: other } = await owner.post("/v1/api_keys", { name: "k", scopes: ["admin"] });
    const ask = async (key: ApiClient["key"], address: string, headers: Record<string, string>) =>
      (await raw({ key }, listTools, headers, address)).status;
    const named = { "mcp-session-id": id };
    expect(await ask(owner.key, "/mcp", {})).toBe(400);
    expect(await ask(owner.key, "/mcp", named)).toBe(200);
    expect(await ask(other, "/mcp", named)).toBe(404);
    expect(await ask(owner.key, "/mcp/admin", named)).toBe(404);
    expect(await ask(owner.key, "/mcp", { ...named, "mcp-protocol-version": "1999-01-01" })).toBe(400);
    const end = { authorization: `Bearer ${owner.key.secret}`, ...named };
    expect((await server.send("DELETE", "/mcp", undefined, end)).status).toBe(204);
    expect((await server.send("DELETE", "/mcp", undefined, end)).status).toBe(404);
    expect(await ask(owner.key, "/mcp", named)).toBe(404);
  });

  test("ends a day after it was last used, and of a key the oldest of more than a hundred", async () => {
    let at = Date.UTC(2026, 0, 1);
    await using clocked = testApp({ now: () => at });
    const client = await clocked.client();
    const authorization = { authorization: `Bearer ${client.key.secret}` };
    await clocked.projects.update(client.scope.project_id, { limits: { reads_per_minute: 0 } });
    const begin = async () =>
      (await clocked.send("POST", "/mcp", initialize(), authorization)).headers.get("mcp-session-id")!;
    const ask = async (id: string) =>
      (await clocked.send("POST", "/mcp", listTools, { ...authorization, "mcp-session-id": id })).status;
    const [used, idle] = [await begin(), await begin()];
    at += 20 * 3_600_000;
    expect(await ask(used)).toBe(200);
    await clocked.db.write(() => {}); // The write that extends it started before this one.
    at += 20 * 3_600_000;
    expect([await ask(used), await ask(idle)]).toEqual([200, 404]);
    await clocked.db.write(() => {});
    at += 1;
    const first = await begin();
    for (let count = 0; count < 99; count++) {
      at += 1;
      await begin();
    }
    expect(await ask(used)).toBe(404);
    expect(await ask(first)).toBe(200);
  });

  test("belongs to one page, and other pages can neither use nor evict it", async () => {
    const { owner, agent } = await opened();
    await server.projects.update(owner.scope.project_id, { limits: { reads_per_minute: 0 } });
    const limits = { requests_per_minute: 1000 };
    const page = async () => {
      const asked = { agent_id: agent.id, scopes: ["run"], expires_in_seconds: 60, limits };
      return { key: { id: "", secret: (await owner.post("/v1/client_tokens", asked)).body.token } };
    };
    const [one, other] = [await page(), await page()];
    const ids = { owner: await session(owner), one: await session(one), other: await session(other) };
    const ask = async (client: Pick<ApiClient, "key">, id: string) =>
      (await raw(client, listTools, { "mcp-session-id": id })).status;
    expect([await ask(one, ids.other), await ask(other, ids.one), await ask(owner, ids.one)]).toEqual([404, 404, 404]);
    for (let count = 0; count < 100; count++) await session(one);
    expect([await ask(one, ids.one), await ask(other, ids.other), await ask(owner, ids.owner)]).toEqual([
      404, 200, 200,
    ]);
  });

  test.each(sessionVersions)("speaks %s when the client does", async (version) => {
    const { owner } = await opened();
    expect((await raw(owner, initialize(version))).body.result.protocolVersion).toBe(version);
  });

  test("offers the newest version to a client with an unknown one", async () => {
    const { owner } = await opened();
    expect((await raw(owner, initialize("2099-01-01"))).body.result.protocolVersion).toBe(sessionVersions[0]);
  });
});

test.each([
  ["{", 400, "invalid_json"],
  ["[]", 400, null],
  ['{"jsonrpc":"1.0","id":1,"method":"ping"}', 400, null],
  ['{"jsonrpc":"2.0","id":{},"method":"ping"}', 400, null],
  ['{"jsonrpc":"2.0","id":1,"method":7}', 400, null],
  [`{"jsonrpc":"2.0","method":"tools/call","id":"${"x".repeat(511)}"}`, 400, null],
  ['{"jsonrpc":"2.0"}', 400, null],
  [`"${"x".repeat(1024 * 1024)}"`, 413, "payload_too_large"],
])("a body that starts with %.40s is refused as the protocol has it", async (text, status, code) => {
  const { owner } = await opened();
  const answer = await raw(owner, text, { "mcp-session-id": await session(owner) });
  expect([answer.status, answer.body.jsonrpc, answer.body.error.data?.code ?? null]).toEqual([status, "2.0", code]);
  expect(answer.body.error.code).toBeLessThan(0);
});

test("an unknown method is an error, and notifications are accepted", async () => {
  const { owner } = await opened();
  const headers = { "mcp-session-id": await session(owner) };
  for (const method of ["nothing", "constructor", "server/discover", "tools/call/x"])
    expect((await raw(owner, { jsonrpc: "2.0", id: 1, method }, headers)).body.error.code).toBe(-32601);
  const told = await raw(
    owner,
    { jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 77 } },
    headers,
  );
  expect(told.status).toBe(202);
});

describe("memory of agents", () => {
  async function remembering() {
    const owner = await server.client({ project: crypto.randomUUID() });
    const [vector, kv, unused] = await Promise.all(
      ["vector", "kv", "vector"].map(
        async (kind) => (await owner.post("/v1/memory", { name: `n-${kind}`, kind })).body,
      ),
    );
    const entry = (await owner.post(`/v1/memory/${vector.id}/entries`, { text: "The quick brown fox." })).body;
    await owner.put(`/v1/memory/${kv.id}/keys/colour%20of%20it`, { value: "brown" });
    const memory = { stores: [{ memory_id: vector.id }, { memory_id: kv.id, access: "read_write" }] };
    expect((await owner.post("/v1/agents", { ...agentBody, memory })).status).toBe(201);
    return { owner, vector, kv, unused, entry };
  }

  test("are resources, with their entries and keys, and nothing else is", async () => {
    const { owner, vector, kv, unused, entry } = await remembering();
    await using it = await connect(owner);
    const { resources } = await it.client.listResources();
    expect(resources.map(({ uri }) => uri).sort()).toEqual(
      [vector, kv].map(({ id }) => `runnel://memory/${id}`).sort(),
    );
    expect((await it.client.listResourceTemplates()).resourceTemplates.length).toBe(2);
    // biome-ignore lint/suspicious/noExplicitAny: JSON of the API.
    const read = async (uri: string): Promise<any> =>
      JSON.parse(((await it.client.readResource({ uri })).contents[0] as { text: string }).text);
    expect((await read(`runnel://memory/${vector.id}`)).data[0].id).toBe(entry.id);
    expect((await read(`runnel://memory/${vector.id}/entries/${entry.id}`)).text).toBe("The quick brown fox.");
    expect((await read(`runnel://memory/${kv.id}/keys/colour%20of%20it`)).value).toBe("brown");
    for (const uri of [
      `runnel://memory/${unused.id}`,
      "runnel://memory/mem_none",
      "file:///etc/passwd",
      `runnel://memory/${vector.id}/entries/x`,
      ...[".", "..", "%2e%2e", "%2E", "..%2f.."].map((key) => `runnel://memory/${kv.id}/keys/${key}`),
    ])
      expect(await rejection(it.client.readResource({ uri }))).toMatchObject({ code: -32002 });
  });

  test("is found by a tool", async () => {
    const { owner, vector, unused, entry } = await remembering();
    for (;;) if ((await owner.get(`/v1/memory/${vector.id}/entries/${entry.id}`)).body.status !== "processing") break;
    await using it = await connect(owner);
    const found = await call(it.client, "search_memory", { memory_id: vector.id, query: "fox" });
    expect(found.structuredContent.matches[0].text).toBe("The quick brown fox.");
    const refused = await call(it.client, "search_memory", { memory_id: unused.id, query: "fox" });
    expect(refused.isError).toBe(true);
  });
});

test("an agent's instructions are a prompt for keys that may read them", async () => {
  const { owner, name } = await opened();
  await using it = await connect(owner);
  const { messages } = await it.client.getPrompt({ name, arguments: { input: "Hi." } });
  expect(messages).toEqual([{ role: "user", content: { type: "text", text: "Help.\n\nHi." } }]);
  expect(await rejection(it.client.getPrompt({ name: "none" }))).toMatchObject({ code: -32602 });
});

describe("the version without sessions", () => {
  const meta = (capabilities: object = {}) => ({
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": capabilities,
  });
  const ask = (
    client: ApiClient,
    method: string,
    params: Record<string, unknown> = {},
    capabilities = {},
    headers = {},
  ) =>
    raw(
      client,
      { jsonrpc: "2.0", id: 1, method, params: { ...params, _meta: meta(capabilities) } },
      {
        "mcp-protocol-version": "2026-07-28",
        "mcp-method": method,
        ...(typeof params.name === "string" && { "mcp-name": params.name }),
        ...headers,
      },
    );

  test("is discovered, and needs nothing before a call", async () => {
    const { owner, name } = await opened();
    const { body } = await ask(owner, "server/discover");
    expect(body.result).toMatchObject({
      supportedVersions: ["2026-07-28"],
      resultType: "complete",
      capabilities: { tools: {} },
    });
    expect((await ask(owner, "tools/list")).body.result).toMatchObject({
      ttlMs: 0,
      cacheScope: "private",
      tools: [{ name }],
    });
    const called = await ask(owner, "tools/call", { name, arguments: { input: "Hi" } });
    const events = eventsOf(called.body);
    expect(events.map(({ id }) => id)).toEqual([null]);
    expect(events[0]!.message.result).toMatchObject({ resultType: "complete", content: [{ text: "Hi" }] });
  });

  test("asks a person by a response that requests input", async () => {
    const owner = await server.client({ project: crypto.randomUUID() });
    const { body: tool } = await owner.post("/v1/tools", { name: "ask" });
    const script = [{ tool_calls: [{ name: "ask", arguments: {} }] }, { text: "Done." }];
    const { name } = (await owner.post("/v1/agents", scripted(script, { tools: [tool.id] }))).body;
    const params = { name, arguments: { input: "Go." } };
    const elicits = { elicitation: { form: {} } };
    const { result } = eventsOf((await ask(owner, "tools/call", params, elicits)).body)[0]!.message;
    expect(result.resultType).toBe("input_required");
    expect(result.requestState).toMatch(/^run_/);
    const [callId] = Object.keys(result.inputRequests);
    const again = { ...params, requestState: result.requestState };
    const still = await ask(owner, "tools/call", again, elicits);
    expect(still.body.result.resultType).toBe("input_required");
    const inputResponses = { [callId!]: { action: "accept", content: { output: "Yes." } } };
    const done = eventsOf((await ask(owner, "tools/call", { ...again, inputResponses }, elicits)).body).at(-1)!;
    expect(done.message.result).toMatchObject({ resultType: "complete", content: [{ text: "Done." }] });
    const once = eventsOf((await ask(owner, "tools/call", { ...again, inputResponses }, elicits)).body).at(-1)!;
    expect(once.message.result).toEqual(done.message.result);
    const stranger = await server.client({ project: "stranger" });
    await stranger.post("/v1/agents", { ...agentBody, name });
    expect((await ask(stranger, "tools/call", again, elicits)).status).toBe(404);
  });

  test.each([
    ["another version in the header", { "mcp-protocol-version": "2025-11-25" }, 400, -32020],
    ["another method in the header", { "mcp-method": "tools/call" }, 400, -32020],
  ])("refuses a client with %s", async (_, headers, status, code) => {
    const { owner } = await opened();
    const answer = await ask(owner, "tools/list", {}, {}, headers);
    expect([answer.status, answer.body.error.code]).toEqual([status, code]);
  });

  test("a key that may only read ends no run by leaving its stream", async () => {
    const { owner, agent, name } = await opened({ agent: scripted([{ text: "x ".repeat(5000), delta_ms: 50 }]) });
    const { project_id, environment } = owner.scope;
    const reader = await server.keys.create(
      { project_id, environment, actor: testActor },
      { name: "r", scopes: ["read"] },
    );
    const { id } = (await owner.post("/v1/runs", { agent_id: agent.id, input: "Go." })).body;
    const params = { name, arguments: { input: "Go." }, requestState: id, _meta: meta() };
    const response = await server.app.handle(
      new Request("http://localhost/mcp", {
        method: "POST",
        headers: {
          authorization: `Bearer ${reader.secret}`,
          "content-type": "application/json",
          accept: "application/json, text/event-stream",
          "mcp-protocol-version": "2026-07-28",
          "mcp-method": "tools/call",
          "mcp-name": name,
        },
        body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params }),
      }),
    );
    expect([response.status, server.watches.readers(id)]).toEqual([200, 1]);
    await response.body!.cancel();
    expect(server.watches.readers(id)).toBe(0);
    await owner.post(`/v1/runs/${id}/cancel`, { reason: "Enough." });
    await endOf(owner, id);
    expect((await owner.get(`/v1/runs/${id}`)).body.error.message).toContain("Enough.");
  });

  test.each<[string, Record<string, unknown>]>([
    ["tools/call", { name: { toString: 1 } }],
    ["tools/call", { requestState: "run_\ud800" }],
    ["prompts/get", { name: { toString: 1 }, arguments: { input: "Go." } }],
    ["resources/read", { uri: { toString: 1 } }],
  ])("a %s whose parameters are no text is the client's fault: %j", async (method, params) => {
    const { owner, name } = await opened();
    const { status, body } = await ask(owner, method, { name, arguments: { input: "Go." }, ...params });
    expect([status < 500, body.error.code]).toEqual([true, expect.any(Number)]);
    expect(body.error.code).not.toBe(-32603);
  });

  test("reports unknown methods and supported versions by HTTP too", async () => {
    const { owner } = await opened();
    expect((await ask(owner, "initialize/x")).status).toBe(404);
    const newer = { ...meta(), "io.modelcontextprotocol/protocolVersion": "2099-01-01" };
    const message = { jsonrpc: "2.0", id: 1, method: "server/discover", params: { _meta: newer } };
    const headers = { "mcp-protocol-version": "2099-01-01", "mcp-method": "server/discover" };
    const { status, body } = await raw(owner, message, headers);
    expect([status, body.error.code, body.error.data.supported]).toEqual([400, -32022, ["2026-07-28"]]);
  });
});

describe("the admin door", () => {
  test("has the API's operations as tools, with the same effects", async () => {
    const owner = await server.client({ project: crypto.randomUUID() });
    await using it = await connect(owner, { address: "/mcp/admin" });
    const { tools } = await it.client.listTools();
    expect(tools.map((tool) => tool.name)).toEqual(
      expect.arrayContaining(["agents_create", "agents_update", "runs_list", "runs_retrieve", "traces_retrieve"]),
    );
    for (const { inputSchema } of tools) expect(JSON.stringify(inputSchema)).not.toContain('"component"');
    const made = await call(it.client, "agents_create", { name: "made", instructions: "x", model: "test/echo" });
    const { id } = made.structuredContent;
    const changed = await call(it.client, "agents_update", { id, description: "changed" });
    expect(changed.structuredContent).toMatchObject({ id, version: 2, description: "changed" });
    const run = await call(it.client, "runs_create", { agent_id: id, input: "Hi", wait: 60 });
    expect(run.structuredContent).toMatchObject({ status: "completed", output: "Hi" });
    const listed = await call(it.client, "runs_list", { agent_id: id, limit: 1 });
    expect(listed.structuredContent.data[0].id).toBe(run.structuredContent.id);
    const trace = await call(it.client, "traces_retrieve", { run_id: run.structuredContent.id });
    expect(trace.structuredContent.steps.length).toBeGreaterThan(0);
  });

  test.each([
    ["agents_create", { name: "x" }, "required"],
    ["agents_create", { name: "x", instructions: "", model: "test/echo", surprise: 1 }, "surprise"],
    ["agents_retrieve", { id: "../runs" }, "resource_not_found"],
    ["agents_retrieve", { id: ".." }, "resource_not_found"],
    ["agents_retrieve", { id: "." }, "resource_not_found"],
    ["agents_retrieve", { id: "" }, "resource_not_found"],
    ["agents_versions_list", { id: ".." }, "resource_not_found"],
    ["runs_list", { limit: 1000 }, "limit"],
  ])("tells a model the API's error for %s %j", async (name, args, said) => {
    const owner = await server.client({ project: "admin" });
    await using it = await connect(owner, { address: "/mcp/admin" });
    const { isError, content } = await call(it.client, name, args);
    expect([isError, content[0].text]).toEqual([true, expect.stringContaining(said)]);
  });
});
