import { Database } from "bun:sqlite";
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { createAgent, createScripted, createTool, runToEnd } from "./fixtures.ts";
import { type Json, type Runnel, runCommand, startRunnel } from "./harness.ts";
import { startModelServer } from "./model-server.ts";

// Gives the server one of every kind of secret, which all its peers echo back; then searches everything that the server
// wrote and responded for them.

const canary = (kind: string): string => `canary-${kind}-${crypto.randomUUID()}`;
/** Contains characters that JSON, URLs and HTML escape. */
const oddCanary = (kind: string): string => `canary/${kind}+"\\${crypto.randomUUID()}`;
const basicPassword = canary("basic");
const secrets = {
  "a provider's key from the environment": canary("env"),
  "a provider's key that was stored": canary("stored"),
  "a named secret": oddCanary("secret"),
  "a named secret's earlier value": oddCanary("earlier"),
  "a named secret behind a scheme": oddCanary("bearer"),
  "a tool's own header": oddCanary("header"),
  "a password in a tool's header": `Basic ${btoa(`user:${basicPassword}`)}`,
  "that password as it is read out of it": basicPassword,
  "a part of a tool's cookie": canary("part"),
  "an account's password": canary("password"),
  "a wrong password": canary("wrong"),
  "a key that is none": canary("garbage"),
  "a key of another service": `sk-proj-${crypto.randomUUID().replaceAll("-", "")}`,
  "a key in a query": canary("query"),
  "a key in a cookie": canary("cookie"),
  "a key in broken JSON": canary("json"),
  "a key in a field that does not exist": canary("field"),
  "a value that was refused": `${canary("refused")}\n`,
  "the master key": crypto.getRandomValues(new Uint8Array(32)).toHex(),
};
/** Secrets that the server generates and shows once. */
const generatedSecrets: Record<string, string> = {};
const marker = canary("marker"); // Not a secret: proves that the searched places hold what was sent.

/** Echoes the request's headers in the way that its path says. */
const echo = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  async fetch(request) {
    const headers = Object.fromEntries(request.headers);
    const { pathname } = new URL(request.url);
    const text = JSON.stringify(headers);
    received.push(text);
    if (pathname === "/json") return Response.json({ headers, list: Object.entries(headers) });
    if (pathname === "/escaped") return new Response(text.replaceAll("a", "\\u0061"));
    if (pathname === "/parts") return new Response(partsOf(headers), { status: 400 });
    if (pathname === "/slashes") return new Response(text.replaceAll("/", "\\/"), { status: 400 });
    if (pathname === "/key") return new Response(`{${JSON.stringify(headers["x-own"])}:{"__proto__":1}}`);
    if (pathname === "/cut") return new Response(`${"x".repeat(250)}${headers["x-own"]}`);
    if (pathname === "/error") return new Response(text, { status: 400 });
    if (pathname === "/redirect") return new Response(text, { status: 302, headers: { location: `/?${text}` } });
    if (pathname === "/v1/chat/completions") return provider(await request.json(), text);
    return new Response(text);
  },
});
const received: string[] = [];

/** Returns the secret parts of composed headers. */
const partsOf = ({ cookie = "", "x-basic": basic = "" }: Record<string, string>): string =>
  `${cookie.slice("sid=".length).split(";")[0]} ${atob(basic.slice("Basic ".length)).split(":")[1]}`;

/** Echoes the request's headers in its errors, at once or in the middle of its stream. */
function provider({ model }: Json, text: string): Response {
  const error = { message: `You sent ${text}`, type: text, code: text };
  if (model === "mid-stream")
    return new Response(`data: ${JSON.stringify({ error })}\n\n`, { headers: { "content-type": "text/event-stream" } });
  if (model === "page") return new Response(`<html>${text}</html>`, { headers: { "content-type": "text/html" } });
  return Response.json({ error }, { status: Number(model) });
}

