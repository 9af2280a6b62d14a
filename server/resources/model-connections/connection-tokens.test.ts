import { expect, test } from "bun:test";
import type { ConnectionAuthInput } from "../../domain/connection-auth.ts";
import { type OAuthServer, oauthClientId, oauthClientSecret, startOAuthServer } from "../../testing/oauth-server.ts";
import { testActor } from "../../testing/test-actor.ts";
import { type TestApp, testApp } from "../../testing/test-app.ts";
import { startTokenGateway, type TokenRefusal } from "../../testing/token-gateway.ts";
import { checkConnection } from "./check-connection.ts";
import { tryConnection } from "./try-connection.ts";

const own: ConnectionAuthInput = { type: "oauth", client_id: oauthClientId, client_secret: oauthClientSecret };

async function setUp(
  auth: (issuer: OAuthServer) => ConnectionAuthInput = (issuer) => ({ ...own, issuer: issuer.url }),
) {
  const stack = new AsyncDisposableStack();
  const issuer = stack.use(await startOAuthServer());
  const gateway = stack.use(startTokenGateway(issuer));
  let at = Date.now();
  issuer.now = () => at;
  const server: TestApp = stack.use(testApp({ egress: ["127.0.0.1"], now: () => at }));
  const save = (input: ConnectionAuthInput, name = "gw", base_url = gateway.url) => {
    const checked = checkConnection({ name, base_url, auth: input });
    if ("message" in checked) throw new Error(`${checked.param}: ${checked.message}`);
    return server.connections.put(checked, testActor);
  };
  await save(auth(issuer));
  const client = await server.client();
  const run = async (model = "openai_compatible/gw/m") => {
    const { body: agent } = await client.post("/v1/agents", {
      name: `a-${crypto.randomUUID()}`,
      instructions: "",
      model,
    });
    return (await client.post("/v1/runs?wait=60", { agent_id: agent.id, input: "hi" })).body;
  };
  const pass = (seconds: number) => {
    at += seconds * 1000;
  };
  const asked = () => issuer.requests("client_credentials");
  const tokenOf = (rejected?: string, model = "openai_compatible/gw/m") =>
    server.connections.tokenOf(String(server.connections.resolve(model, "live").connection.token_source), rejected);
  return { stack, issuer, gateway, server, client, save, run, pass, asked, tokenOf };
}

test("a run's call carries a token in place of a key, and all runs at once share one request for it", async () => {
  const { stack, gateway, run, asked, server, issuer } = await setUp();
  await using _ = stack;
  const runs = await Promise.all(Array.from({ length: 6 }, () => run()));
  expect(runs.map(({ status, output }) => [status, output])).toEqual(runs.map(() => ["completed", "hello"]));
  expect(asked()).toBe(1);
  const [token = ""] = issuer.issued();
  expect(gateway.headers.every(({ authorization }) => authorization === `Bearer ${token}`)).toBe(true);
  // Nothing that is stored, and nothing that is shown, has the token or the secret.
  const stored = server.db.sqlite.serialize().toString("latin1");
  for (const secret of [token, oauthClientSecret]) {
    expect(stored).not.toContain(secret);
    expect(JSON.stringify([runs, server.connections.list()])).not.toContain(secret);
  }
  expect(JSON.stringify(server.connections.resolve("openai_compatible/gw/m", "live"))).not.toContain(oauthClientSecret);
});

test("a token is replaced before its end, and a run that lasts longer than its token goes on", async () => {
  const { stack, run, asked, pass } = await setUp();
  await using _ = stack;
  expect((await run()).status).toBe("completed");
  pass(3600 - 61);
  expect((await run()).status).toBe("completed");
  expect(asked()).toBe(1);
  pass(2);
  expect((await run()).status).toBe("completed");
  expect(asked()).toBe(2);
});

test.each<[string, TokenRefusal]>([
  ["401", { status: 401, body: { error: { message: "Access token is missing, invalid, or has expired" } } }],
  ["403 that names the token", { status: 403, body: { error_code: "403", message: "Invalid access token." } }],
])("a call that is refused with %s is made once more with a new token", async (_, refusal) => {
  const { stack, issuer, gateway, run, asked, pass } = await setUp();
  await using __ = stack;
  gateway.refusal = refusal;
  expect((await run()).status).toBe("completed");
  // The issuer sent a token of its cache, whose end it told wrongly.
  issuer.forget(oauthClientId);
  pass(60);
  const [one, two] = await Promise.all([run(), run()]);
  expect([one.status, two.status]).toEqual(["completed", "completed"]);
  expect(asked()).toBe(2);
});

