import { Database } from "bun:sqlite";
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { randomInt } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { type Canaries, openCanaries } from "../server/testing/egress-canaries.ts";
import { createHostileUrls } from "../server/testing/hostile-urls.ts";
import { createRandom } from "../server/testing/random.ts";
import { createAgent, createTool, runToEnd, stubConnection } from "./fixtures.ts";
import { type Json, type ParsedResponse, parseResponse, type Runnel, runCommand, startRunnel } from "./harness.ts";
import { type ModelServer, startModelServer } from "./model-server.ts";
import { startToolServer, type ToolServer } from "./tool-server.ts";

// Gives every setting that takes an address the addresses of this machine and of private networks, in every spelling.
// `SEED=1234` repeats a run with the same ones.

const seed = Number(process.env.SEED ?? randomInt(2 ** 31));
const addresses = 170;

let canaries: Canaries;
let tools: ToolServer;
let model: ModelServer;
let hostile: string[];
/** Redirects to the hostile address at the index in its path. */
let mover: ReturnType<typeof startMover>;

beforeAll(async () => {
  canaries = await openCanaries();
  tools = startToolServer();
  model = startModelServer();
  hostile = hostileAddresses(canaries.port);
  mover = startMover();
});
afterAll(async () => {
  await mover.stop(true);
  await tools[Symbol.asyncDispose]();
  await model[Symbol.asyncDispose]();
  await canaries[Symbol.asyncDispose]();
});

/** Returns spellings that the system resolves, by https and http, and a random choice of the rest. */
function hostileAddresses(port: number): string[] {
  const names = ["localhost", "LOCALHOST", "localhost.", "ip6-localhost", "localhost6", hostname(), "0x7f.1.."];
  const fixed = [
    ...names,
    ...canaries.hosts,
    "169.254.169.254",
    "[fd00:ec2::254]",
    "127.1",
    "0",
    "user:hush@localhost",
  ];
  const urls = fixed.flatMap((host) => [`https://${host}:${port}/`, `http://${host}:${port}/`]);
  const { next } = createHostileUrls(createRandom(seed), port, { names: false });
  while (urls.length < addresses) {
    const { url, open } = next();
    if (!open && url.length <= 2048) urls.push(url);
  }
  return urls;
}

const startMover = () =>
  Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch: ({ url }) => {
      const location = hostile[Number(new URL(url).pathname.slice(1))] ?? "";
      return new Response(null, { status: 302, headers: { location: encodeURI(location).replaceAll("%25", "%") } });
    },
  });

const refusals = ["url_invalid", "scheme_forbidden", "credentials_in_url", "port_forbidden", "address_forbidden"];

/** A name without an address is refused too; the call is checked again once it has one. */
const expectedRefusals = [...refusals, "dns_failed"];

/** Expects a message to contain no address beyond the given host. */
function expectNoAddress(url: string, message: string): void {
  const given = (URL.parse(url)?.hostname ?? "").replace(/^\[|\]$|\.+$/g, "") || "-";
  expect(message.replaceAll(given, "")).not.toMatch(/\d+\.\d+\.\d+\.\d+|::|hush/);
}

/** Works on many items concurrently, so that the test is short. */
async function each<T>(list: readonly T[], work: (item: T, index: number) => Promise<void>): Promise<void> {
  const left = [...list.entries()];
  const lane = async () => {
    for (let item = left.shift(); item; item = left.shift()) await work(item[1], item[0]);
  };
  await Promise.all(Array.from({ length: 8 }, lane));
}

const types = ["http", "webhook", "mcp"] as const;
type Type = (typeof types)[number];
const addressOf = (type: Type, url: string) => (type === "mcp" ? { server_url: url } : { url });
const environments = ["test", "live"] as const;