const paths = ["/json", "/escaped", "/text", "/cut", "/error", "/parts", "/slashes", "/key", "/redirect", "/garbage"];
const outputs: string[] = [];
const model = startModelServer();
const base = `http://127.0.0.1:${echo.port}`;

describe.each(["json", "pretty"])("with a log in the form %s, no secret is found", (format) => {
  let server: Runnel;
  let log = "";
  let cmdline = "";
  let backup = "";
  const files = new Map<string, Buffer>();

  beforeAll(async () => {
    received.length = 0;
    outputs.length = 0;
    server = await startRunnel({
      flags: ["--log-format", format],
      environment: {
        RUNNEL_MASTER_KEY: secrets["the master key"],
        RUNNEL_MODEL_ECHO_BASE_URL: `${base}/v1`,
        RUNNEL_MODEL_ECHO_API_KEY: secrets["a provider's key from the environment"],
        RUNNEL_MODEL_STUB_BASE_URL: model.url,
        RUNNEL_MODEL_STUB_API_KEY: "none",
      },
    });
    Object.assign(generatedSecrets, { "the first test key": server.keys.test, "the first live key": server.keys.live });
    await useWholeServer(server);
    cmdline = readFileSync(`/proc/${pidOf(server)}/cmdline`, "utf8");
    backup = join(server.folder, "backup.db");
    const { code, stdout, stderr } = await server.command("backup", backup);
    expect(code).toBe(0);
    outputs.push(stdout, stderr);
    await server.kill9(); // After kill -9 the WAL keeps its content.
    for (const path of [...filesIn(server.dataDir), backup]) files.set(path, readFileSync(path));
    log = server.log();
  }, 180_000);
  afterAll(() => server[Symbol.asyncDispose]());

  test("and every peer received its secrets", () => {
    const all = received.join("\n");
    for (const kind of [
      "a provider's key from the environment",
      "a provider's key that was stored",
      "a named secret",
      "a named secret's earlier value",
      "a named secret behind a scheme",
      "a tool's own header",
    ] as const)
      expect({ kind, sent: all.includes(inJson(secrets[kind])) }).toEqual({ kind, sent: true });
  });

  test("in any response: bodies, headers, events, traces, pages", () => {
    expect(outputs.join("\n")).toContain(marker);
    expect(findSecretKinds(outputs.join("\n"))).toEqual([]);
  });

  test("in the log", () => {
    expect(log).toContain("a run met a bug");
    expect(log).toContain("client_request_id");
    expect(findSecretKinds(log)).toEqual([]);
  });

  test("in the database, its WAL, the backup, or any other file beside", () => {
    const names = [...files.keys()].map((path) => path.split("/").at(-1)!);
    expect(names).toEqual(expect.arrayContaining(["runnel.db", "runnel.db-wal", "server.json", "backup.db"]));
    const holds = (name: string) => [...files].some(([path, bytes]) => path.endsWith(name) && bytes.includes(marker));
    expect([holds("backup.db"), holds("runnel.db-wal") || holds("runnel.db")]).toEqual([true, true]);
    const hits = [...files].flatMap(([path, bytes]) =>
      findSecretKinds(bytes.toString("latin1")).map((kind) => [path, kind]),
    );
    expect(hits).toEqual([]);
  });

  test("in the prompts of the model", () => {
    const told = JSON.stringify(model.requests.map(({ messages }) => messages));
    expect(told).toContain("[hidden]");
    expect(findSecretKinds(told)).toEqual([]);
  });

  test("among the arguments of the process", () => {
    expect(cmdline).toContain("serve");
    expect(findSecretKinds(cmdline)).toEqual([]);
  });
});

afterAll(async () => {
  await echo.stop(true);
  await model[Symbol.asyncDispose]();
});

