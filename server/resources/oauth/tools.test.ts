import { expect, test } from "bun:test";
import { browserAt } from "../../testing/consent-browser.ts";
import { startMcpServer } from "../../testing/mcp-server.ts";
import { type OAuthServer, oauthClientId, oauthClientSecret, startOAuthServer } from "../../testing/oauth-server.ts";
import { type Client, type TestApp, testApp } from "../../testing/test-app.ts";

const registered = { client_id: oauthClientId, client_secret: oauthClientSecret };

const visit = (server: TestApp, path: string) => browserAt(server).visit(path);

async function consent(server: TestApp, client: Client, issuer: OAuthServer, id: string, user_id?: string) {
  const { body } = await client.post(`/v1/oauth_clients/${id}/authorize`, user_id === undefined ? {} : { user_id });
  expect(
    (await visit(server, issuer.consent(await browserAt(server).open(body.url), user_id ?? "project"))).status,
  ).toBe(200);
}

async function setUp() {
  let at = Date.now();
  const stack = new AsyncDisposableStack();
  const server = stack.use(testApp({ now: () => at }));
  const issuer = stack.use(await startOAuthServer());
  issuer.now = () => at;
  const client = await server.client();
  const pass = (seconds: number) => {
    at += seconds * 1000;
  };
  return { stack, server, issuer, client, pass, [Symbol.asyncDispose]: () => stack.disposeAsync() };
}

/** Creates an OAuth client and a tool that calls the issuer's resource with its token. */
async function createTool(client: Client, issuer: OAuthServer, grant: object) {
  const made = await client.post("/v1/oauth_clients", {
    name: "Calendar",
    issuer: issuer.url,
    ...registered,
    ...grant,
  });
  const auth = { type: "oauth", oauth_client_id: made.body.id };
  const tool = await client.post("/v1/tools", { name: "who", url: `${issuer.url}/api`, method: "POST", auth });
  expect([tool.status, tool.body.auth]).toEqual([201, auth]);
  return { clientId: made.body.id as string, toolId: tool.body.id as string };
}

const call = async (client: Client, id: string, more: object = {}) =>
  (await client.post(`/v1/tools/${id}/test`, { arguments: {}, ...more })).body;

test("a tool's call carries the token of its client, and what it answers never shows the token", async () => {
  await using at = await setUp();
  const { issuer, client } = at;
  const { toolId } = await createTool(client, issuer, { grant: "client_credentials" });
  expect(await call(client, toolId)).toMatchObject({ output: { subject: oauthClientId }, attempts: 1 });
  const [token = ""] = issuer.issued();
  await using echo = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch: (request) => Response.json({ said: request.headers.get("authorization") }),
  }) as unknown as AsyncDisposable & { url: URL };
  const refused = await client.patch(`/v1/tools/${toolId}`, { url: echo.url.href });
  // The token was meant for the former server.
  expect([refused.status, refused.body.error.param]).toEqual([400, "auth"]);
  const { auth } = (await client.get(`/v1/tools/${toolId}`)).body;
  expect((await client.patch(`/v1/tools/${toolId}`, { url: echo.url.href, auth })).status).toBe(200);
  const echoed = await call(client, toolId);
  expect(JSON.stringify(echoed)).toContain("[hidden]");
  expect(JSON.stringify(echoed)).not.toContain(token);
});

test("a call that a server refuses with 401 is repeated once with a refreshed token", async () => {
  await using at = await setUp();
  const { server, issuer, client, pass } = at;
  const { clientId, toolId } = await createTool(client, issuer, { grant: "authorization_code" });
  await consent(server, client, issuer, clientId);
  expect(await call(client, toolId)).toMatchObject({ output: { subject: "project" }, attempts: 1 });
  pass(60);
  issuer.forget("project");
  expect(await call(client, toolId)).toMatchObject({ output: { subject: "project" }, error: null });
  expect(issuer.callers).toEqual(["project", null, "project"]);
  issuer.forget("project");
  // Just refreshed: another token would be refused, too.
  expect(await call(client, toolId)).toMatchObject({ output: null, error: { code: "http_error" } });
  expect(issuer.requests("refresh_token")).toBe(1);
});

test("a tool that acts for a user is called with that user's token only", async () => {
  await using at = await setUp();
  const { server, issuer, client } = at;
  const { clientId, toolId } = await createTool(client, issuer, { grant: "authorization_code", per_user: true });
  await consent(server, client, issuer, clientId, "ada");
  expect(await call(client, toolId, { user_id: "ada" })).toMatchObject({ output: { subject: "ada" } });
  expect(await call(client, toolId, { user_id: "bob" })).toMatchObject({
    error: { code: "authorization_required" },
    attempts: 0,
  });
  expect(await call(client, toolId)).toMatchObject({ error: { code: "user_id_required" }, attempts: 0 });
  expect(issuer.callers).toEqual(["ada"]);
});

test("a tool whose client was deleted sends no request", async () => {
  await using at = await setUp();
  const { issuer, client } = at;
  const { clientId, toolId } = await createTool(client, issuer, { grant: "client_credentials" });
  await client.delete(`/v1/oauth_clients/${clientId}`);
  expect(await call(client, toolId)).toMatchObject({ error: { code: "oauth_client_not_found" } });
  expect(issuer.callers).toEqual([]);
});