describe.each([
  ["open to the network, with test keys", "0.0.0.0", "test"],
  ["open to the network, with live keys", "0.0.0.0", "live"],
  ["on loopback alone, with live keys", "127.0.0.1", "live"],
] as const)(`a server that is %s (seed ${seed})`, (_, host, environment) => {
  test("refuses new and changed tools at hostile addresses, and connects to none", async () => {
    canaries.forget();
    await using server = await startRunnel({ flags: ["--host", host] });
    const key = server.keys[environment];
    const known = await makeTools(server, environment, "https://1.1.1.1/", ["http", "webhook"]);
    for (const type of types)
      await each(hostile, async (url, index) => {
        const name = `${type}_${index}`;
        const param = type === "mcp" ? "server_url" : "url";
        const answers = [await server.post("/v1/tools", { name, type, ...addressOf(type, url) }, key)];
        if (type !== "mcp") answers.push(await patch(server, known[type], { url }, key));
        for (const answer of answers) expectRefusal(answer, url, param);
      });
    expect(await canaries.strangers()).toEqual([]);
    expect(server.log()).not.toContain("hush");
  }, 180_000);

  test("refuses new and changed webhooks at hostile addresses, and connects to none", async () => {
    canaries.forget();
    await using server = await startRunnel({ flags: ["--host", host] });
    const key = server.keys[environment];
    const known = await makeWebhook(server, environment, "https://1.1.1.1/");
    await each(hostile, async (url) => {
      expectRefusal(await server.post("/v1/webhooks", { url, events: ["*"] }, key), url, "url");
      expectRefusal(await patch(server, known, { url }, key, "webhooks"), url, "url");
    });
    expect(await canaries.strangers()).toEqual([]);
    expect(server.log()).not.toContain("hush");
  }, 180_000);
});

function expectRefusal({ status, body }: ParsedResponse, url: string, param: string): void {
  // A name that does not resolve today is accepted: every call checks its address.
  if (status < 300) {
    expect(url).toMatch(unresolvableNames);
    return;
  }
  const code = body.error?.code;
  expect({ url, status, param: body.error?.param }).toEqual({
    url,
    status: code === "url_not_allowed" ? 403 : 400,
    param,
  });
  expect(["validation_failed", "url_not_allowed"]).toContain(code);
  expectNoAddress(url, body.error.message);
}

/** Matches names that only some machines resolve. */
const unresolvableNames = /^https:\/\/(ip6-localhost|localhost6|localhost\.|0x7f\.1\.\.)/;

/** Creates one tool of each type at an allowed address. */
async function makeTools(server: Runnel, environment: "test" | "live", url: string, kinds: readonly Type[] = types) {
  const made = await Promise.all(
    kinds.map(async (type) => {
      const input = { name: `known_${type}`, type, ...addressOf(type, url) };
      const { status, body } = await server.post("/v1/tools", input, server.keys[environment]);
      expect({ type, status }).toEqual({ type, status: 201 });
      return [type, body.id as string] as const;
    }),
  );
  return Object.fromEntries(made) as Record<Type, string>;
}

async function makeWebhook(server: Runnel, environment: "test" | "live", url: string): Promise<string> {
  const { status, body } = await server.post("/v1/webhooks", { url, events: ["*"] }, server.keys[environment]);
  expect(status).toBe(201);
  return body.id;
}

const patch = async (
  server: Runnel,
  id: string,
  body: object,
  key: string,
  among = "tools",
): Promise<ParsedResponse> => {
  const response = await server.fetch(`/v1/${among}/${id}`, { method: "PATCH", body: JSON.stringify(body), key });
  return { status: response.status, headers: response.headers, body: await response.json() };
};