test("a key sent in clear text is refused, and appears in no response and no log", async () => {
  await using server = await startRunnel({ flags: ["--trusted-proxies", "127.0.0.1/32"] });
  const answers = [];
  for (const key of [server.keys.test, server.keys.live]) {
    const headers = { authorization: `Bearer ${key}`, "x-forwarded-proto": "http", "x-client-request-id": key };
    const response = await fetch(`${server.url}/v1/me`, { headers });
    expect(response.status).toBe(403);
    answers.push(JSON.stringify([...response.headers]), await response.text());
  }
  for (const key of [server.keys.test, server.keys.live])
    expect(`${answers.join()}${server.log()}`).not.toContain(key.slice(8));
});

/** Uses the whole server with right and wrong secrets, and keeps its responses. */
async function useWholeServer(server: Runnel): Promise<void> {
  await visitConsole(server);
  await sendWrongKeys(server);
  const { tools, once } = await makeTools(server);
  await failAtProviders(server);
  await runTools(server, tools);
  await breakSecret(server, once);
  await readAll(server);
}

/** Sends one request and keeps its response for the search. */
async function ask(server: Runnel, method: string, path: string, init: RequestInit & { key?: string | null } = {}) {
  const id = { "x-client-request-id": `client-${crypto.randomUUID()}` };
  const response = await server.fetch(path, { ...init, method, headers: { ...id, ...(init.headers as object) } });
  const text = await response.text();
  outputs.push(JSON.stringify([...response.headers].filter(([name]) => name !== "set-cookie")), text);
  return { status: response.status, text, headers: response.headers };
}

async function visitConsole(server: Runnel): Promise<void> {
  const [, token = ""] = server.setupUrl.split("#");
  Object.assign(generatedSecrets, { "the token of the set-up link": token });
  const console = (path: string, body: object, cookie = "") =>
    ask(server, "POST", `/console/api${path}`, {
      key: null,
      body: JSON.stringify(body),
      headers: { "x-runnel-console": "1", origin: server.url, ...(cookie && { cookie }) },
    });
  const account = { email: "a@example.com", password: secrets["an account's password"] };
  expect((await console("/setup", { ...account, token: "wrong" })).status).toBe(403);
  const made = await console("/setup", { ...account, token });
  expect(made.status).toBe(201);
  expect((await console("/login", { ...account, password: secrets["a wrong password"] })).status).toBe(401);
  const { status, headers } = await console("/login", account);
  expect(status).toBe(200);
  const cookie = headers.get("set-cookie")!.split(";")[0]!;
  Object.assign(generatedSecrets, {
    "the set-up's session": made.headers.get("set-cookie")!.split(/[=;]/)[1]!,
    "a session": cookie.split("=")[1]!,
  });
  expect((await ask(server, "GET", "/console/api/session", { key: null, headers: { cookie } })).status).toBe(200);
  for (const path of ["/dashboard", "/docs/errors", "/healthz", "/readyz", "/metrics"])
    await ask(server, "GET", path, { key: null });
}

async function sendWrongKeys(server: Runnel): Promise<void> {
  const garbage = secrets["a key that is none"];
  const other = secrets["a key of another service"];
  const wrong: Record<string, string>[] = [
    { authorization: `Bearer ${garbage}` },
    { authorization: `Bearer ${other}`, "x-client-request-id": other },
    { authorization: `Basic ${btoa(`user:${garbage}`)}` },
    { authorization: garbage },
    { "x-api-key": garbage, cookie: `session=${secrets["a key in a cookie"]}` },
  ];
  for (const headers of wrong) expect((await ask(server, "GET", "/v1/me", { key: null, headers })).status).toBe(401);
  const query = secrets["a key in a query"];
  await ask(server, "GET", `/v1/agents?api_key=${query}`);
  await ask(server, "GET", `/v1/agents?starting_after=${query}`);
  await ask(server, "GET", `/v1/agents/${server.keys.live}`);
  await ask(server, "POST", "/v1/agents", { body: `{"name":${secrets["a key in broken JSON"]}}` });
  await ask(server, "POST", "/v1/agents", {
    body: JSON.stringify({ name: { secret: secrets["a key in a field that does not exist"] } }),
  });
  const refused = JSON.stringify({ value: secrets["a value that was refused"] });
  expect((await ask(server, "PUT", "/v1/secrets/KEY", { body: refused })).status).toBe(400);
  await plainText(server);
}