test("a tool names a client of its own project, and sends one authorization", async () => {
  await using at = await setUp();
  const { server, issuer, client } = at;
  const { clientId, toolId } = await createTool(client, issuer, { grant: "client_credentials" });
  const stranger = await server.client({ project: "other" });
  const tool = (more: object) => ({ name: "x", url: `${issuer.url}/api`, ...more });
  const auth = { type: "oauth", oauth_client_id: clientId };
  for (const [asking, body, param] of [
    [stranger, tool({ auth }), "auth.oauth_client_id"],
    [client, tool({ auth: { type: "oauth" } }), "auth.oauth_client_id"],
    [client, tool({ auth, headers: { authorization: "Bearer x" } }), "headers.Authorization"],
    [client, tool({ auth: { ...auth, scopes: ["x"] } }), "auth.scopes"],
  ] as const) {
    const answer = await asking.post("/v1/tools", body);
    expect([answer.status, answer.body.error.param]).toEqual([400, param]);
  }
  expect((await client.patch(`/v1/tools/${toolId}`, { auth: null })).body.auth).toBeNull();
  expect(await call(client, toolId)).toMatchObject({ error: { code: "http_error" } });
});

// --- MCP
// ----------------------------------------------------------------------------------------------------------------

/** Starts an MCP server whose tools need a token of the issuer, with its metadata. */
async function startGuardedServer(issuer: OAuthServer, resource?: string) {
  const inner = startMcpServer();
  const callers: (string | null)[] = [];
  const server: Bun.Server<undefined> = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    idleTimeout: 0,
    async fetch(request): Promise<Response> {
      const url = new URL(request.url);
      if (url.pathname === "/.well-known/oauth-protected-resource/mcp")
        return Response.json({
          resource: resource ?? `${url.origin}/mcp`,
          authorization_servers: [issuer.url],
          scopes_supported: ["tools"],
        });
      if (url.pathname !== "/mcp") return new Response("not here", { status: 404 });
      const subject = issuer.subjectOf(request);
      callers.push(subject);
      if (subject === null) {
        const place = `${url.origin}/.well-known/oauth-protected-resource/mcp`;
        return new Response(null, {
          status: 401,
          headers: { "www-authenticate": `Bearer resource_metadata="${place}"` },
        });
      }
      return fetch(inner.url, {
        method: request.method,
        headers: request.headers,
        body: (await request.text()) || null,
      });
    },
  });
  return {
    url: `${server.url.origin}/mcp`,
    callers,
    async [Symbol.asyncDispose]() {
      await server.stop(true);
      await inner[Symbol.asyncDispose]();
    },
  };
}

test("an MCP server's client is discovered and registered once, and its tools are listed after the consent", async () => {
  await using at = await setUp();
  const { stack, server, issuer, client, pass } = at;
  const mcp = stack.use(await startGuardedServer(issuer));
  const tool = { type: "mcp", server_url: mcp.url, auth: { type: "oauth" } };
  const made = await client.post("/v1/tools", { name: "files", ...tool });
  expect([made.status, made.body.error]).toEqual([201, undefined]);
  expect(made.body).toMatchObject({ tools: [], last_error: { code: "authorization_required" } });
  const clientId = made.body.auth.oauth_client_id;
  const second = await client.post("/v1/tools", { name: "more", ...tool });
  expect(second.body.auth.oauth_client_id).toBe(clientId);
  expect(issuer.registrations).toMatchObject([
    { redirect_uris: ["https://localhost/oauth/callback"], token_endpoint_auth_method: "none", scope: "tools" },
  ]);
  const shown = (await client.get(`/v1/oauth_clients/${clientId}`)).body;
  expect(shown).toMatchObject({ issuer: issuer.url, resource: mcp.url, scopes: ["tools"], mcp_server_url: mcp.url });
  await consent(server, client, issuer, clientId);
  expect(issuer.asked[0]).toMatchObject({ grant_type: "authorization_code", resource: mcp.url });
  for (let listed = false; !listed; await Bun.sleep(1))
    listed = (await client.get(`/v1/tools/${made.body.id}`)).body.last_error === null;
  expect(await call(client, made.body.id, { name: "add", arguments: { a: 1, b: 2 } })).toMatchObject({
    output: { sum: 3 },
  });
  pass(60);
  issuer.forget("project");
  expect(await call(client, made.body.id, { name: "add", arguments: { a: 1, b: 2 } })).toMatchObject({
    output: { sum: 3 },
    error: null,
  });
  expect(issuer.requests("refresh_token")).toBe(1);
});

test("an MCP server whose metadata is of another resource gets no client", async () => {
  await using at = await setUp();
  const { stack, issuer, client } = at;
  const mcp = stack.use(await startGuardedServer(issuer, "https://other.example/mcp"));
  const made = await client.post("/v1/tools", { name: "f", type: "mcp", server_url: mcp.url, auth: { type: "oauth" } });
  expect([made.status, made.body.error.code]).toEqual([502, "oauth_server_failed"]);
  expect(made.body.error.message).toContain("another resource");
  expect(issuer.registrations).toEqual([]);
  expect((await client.get("/v1/tools")).body.data).toEqual([]);
});

test("a server that registers no clients, or refuses scopes at it, says what to do", async () => {
  await using at = await setUp();
  const { stack, issuer, client } = at;
  const mcp = stack.use(await startGuardedServer(issuer));
  const tool = { type: "mcp", server_url: mcp.url, auth: { type: "oauth" } };
  issuer.faults.register = () => Response.json({ error: "access_denied" }, { status: 401 });
  const refused = await client.post("/v1/tools", { name: "f", ...tool });
  expect(refused.body.error.message).toContain("create an OAuth client");
  issuer.faults.register = ({ scope }) =>
    scope === undefined ? undefined : Response.json({ error: "invalid_client_metadata" }, { status: 400 });
  expect((await client.post("/v1/tools", { name: "f", ...tool })).status).toBe(201);
});