describe("an address that now leads elsewhere than when its tool was created", () => {
  let server: Runnel;
  let db: Database;
  const made = {} as Record<"test" | "live", Record<Type, string>>;

  beforeAll(async () => {
    const allow = `127.0.0.1:${mover.port}`;
    const environment = { ...stubConnection(model.url), RUNNEL_EGRESS_ALLOW: allow };
    server = await startRunnel({ flags: ["--host", "0.0.0.0"], environment });
    for (const each of environments) made[each] = await makeTools(server, each, `https://${allow}/`);
    db = new Database(join(server.dataDir, "runnel.db"));
    db.run("PRAGMA busy_timeout = 5000");
    canaries.forget();
  });
  afterAll(async () => {
    db.close();
    expect(server.log()).not.toContain("hush");
    await server[Symbol.asyncDispose]();
  });

  /** Changes the tools' addresses in the database, as if their names resolved elsewhere. */
  function lead({ http, webhook, mcp }: Record<Type, string>, url: string, method = "POST"): void {
    const offers = { tools: [{ name: "ask", description: "", parameters: { type: "object" }, idempotent: false }] };
    const listing = JSON.stringify({ ...offers, skipped: [], listed_at_ms: 1, last_error: null });
    db.transaction(() => {
      for (const id of [http, webhook])
        db.query(
          "UPDATE tools SET definition = json_set(definition, '$.http.url', ?, '$.http.method', ?) WHERE id = ?",
        ).run(url, method, id);
      db.query(
        "UPDATE tools SET definition = json_set(definition, '$.mcp.server_url', ?, '$.mcp.listing', json(?)) WHERE id = ?",
      ).run(url, listing, mcp);
    }).immediate();
  }

  /** Returns the addresses that a tool could be created with: those that parse. */
  const readable = () => hostile.filter((url) => URL.canParse(url));

  function expectFailed(url: string, error: Json): void {
    expect({ url, code: error?.code, known: expectedRefusals.includes(error?.code) }).toMatchObject({
      url,
      known: true,
    });
    expectNoAddress(url, error.message);
  }

  test.each(environments)(
    "is refused when the tool is tried, and when its list is requested, with a %s key",
    async (environment) => {
      const key = server.keys[environment];
      const own = made[environment];
      for (const url of readable()) {
        lead(own, url);
        const [http, webhook, mcp, refreshed] = await Promise.all([
          server.post(`/v1/tools/${own.http}/test`, { arguments: {} }, key),
          server.post(`/v1/tools/${own.webhook}/test`, { arguments: {} }, key),
          server.post(`/v1/tools/${own.mcp}/test`, { arguments: {}, name: "ask" }, key),
          server.post(`/v1/tools/${own.mcp}/refresh`, {}, key),
        ]);
        for (const answer of [http, webhook, mcp]) {
          expect({ url, status: answer?.status, output: answer?.body.output }).toEqual({
            url,
            status: 200,
            output: null,
          });
          expectFailed(url, answer?.body.error);
        }
        expect({ url, status: refreshed?.status }).toEqual({ url, status: 200 });
        expectFailed(url, refreshed?.body.last_error);
      }
      expect(await canaries.strangers()).toEqual([]);
    },
    180_000,
  );

  test.each(environments)(
    "is refused in a run, with a %s key",
    async (environment) => {
      const key = server.keys[environment];
      const own = made[environment];
      const agent = {
        name: "A",
        instructions: "B",
        model: "openai_compatible/stub/turns-0",
        tools: Object.values(own),
      };
      const { body } = await server.post("/v1/agents", agent, key);
      for (const url of readable()) {
        lead(own, url);
        const run = await server.post("/v1/runs?wait=60", { agent_id: body.id, input: "Go" }, key);
        expect({ url, status: run.body.status }).toEqual({ url, status: "completed" });
        const trace = await server.get(`/v1/traces/${run.body.trace_id}`, key);
        const errors = errorsOf(trace.body);
        expect({ url, errors: errors.length }).toEqual({ url, errors: 3 });
        for (const error of errors) expectFailed(url, error);
      }
      expect(await canaries.strangers()).toEqual([]);
    },
    180_000,
  );

  test.each(environments)(
    "is refused by every attempt to reach a webhook, with a %s key",
    async (environment) => {
      const key = server.keys[environment];
      const id = await makeWebhook(server, environment, `https://127.0.0.1:${mover.port}/`);
      const answer = await server.post(
        "/v1/agents",
        { name: "A", instructions: "B", model: "openai_compatible/stub/turns-0" },
        key,
      );
      const runs: string[] = [];
      for (const url of readable()) {
        db.query("UPDATE webhooks SET url = ? WHERE id = ?").run(url, id);
        const tested = await server.post(`/v1/webhooks/${id}/test`, {}, key);
        expect({ url, status: tested.status, attempts: tested.body.attempts?.length }).toEqual({
          url,
          status: 200,
          attempts: 1,
        });
        expect(tested.body.attempts[0].response).toBeNull();
        expectFailed(url, tested.body.attempts[0].error);
        if (runs.length >= 4) continue; // A failing webhook is retried less and less often.
        const { body: run } = await server.post("/v1/runs?wait=60", { agent_id: answer.body.id, input: "Go" }, key);
        runs.push(run.id);
        const sent = await attemptOf(id, run.id, key);
        expect(sent.response).toBeNull();
        expectFailed(url, sent.error);
      }
      await server.fetch(`/v1/webhooks/${id}`, { method: "DELETE", key });
      expect(await canaries.strangers()).toEqual([]);
    },
    180_000,
  );

  /** Returns the first delivery attempt of a run's webhook. */
  async function attemptOf(id: string, runId: string, key: string): Promise<Json> {
    for (;;) {
      const { body } = await server.get(`/v1/webhooks/${id}/deliveries?run_id=${runId}`, key);
      const [delivery] = body.data;
      if (delivery?.attempts_count > 0)
        return (await server.get(`/v1/webhooks/${id}/deliveries/${delivery.id}`, key)).body.attempts[0];
      await Bun.sleep(5);
    }
  }

  test.each(environments)(
    "is refused as the target of a redirect from an allowed host, with a %s key",
    async (environment) => {
      const key = server.keys[environment];
      const own = made[environment];
      for (const [index, url] of hostile.entries()) {
        if (!/^https?:\/\//i.test(url) || /[\0-\x20]/.test(url)) continue; // It would be a path of the host itself.
        lead(own, `http://127.0.0.1:${mover.port}/${index}`, "GET");
        const { body } = await server.post(`/v1/tools/${own.http}/test`, { arguments: {} }, key);
        expectFailed(url, body.error);
        // A POST is not redirected: the redirect is an unusable response.
        const webhook = await server.post(`/v1/tools/${own.webhook}/test`, { arguments: {} }, key);
        expect(webhook.body.error).toMatchObject({ code: "http_error", message: "The tool returned status 302." });
        const mcp = await server.post(`/v1/tools/${own.mcp}/test`, { arguments: {}, name: "ask" }, key);
        expect(mcp.body).toMatchObject({ output: null, error: { code: "mcp_unreachable" } });
      }
      expect(await canaries.strangers()).toEqual([]);
    },
    180_000,
  );

  test("an open port of this machine looks like a closed one", async () => {
    const own = made.test;
    const said = async (port: number) => {
      lead(own, `https://localhost:${port}/`);
      const { body } = await server.post(`/v1/tools/${own.http}/test`, { arguments: {} });
      return body.error;
    };
    expect(await said(canaries.port)).toEqual(await said(1024));
    expect((await said(1024)).code).toBe("address_forbidden");
  });
});

/** Returns the errors of all tool calls in a trace. */
function errorsOf(trace: Json): Json[] {
  const found: Json[] = [];
  JSON.stringify(trace, (key, value) => {
    if (key === "error" && value !== null && typeof value === "object") found.push(value);
    return value;
  });
  return found;
}

describe("on loopback, with a test key,", () => {
  test("this machine may be called, and nothing else becomes reachable", async () => {
    canaries.forget();
    await using server = await startRunnel();
    for (const url of hostile) {
      const host = URL.parse(url)?.hostname ?? "";
      if (/^127\.|^localhost|^\[::(1|ffff:7f.*)\]$/i.test(host) || host === hostname()) continue;
      expectRefusal(await server.post("/v1/tools", { name: `t_${crypto.randomUUID()}`, url }), url, "url");
    }
    expect(await canaries.strangers()).toEqual([]);
    const { id } = await createTool(server, { url: `http://localhost:${canaries.port}/`, retries: 0 });
    const { body } = await server.post(`/v1/tools/${id}/test`, { arguments: { city: "Oslo" } });
    expect(body.error.code).toBe("connection_lost");
    expect(await canaries.strangers()).toHaveLength(1); // So the canaries would have noticed the others too.
    canaries.forget();
  });

  test("a user name and a password in an address are never logged or stored", async () => {
    await using server = await startRunnel();
    const { id } = await createTool(server, { url: tools.url });
    const secret = `hush-${crypto.randomUUID()}`;
    const answers: ParsedResponse[] = [];
    for (const url of [`http://${secret}@localhost/`, `http://u:${secret}@127.0.0.1:${canaries.port}/`])
      for (const type of types) {
        answers.push(await server.post("/v1/tools", { name: "t", type, ...addressOf(type, url) }));
        if (type === "http") answers.push(await patch(server, id, { url }, server.keys.test));
      }
    for (const { status, body } of answers) expect([status, body.error?.code]).toEqual([400, "validation_failed"]);
    expect(JSON.stringify(answers)).not.toContain(secret);
    await server.kill9();
    expect(server.log()).not.toContain(secret);
    for (const name of readdirSync(server.dataDir, { recursive: true, withFileTypes: true }))
      if (name.isFile()) expect(readFileSync(join(name.parentPath, name.name)).includes(secret)).toBe(false);
  });

  test("the proxies of the environment see no request: not of tools, not of models, in no thread", async () => {
    canaries.forget();
    const proxy = `http://127.0.0.1:${canaries.port}`;
    const names = ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"];
    const environment = { ...Object.fromEntries(names.map((name) => [name, proxy])), ...stubConnection(model.url) };
    for (const flags of [
      ["--workers", "0"],
      ["--workers", "1"],
    ]) {
      await using server = await startRunnel({ environment: { ...environment, NO_PROXY: "" }, flags });
      const http = await createTool(server, { url: `${tools.url}/weather` });
      const mcp = await createTool(server, { type: "mcp", server_url: `${tools.url}/mcp`, parameters: undefined });
      expect(mcp.last_error.code).toBe("mcp_protocol_error");
      const called = await server.post(`/v1/tools/${http.id}/test`, { arguments: { city: "Oslo" } });
      expect(called.body).toMatchObject({ error: null, output: { sky: "clear" } });
      const run = await runToEnd(server, await createAgent(server, "turns-0", { tools: [http.id] }));
      expect(run).toMatchObject({ status: "completed", output: "I read 1 results." });
    }
    expect(await canaries.strangers()).toEqual([]);
  });
});

describe("the server itself", () => {
  const headers = { "x-forwarded-proto": "https" };

  test("is not reachable by a tool, webhook or MCP server, in any spelling and with any setting", async () => {
    const open = "127.0.0.0/8,::1/128,localhost,*.localhost";
    await using server = await startRunnel({ flags: ["--egress-allow", open] });
    await using plain = await startRunnel({ flags: ["--insecure-http", "--egress-allow", open] });
    for (const { post, url, keys } of [server, plain]) {
      const { protocol, port } = new URL(url);
      for (const host of ["127.0.0.1", "localhost", "127.1", "[::ffff:127.0.0.1]", "0x7f000001"])
        for (const path of ["", "v1/me"])
          for (const [resource, body] of [
            ["tools", { name: "h", url: `${protocol}//${host}:${port}/${path}` }],
            ["tools", { name: "w", type: "webhook", url: `${protocol}//${host}:${port}/${path}` }],
            ["tools", { name: "m", type: "mcp", server_url: `${protocol}//${host}:${port}/${path}` }],
            ["webhooks", { url: `${protocol}//${host}:${port}/${path}`, events: ["*"] }],
          ] as const) {
            const { status, body: said } = await post(`/v1/${resource}`, body, keys.test);
            expect([host, resource, status, said.error?.code]).toEqual([host, resource, 403, "url_not_allowed"]);
          }
    }
  });

  test("does not accept its own tools as the trusted proxy", async () => {
    await using server = await startRunnel({ flags: ["--trusted-proxies", "127.0.0.1"] });
    const send = async (method: string, path: string, body: unknown) =>
      parseResponse(await server.fetch(path, { method, headers, body: JSON.stringify(body) }));
    const tool = (more: object) => send("POST", "/v1/tools", { name: `t_${crypto.randomUUID()}`, ...more });
    // Loopback is a trusted proxy, so no tool may call it: neither this server nor a proxy in front of it.
    for (const url of [`${server.url}/v1/me`, `${tools.url}/fine`, `http://localhost:${new URL(tools.url).port}/`])
      expect([url, (await tool({ url })).body.error?.code]).toEqual([url, "url_not_allowed"]);
    for (const name of ["X-Forwarded-For", "x-forwarded-proto", "Forwarded", "X-Real-IP", "Via"])
      for (const type of ["http", "mcp"] as const) {
        const { status, body } = await tool({
          type,
          ...addressOf(type as Type, "https://1.1.1.1/"),
          headers: { [name]: "203.0.113.7" },
        });
        expect([name, status, body.error?.code]).toEqual([name, 400, "validation_failed"]);
      }
    // A tool from before this rule is refused as well.
    const made = await tool({ url: "https://1.1.1.1/" });
    expect(made.status).toBe(201);
    const db = new Database(join(server.dataDir, "runnel.db"));
    db.query("UPDATE tools SET definition = json_set(definition, '$.http.url', ?) WHERE id = ?").run(
      `${server.url}/v1/me`,
      made.body.id,
    );
    db.close();
    const { body } = await send("POST", `/v1/tools/${made.body.id}/test`, { arguments: {} });
    expect(["address_forbidden", "scheme_forbidden"]).toContain(body.error.code);
  });
});

describe("the operator's rules", () => {
  test.each(["0.0.0.0/0", "::/0", "::ffff:0:0/96", "10.0.0.0/33", "*", "https://erp.test", "erp.test:0", "u@erp.test"])(
    "prevent the server's start with %s among them",
    async (rule) => {
      const { code, stderr } = await runCommand(["serve", "--port", "0", "--egress-allow", `good.test,${rule}`]);
      expect(code).toBe(2);
      expect(stderr).toContain(JSON.stringify(rule));
      expect(stderr).not.toContain("good.test");
    },
  );

  test.each([
    [
      "127.0.0.1/32",
      ["127.0.0.1", "[::ffff:127.0.0.1]", "0x7f.1"],
      ["127.0.0.2", "[::1]", "[::127.0.0.1]", "10.0.0.1"],
    ],
    ["::ffff:127.0.0.1/128", ["127.0.0.1", "[::ffff:127.0.0.1]"], ["127.0.0.2", "[::1]", "[64:ff9b::127.0.0.1]"]],
    ["::/8", ["[::1]", "[::127.0.0.1]"], ["127.0.0.1", "[::ffff:127.0.0.1]", "[::ffff:a9fe:a9fe]", "[fd00::1]"]],
    ["127.0.0.1", ["127.0.0.1", "2130706433"], ["[::ffff:127.0.0.1]", "localhost", "127.0.0.2"]],
    ["localhost:9443", ["localhost:9443", "LOCALHOST.:9443"], ["localhost", "a.localhost:9", "127.0.0.1:9443"]],
    ["169.254.169.254", [], ["169.254.169.254", "[::ffff:a9fe:a9fe]"]],
  ])("%s opens the listed addresses and nothing else", async (rule, opened, closed) => {
    await using server = await startRunnel({
      flags: ["--host", "0.0.0.0"],
      environment: { RUNNEL_EGRESS_ALLOW: rule },
    });
    for (const key of Object.values(server.keys)) {
      const codeFor = async (host: string) => {
        const { body } = await server.post(
          "/v1/tools",
          { name: `t_${crypto.randomUUID()}`, url: `https://${host}/` },
          key,
        );
        return [host, body.error?.code ?? body.object];
      };
      for (const host of opened) expect(await codeFor(host)).toEqual([host, "tool"]);
      for (const host of closed) {
        // A name that does not resolve is no refusal, and opens nothing.
        if (host.startsWith("a.")) continue;
        expect(await codeFor(host)).toEqual([host, "url_not_allowed"]);
      }
    }
  });
});