test("a server that refuses every token is asked twice by a call, and its issuer not again and again", async () => {
  const { stack, gateway, run, asked, pass } = await setUp();
  await using _ = stack;
  await run();
  gateway.refusesAll = true;
  const before = gateway.headers.length;
  pass(60);
  for (let index = 0; index < 3; index++)
    expect(await run()).toMatchObject({ status: "failed", error: { code: "model_not_available" } });
  expect(asked()).toBe(2);
  expect(gateway.headers.length - before).toBeLessThanOrEqual(6);
});

test("a clock that was set back keeps neither a refused token nor the pause of an issuer", async () => {
  const { stack, issuer, tokenOf, asked, pass } = await setUp();
  await using _ = stack;
  const first = await tokenOf();
  pass(-7200);
  const text = first.status === "ready" ? first.token : "";
  expect(await tokenOf(text)).not.toEqual(first);
  pass(7200 + 3600);
  issuer.faults.token = () => Response.json({ error: "invalid_client" }, { status: 401 });
  expect(await tokenOf()).toMatchObject({ status: "failed" });
  issuer.faults = {};
  pass(-7200);
  expect(await tokenOf(text)).toMatchObject({ status: "ready" });
  expect(asked()).toBe(4);
});

test("a 403 about permissions asks for no other token", async () => {
  const { stack, gateway, run, asked, pass } = await setUp();
  await using _ = stack;
  await run();
  gateway.refusesAll = true;
  gateway.refusal = { status: 403, body: { error: { message: "The principal lacks the data action." } } };
  pass(60);
  expect((await run()).status).toBe("failed");
  expect(asked()).toBe(1);
});

test.each<[string, (body: Record<string, unknown>) => void, number, boolean]>([
  ["a text", (body) => Object.assign(body, { expires_in: "600" }), 541, true],
  ["a fraction in a text", (body) => Object.assign(body, { expires_in: "600.5" }), 539, false],
  ["absent", (body) => void delete body.expires_in, 3000, false],
  ["zero, which stands for no end", (body) => Object.assign(body, { expires_in: 0 }), 3000, false],
  ["shorter than the reserve", (body) => Object.assign(body, { expires_in: 30 }), 14, false],
  ["shorter than the reserve and half over", (body) => Object.assign(body, { expires_in: 30 }), 15, true],
])("expires_in may be %s", async (_, body, seconds, isReplaced) => {
  const { stack, issuer, tokenOf, asked, pass } = await setUp();
  await using __ = stack;
  issuer.faults.body = body;
  expect(await tokenOf()).toMatchObject({ status: "ready" });
  pass(seconds);
  expect(await tokenOf()).toMatchObject({ status: "ready" });
  expect(asked()).toBe(isReplaced ? 2 : 1);
});

test("scopes are one text in the request, and a list in the answer is read", async () => {
  const { stack, issuer, tokenOf } = await setUp((issuer) => ({
    ...own,
    token_endpoint: `${issuer.url}/token`,
    scopes: ["https://cognitiveservices.azure.com/.default", "b"],
    audience: "https://api.example/",
    resource: "https://api.example/v1",
  }));
  await using _ = stack;
  issuer.faults.body = (body) => Object.assign(body, { scope: ["a", "b"] });
  expect(await tokenOf()).toMatchObject({ status: "ready" });
  expect(issuer.asked).toEqual([
    expect.objectContaining({
      scope: "https://cognitiveservices.azure.com/.default b",
      audience: "https://api.example/",
      resource: "https://api.example/v1",
    }),
  ]);
});

test("two connections of one client with other scopes never share a token", async () => {
  const { stack, issuer, save, tokenOf } = await setUp((issuer) => ({ ...own, issuer: issuer.url, scopes: ["a"] }));
  await using _ = stack;
  await save({ ...own, issuer: issuer.url, scopes: ["b"] }, "other");
  const [one, two] = [await tokenOf(), await tokenOf(undefined, "openai_compatible/other/m")];
  expect(one).not.toEqual(two);
  expect(issuer.asked.map(({ scope }) => scope)).toEqual(["a", "b"]);
});

test.each(["client_secret_basic", "client_secret_post"] as const)(
  "a secret with spaces, colons, percents and pluses arrives as it is with %s",
  async (method) => {
    const secret = ' a:b+c%20d&e=f~"/ ';
    const { stack, issuer, server, save } = await setUp();
    await using _ = stack;
    let seen: string | null = null;
    await save({ ...own, issuer: issuer.url, client_secret: secret, token_endpoint_auth_method: method });
    issuer.faults.token = (form) => {
      seen = form.get("client_secret");
      return undefined;
    };
    const { token_source } = server.connections.resolve("openai_compatible/gw/m", "live").connection;
    // The issuer knows another secret: it refuses, and the words say neither.
    const found = await server.connections.tokenOf(String(token_source));
    expect(found).toMatchObject({ status: "failed", message: expect.stringContaining("invalid_client") });
    expect(JSON.stringify(found)).not.toContain("a:b");
    if (method === "client_secret_post") expect(String(seen)).toBe(secret);
  },
);