/** Sends plain HTTP to the TLS port. */
async function plainText(server: Runnel): Promise<void> {
  const { hostname, port } = new URL(server.url);
  const { promise, resolve } = Promise.withResolvers<void>();
  const socket = connect(Number(port), hostname, () =>
    socket.write(`GET /v1/me HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${server.keys.live}\r\n\r\n`),
  );
  socket.on("data", (bytes) => outputs.push(bytes.toString("latin1")));
  socket.on("error", () => resolve()).on("close", () => resolve());
  await promise;
}

const put = (server: Runnel, name: string, value: string) =>
  ask(server, "PUT", `/v1/secrets/${name}`, { body: JSON.stringify({ value }) });

/** Creates tools that send secrets and get them echoed, and a key with its own secret; also by repeated requests. */
async function makeTools(server: Runnel) {
  await put(server, "PLAIN", secrets["a named secret's earlier value"]);
  await put(server, "BEARER", secrets["a named secret behind a scheme"]);
  await put(server, "ONCE", canary("once"));
  const headers = {
    "x-plain": "{{secret.PLAIN}}",
    authorization: "Bearer {{secret.BEARER}}",
    "x-own": secrets["a tool's own header"],
    "x-basic": secrets["a password in a tool's header"],
    cookie: `sid=${secrets["a part of a tool's cookie"]}; other={{secret.PLAIN}}`,
  };
  const tools: string[] = [];
  for (const path of paths) {
    const more = { url: base + path, headers, ...(["/text", "/cut"].includes(path) && { response: "text" }) };
    const tool = await createTool(server, { ...more, ...(path === "/cut" && { max_output_bytes: 270 }) });
    generatedSecrets[`the signing secret of ${path}`] = tool.signing_secret;
    tools.push(tool.id);
  }
  const once = await createTool(server, { url: `${base}/text`, headers: { a: "{{secret.ONCE}}" }, name: "once" });
  generatedSecrets["the signing secret of the last tool"] = once.signing_secret;
  for (const [path, body] of [
    ["/v1/api_keys", { name: "k", scopes: ["read"] }],
    ["/v1/tools", { name: "repeated", url: base, headers }],
  ] as const) {
    const init = { method: "POST", headers: { "idempotency-key": path }, body: JSON.stringify(body) };
    for (const _ of [1, 2]) {
      const made: Json = await (await server.fetch(path, init)).json();
      generatedSecrets[`what ${path} shows once`] = made.secret ?? made.signing_secret;
    }
  }
  return { tools, once: once.id as string };
}

/** Calls providers that echo their key: one key from the environment, one stored. */
async function failAtProviders(server: Runnel): Promise<void> {
  const env = {
    PATH: process.env.PATH!,
    RUNNEL_MASTER_KEY: secrets["the master key"],
    RUNNEL_MODEL_API_KEY: secrets["a provider's key that was stored"],
  };
  const added = await runCommand(["models", "add", "kept", "--base-url", `${base}/v1`, "--data-dir", server.dataDir], {
    env,
  });
  expect(added.code).toBe(0);
  outputs.push(added.stdout, added.stderr);
  const names = ["400", "401", "403", "404", "mid-stream", "page"];
  const models = ["echo", "kept"].flatMap((connection) =>
    names.map((name) => `openai_compatible/${connection}/${name}`),
  );
  const fail = async (model: string) => {
    const body = JSON.stringify({ agent_id: await createAgent(server, model), input: marker });
    expect(JSON.parse((await ask(server, "POST", "/v1/runs?wait=60", { body })).text).status).toBe("failed");
  };
  await Promise.all(models.map(fail));
}

/** Runs an agent that calls every tool and whose model reads the results; a secret changes meanwhile. */
async function runTools(server: Runnel, tools: string[]): Promise<void> {
  const agent = await createAgent(server, "turns-0", { tools });
  const body = JSON.stringify({ agent_id: agent, input: marker });
  for (const value of [null, secrets["a named secret"]]) {
    if (value) await put(server, "PLAIN", value);
    const { text } = await ask(server, "POST", "/v1/runs?wait=60", { body });
    expect(JSON.parse(text)).toMatchObject({ status: "completed", output: `I read ${tools.length} results.` });
  }
  const streamed = JSON.stringify({ agent_id: agent, input: marker, stream: true });
  await ask(server, "POST", "/v1/runs", { body: streamed });
}

/** Makes a stored secret impossible to decrypt, so that the log gets a bug with all its context. */
async function breakSecret(server: Runnel, tool: string): Promise<void> {
  const name = "once";
  const agent = await createScripted(server, [{ tool_calls: [{ name, arguments: { city: "Oslo" } }] }], {
    tools: [tool],
  });
  const db = new Database(join(server.dataDir, "runnel.db"));
  db.run("PRAGMA busy_timeout = 5000");
  db.run("UPDATE secrets SET sealed = (SELECT sealed FROM secrets WHERE name = 'PLAIN') WHERE name = 'ONCE'");
  db.close();
  expect((await runToEnd(server, agent)).error.code).toBe("internal_error");
}

/** Reads every route with full permissions. */
async function readAll(server: Runnel): Promise<void> {
  const { text: document } = await ask(server, "GET", "/v1/openapi.json");
  for (const path of Object.keys(JSON.parse(document).paths).filter((path) => !path.includes("{")))
    await ask(server, "GET", path);
  const runs: Json = JSON.parse((await ask(server, "GET", "/v1/runs?limit=100")).text);
  await ask(server, "GET", "/v1/runs?limit=100&include=messages");
  expect(runs.data.length).toBeGreaterThan(15);
  for (const { id } of runs.data) {
    await ask(server, "GET", `/v1/runs/${id}`);
    await ask(server, "GET", `/v1/runs/${id}/events`);
    await ask(server, "GET", `/v1/runs/${id}/events`, { headers: { accept: "text/event-stream" } });
    await ask(server, "GET", `/v1/traces/${id}?include=raw`);
  }
  for (const command of [["models", "list"], ["keys", "list"], ["projects", "list"], ["doctor"]])
    for (const output of Object.values(await server.command(...command))) outputs.push(String(output));
  const page = (await ask(server, "GET", "/dashboard", { key: null })).text;
  for (const [, asset = ""] of page.matchAll(/(?:src|href)="(\/[^"]+)"/g))
    await ask(server, "GET", asset, { key: null });
}

/** Returns the kinds of secrets in a text, plain or in a common encoding. */
function findSecretKinds(text: string): string[] {
  return Object.entries({ ...secrets, ...generatedSecrets })
    .filter(([, secret]) => disguises(secret.trim()).some((form) => text.includes(form)))
    .map(([kind]) => kind);
}

const inJson = (text: string): string => JSON.stringify(text).slice(1, -1);

function disguises(secret: string): string[] {
  const bytes = Buffer.from(secret);
  // The base64 of a substring depends on its offset; characters shared with neighbours are cut off.
  const base64 = [0, 1, 2].map((before) =>
    Buffer.concat([Buffer.alloc(before), bytes])
      .toString("base64")
      .slice(before === 0 ? 0 : before + 1, -4),
  );
  const json = inJson(secret);
  return [
    secret,
    json,
    json.replaceAll("/", "\\/"),
    inJson(json),
    encodeURIComponent(secret),
    bytes.toString("hex"),
    ...base64,
  ];
}

const pidOf = (server: Runnel): number => JSON.parse(readFileSync(join(server.dataDir, "server.json"), "utf8")).pid;

const filesIn = (folder: string): string[] =>
  readdirSync(folder, { recursive: true })
    .map((name) => join(folder, String(name)))
    .filter((path) => statSync(path).isFile());