test("an issuer that is away is the connection's outage: its other model answers, and the issuer is not stormed", async () => {
  const { stack, issuer, server, gateway, client, asked } = await setUp();
  await using _ = stack;
  await server.connections.put(
    { name: "spare", provider: "openai_compatible", base_url: gateway.url, api_key: null },
    testActor,
  );
  issuer.faults.token = () => new Response("down", { status: 503 });
  const { body: agent } = await client.post("/v1/agents", {
    name: "a",
    instructions: "",
    model: "openai_compatible/gw/m",
    models: ["openai_compatible/gw/m", "test/echo"],
  });
  const runs = await Promise.all(
    [1, 2, 3].map(() => client.post("/v1/runs?wait=60", { agent_id: agent.id, input: "hi" })),
  );
  expect(runs.map(({ body }) => [body.status, body.output])).toEqual(runs.map(() => ["completed", "hi"]));
  expect(asked()).toBeLessThanOrEqual(2);
  expect(gateway.headers).toEqual([]);
});

test("an issuer that refuses the client fails the run at once, with its words", async () => {
  const { stack, gateway, run } = await setUp((issuer) => ({ ...own, issuer: issuer.url, client_secret: "wrong" }));
  await using _ = stack;
  const { status, error } = await run();
  expect([status, error.code]).toEqual(["failed", "model_not_available"]);
  expect(error.message).toContain("invalid_client");
  expect(gateway.headers).toEqual([]);
});

test("a test of the connection names the step that fails: the token, or the server", async () => {
  const { stack, issuer, gateway, server } = await setUp();
  await using _ = stack;
  const check = async () => {
    const used = server.connections.used().find(({ name }) => name === "gw");
    const tokenOf = server.connections.tokenOf;
    return tryConnection(used!.open(), { model: null, tokenOf });
  };
  const lines = ({ checks }: Awaited<ReturnType<typeof check>>) => checks.map((line) => [line.check, line.result]);
  expect(lines(await check())).toEqual([
    ["token", "yes"],
    ["reachable", "yes"],
    ["key", "yes"],
    ["answer", "yes"],
    ["stream", "yes"],
  ]);
  gateway.refusesAll = true;
  expect(lines(await check())).toContainEqual(["key", "no"]);
  await server.connections.update("gw", { auth: { ...own, issuer: issuer.url, client_secret: "wrong" } }, testActor);
  const failed = await check();
  expect(lines(failed).slice(0, 2)).toEqual([
    ["token", "no"],
    ["reachable", "skipped"],
  ]);
  expect(failed.error?.message).toContain("invalid_client");
});

test("lists of models, embeddings and reranks carry the token too, and repeat once with a new one", async () => {
  const { stack, issuer, server, pass, asked } = await setUp();
  await using _ = stack;
  const { fetch: send } = server.connections.resolveHere("openai_compatible/gw/m", "live");
  for (const path of ["models", "embeddings", "rerank"]) {
    const { connection } = server.connections.resolveHere("openai_compatible/gw/m", "live");
    expect((await send!(`${connection.base_url}/${path}`, { method: "POST", body: "{}" })).status).toBe(200);
  }
  issuer.forget(oauthClientId);
  pass(60);
  const { connection } = server.connections.resolveHere("openai_compatible/gw/m", "live");
  expect((await send!(`${connection.base_url}/models`)).status).toBe(200);
  expect(asked()).toBe(2);
});

test("an answer that repeats the token shows it to nobody", async () => {
  const { stack, gateway, run, issuer } = await setUp();
  await using _ = stack;
  gateway.text = (token) => `you sent ${token}`;
  const { output } = await run();
  expect(issuer.issued()).toHaveLength(1);
  expect(output).toStartWith("you sent ");
  expect(output).not.toContain(String(issuer.issued()[0]));
});

test("calls that began before a change never send the new client's token to the old address", async () => {
  const { stack, issuer, server, save, tokenOf } = await setUp();
  await using _ = stack;
  const before = String(server.connections.resolve("openai_compatible/gw/m", "live").connection.token_source);
  const old = await server.connections.tokenOf(before);
  await save({ ...own, issuer: issuer.url, scopes: ["new"] }, "gw", "http://127.0.0.1:9/v1");
  expect(await tokenOf()).not.toEqual(old);
  expect(await server.connections.tokenOf(before)).toEqual(old);
});

test("an address that the guard refuses is not asked", async () => {
  const { stack, tokenOf } = await setUp(() => ({ ...own, token_endpoint: "http://169.254.169.254/token" }));
  await using _ = stack;
  expect(await tokenOf()).toMatchObject({ status: "failed", retryable: false });
});

test("a secret stays with its server: another issuer or client needs it again, other fields do not", async () => {
  const { stack, issuer, server, tokenOf } = await setUp();
  await using _ = stack;
  const { client_secret: __, ...auth } = own;
  const change = (more: object) =>
    server.connections.update("gw", { auth: { ...auth, issuer: issuer.url, ...more } }, testActor);
  await change({ scopes: ["b"] });
  expect(await tokenOf()).toMatchObject({ status: "ready" });
  expect(change({ issuer: "https://evil.example" })).rejects.toThrow("send its secret again");
  expect(change({ issuer: null, token_endpoint: "https://evil.example" })).rejects.toThrow("send its secret again");
  expect(change({ client_id: "other" })).rejects.toThrow("send its secret again");
  expect(change({ revocation_endpoint: "https://evil.example" })).rejects.toThrow("send its secret again");
  const consenting = { grant: "authorization_code", issuer: null, token_endpoint: `${issuer.url}/token` };
  const endpoints = { authorization_endpoint: `${issuer.url}/authorize`, revocation_endpoint: `${issuer.url}/revoke` };
  await change({ ...consenting, ...endpoints, client_secret: oauthClientSecret });
  for (const name of ["authorization_endpoint", "revocation_endpoint"])
    expect(change({ ...consenting, ...endpoints, [name]: "https://evil.example" })).rejects.toThrow(
      "send its secret again",
    );
  await server.connections.update("gw", { api_key: "sk-key" }, testActor);
  expect(server.connections.resolve("openai_compatible/gw/m", "live").connection).toMatchObject({ api_key: "sk-key" });
  expect(server.connections.list().find(({ name }) => name === "gw")).toMatchObject({ auth: null, has_key: true });
});

test.each<[string, object, string]>([
  ["without an issuer", {}, "auth.issuer"],
  [
    "with both an issuer and an endpoint",
    { issuer: "https://a.example", token_endpoint: "https://a.example/t" },
    "auth.token_endpoint",
  ],
  ["with a file as its endpoint", { token_endpoint: "file:///etc/passwd" }, "auth.token_endpoint"],
  ["with a password in its address", { issuer: "https://a:b@c.example" }, "auth.issuer"],
  ["without a secret", { issuer: "https://a.example", client_secret: null }, "auth.client_secret"],
  ["with a line break in its secret", { issuer: "https://a.example", client_secret: "a\nb" }, "auth.client_secret"],
  ["with a path as its resource", { issuer: "https://a.example", resource: "api" }, "auth.resource"],
])("a connection %s is refused", (_, more, param) => {
  const auth = { ...own, ...more };
  expect(checkConnection({ name: "gw", base_url: "https://gw.example", auth })).toMatchObject({ param });
});

test("a connection has a key or OAuth, and clouds have credentials of their own", () => {
  const auth = { ...own, issuer: "https://a.example" };
  expect(checkConnection({ name: "openai", api_key: "sk", auth })).toMatchObject({ param: "api_key" });
  expect(checkConnection({ name: "vertex", auth })).toMatchObject({ param: "auth" });
  expect(checkConnection({ name: "azure", base_url: "https://n.openai.azure.com", auth })).toMatchObject({
    name: "azure",
  });
});

test("a connection of the environment gets tokens by its client's variables, which no answer and no row has", async () => {
  await using issuer = await startOAuthServer();
  await using gateway = startTokenGateway(issuer);
  const environment = {
    RUNNEL_MODEL_GW_BASE_URL: gateway.url,
    RUNNEL_MODEL_GW_ISSUER: issuer.url,
    RUNNEL_MODEL_GW_CLIENT_ID: oauthClientId,
    RUNNEL_MODEL_GW_CLIENT_SECRET: oauthClientSecret,
    RUNNEL_MODEL_GW_SCOPES: "models.read, models.call",
  };
  await using server = testApp({ egress: ["127.0.0.1"], environment });
  const client = await server.client();
  const model = "openai_compatible/gw/m";
  const { body: agent } = await client.post("/v1/agents", { name: "a", instructions: "", model });
  const run = async () => (await client.post("/v1/runs?wait=60", { agent_id: agent.id, input: "hi" })).body;
  expect([(await run()).status, (await run()).status]).toEqual(["completed", "completed"]);
  expect(issuer.asked).toEqual([expect.objectContaining({ scope: "models.read models.call" })]);
  const shown = JSON.stringify([server.connections.list(), server.connections.resolve(model, "live")]);
  for (const text of [shown, server.db.sqlite.serialize().toString("latin1")])
    expect(text).not.toContain(oauthClientSecret);
});
