import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { newId } from "../domain/ids.ts";
import { type ClientScope, clientScopes, type Permission, permissions } from "../domain/scope.ts";
import type { RequiredPermission } from "../http/operation.ts";
import {
  a2aMessage,
  agUi,
  mcp,
  type Name,
  rows,
  type Sent,
  type Things,
  table,
  uiChat,
  userSays,
} from "../testing/door-rows.ts";
import { type Answer, createVisits, expectDialect, made, never, unlimited } from "../testing/door-visits.ts";
import { changedTables, createRows } from "../testing/rows.ts";
import { testActor } from "../testing/test-actor.ts";
import { type Client, testApp } from "../testing/test-app.ts";
import { createOperations } from "./a2a/operations.ts";
import { restPlaces } from "./a2a/server.ts";
import { agentMethods } from "./mcp/agent-methods.ts";
import { adminMethods } from "./mcp/module.ts";

// Access to every route of every protocol, and to each method of routes that have several. Each row of the table in
// `server/testing/door-rows.ts` describes one; the first test fails if one is missing.

const server = testApp();
afterAll(() => server[Symbol.asyncDispose]());
const { ask, knock, thingsOf } = createVisits(server);

// --- Every address is known -----------------------------------------------------------------------------------------

/**
 * Paths that are no protocol: the API, the dashboard, public ones, and chat pages, which need a link (chat.test.ts).
 */
const isNoDoor = (path: string) =>
  /^\/(v1|console|callbacks|triggers|oauth|docs|chat)(\/|$)/.test(path) ||
  /^\/(healthz|readyz|metrics|embed\.js|chat\.(js|css)|llms(-full)?\.txt)$/.test(path);

/** Routes with several methods, by their names in the protocol. */
const methodsAt: Record<string, string[]> = {
  "POST /mcp": ["initialize", "server/discover", "ping", "response", "notifications/cancelled"].concat(
    Object.keys(agentMethods({} as never).methods),
  ),
  "POST /mcp/admin": ["initialize", "server/discover", ...Object.keys(adminMethods({} as never).methods)],
  "POST /a2a/v1/agents/:id": Object.keys(createOperations({} as never)).map(
    (name) => name.charAt(0).toUpperCase() + name.slice(1),
  ),
  "GET /a2a/v1/agents/:id/*": restPlaces.filter(([method]) => method === "GET").map(([, , operation]) => operation),
  "DELETE /a2a/v1/agents/:id/*": restPlaces
    .filter(([method]) => method === "DELETE")
    .map(([, , operation]) => operation),
  "POST /a2a/v1/agents/:id/*": restPlaces.filter(([method]) => method === "POST").map(([, , operation]) => operation),
};

test("every address of every door, and every method of each, is in the table, and nothing else is", () => {
  const addresses = server.app.routes
    .filter(({ path }) => !isNoDoor(path))
    .map(({ method, path }) => `${method} ${path.replace(/(.)\/$/, "$1")}`);
  const asked = addresses.flatMap((address) => methodsAt[address]?.map((name) => `${address} ${name}`) ?? [address]);
  const unknown = asked.filter((one) => !rows.some(([name]) => name === one || name.startsWith(`${one} `)));
  expect(unknown).toEqual([]);
  const superfluous = rows.filter(([name]) => !asked.some((one) => name === one || name.startsWith(`${one} `)));
  expect(superfluous.map(([name]) => name)).toEqual([]);
});

// --- Who asks -------------------------------------------------------------------------------------------------------

let owner: Client;
let ownThings: Things;
/** Owner of the things that others request. Only their requests could cause work there. */
let holder: Client;
/** The holder's project, in the live environment. */
let live: Client;
let stranger: Client;
/** The holder's project and environment, bound to another agent. */
let bound: Client;
let boundThings: Things;
/** The owner's keys, by permission. */
const keys = new Map<Permission, Client>();

beforeAll(async () => {
  const manner = { name: "openai", provider: "openai" as const, base_url: null, api_key: "none" };
  await server.connections.put(manner, testActor);
  owner = await server.client({ project: "owner" });
  holder = await server.client({ project: "holder" });
  live = await server.client({ project: "holder", environment: "live" });
  stranger = await server.client({ project: "stranger" });
  for (const { scope } of [owner, holder, stranger])
    await server.projects.update(scope.project_id, { limits: unlimited });
  ownThings = await thingsOf(owner);
  boundThings = await thingsOf(holder);
  bound = await server.client({ project: "holder", agent_ids: [boundThings.agent] });
  for (const scope of permissions) keys.set(scope, await server.client({ project: "owner", scopes: [scope] }));
});

/** Returns shared things for reads, which change nothing, else new ones. */
const thingsFor = (name: string) => (name.startsWith("GET") ? ownThings : thingsOf(owner, "ada", table[name]!.names));

const protectedRows = rows.filter(([, { needs }]) => needs !== null).map(([name]) => name);

describe("a door", () => {
  test.each(rows.filter(([, { needs }]) => needs === null).map(([name]) => name))("at %s is open", async (name) => {
    expect((await knock(null, name, never)).status).toBe(200);
  });

  test.each(protectedRows)("at %s refuses requests without a valid key, in the protocol's own format", async (name) => {
    const { send } = table[name]!;
    const [method = ""] = name.split(" ");
    const { path, body, headers } = send(never);
    for (const authorization of [null, "Bearer garbage"]) {
      const sent = { ...headers, ...(authorization !== null && { authorization }) };
      const answer = await guarded[Math.floor(protectedRows.indexOf(name) / 25)]!.send(method, path, body, sent);
      expect({ authorization, status: answer.status }).toEqual({ authorization, status: 401 });
      expect(answer.headers.get("www-authenticate")).toStartWith("Bearer");
      const text = typeof answer.body === "string" ? answer.body : JSON.stringify(answer.body);
      expectDialect(name, { ...answer, text });
    }
  });

  // Guesses are limited by address, so use one server per group of rows.
  const guarded = Array.from({ length: Math.ceil(protectedRows.length / 25) }, () => testApp());
  afterAll(async () => {
    for (const each of guarded) await each[Symbol.asyncDispose]();
  });

  const admits = (needs: RequiredPermission | null, scope: Permission) =>
    scope === "admin" || needs === scope || (needs === "read_or_run" && ["read", "run"].includes(scope));

  test.each(protectedRows)("at %s admits keys with the scope of the table, and no others", async (name) => {
    const things = await thingsFor(name);
    for (const [scope, { key }] of keys) {
      // Runs of one thread would wait for each other.
      const isIn = table[name]!.names.includes("thread");
      const thread = isIn ? (await made(owner, "/v1/threads", { user_id: "ada" })).id : never.thread;
      const answer = await knock(key.secret, name, { ...things, thread });
      const isRefused = [401, 403].includes(answer.status);
      expect({ scope, isRefused }).toEqual({ scope, isRefused: !admits(table[name]!.needs, scope) });
      expect(answer.status).toBeLessThan(500);
      if (isRefused) expectDialect(name, answer);
    }
  });

  const tokenFor = async (agent_id: string, scopes: readonly ClientScope[], more: object = {}) => {
    const limits = { requests_per_minute: 10_000, run_creations_per_minute: 10_000 };
    return (await made(owner, "/v1/client_tokens", { agent_id, scopes, expires_in: 600, limits, ...more }))
      .token as string;
  };

  test.each(protectedRows)("at %s admits client tokens with the scopes of the table, and no others", async (name) => {
    const { client } = table[name]!;
    const all = [...clientScopes];
    const without = (scope: ClientScope) => all.filter((one) => one !== scope);
    const cases: [ClientScope[], boolean][] =
      client === null
        ? [[all, false]]
        : client.length === 0
          ? all.map((scope) => [[scope], true])
          : [...client.map((scope): [ClientScope[], boolean] => [without(scope), false]), [[...client], true]];
    const things = await thingsFor(name);
    for (const [scopes, isAdmitted] of cases) {
      const answer = await knock(await tokenFor(things.agent, scopes, { user_id: "ada" }), name, things);
      expect({ scopes, isAdmitted: ![401, 403].includes(answer.status), status: answer.status }).toEqual({
        scopes,
        isAdmitted,
        status: answer.status,
      });
      expect(answer.status).toBeLessThan(500);
    }
  });
});

describe("a client token that is over in the middle of a stream", () => {
  const over = "client_token_expired";
  const asked = { messages: [{ role: "user", content: "x" }], stream: true };
  const rpc = (method: string, params: object) => ({ jsonrpc: "2.0", id: 1, method, params });
  /** Request of each stream, and its last event. */
  const streams: [name: string, sent: (agent: string) => Sent, last: object][] = [
    [
      "/openai/v1/chat/completions",
      (model) => ({ path: "/openai/v1/chat/completions", body: { model, ...asked } }),
      { error: { code: over } },
    ],
    [
      "/openai/v1/responses",
      (model) => ({ path: "/openai/v1/responses", body: { model, input: "x", stream: true } }),
      { type: "error", code: over },
    ],
    [
      "/ui/v1",
      (agent) => uiChat({ ...never, agent }, userSays("x")),
      { type: "error", errorText: expect.stringContaining("over") },
    ],
    [
      "/ag-ui/v1",
      (agent) => agUi({ ...never, agent, chat: crypto.randomUUID() }, [{ id: "m", role: "user", content: "x" }]),
      { type: "RUN_ERROR", code: over },
    ],
    [
      "/a2a/v1 by JSON-RPC",
      (agent) => ({ path: `/a2a/v1/agents/${agent}`, body: rpc("SendStreamingMessage", a2aMessage("x")) }),
      { jsonrpc: "2.0", id: 1, error: { code: -32000, data: [{ metadata: { code: over } }] } },
    ],
    [
      "/a2a/v1 by HTTP",
      (agent) => ({ path: `/a2a/v1/agents/${agent}/message:stream`, body: a2aMessage("x") }),
      { error: { code: 401, status: "UNAUTHENTICATED", details: [{ metadata: { code: over } }] } },
    ],
    [
      "/mcp",
      () => mcp("tools/call", { name: "slow", arguments: { input: "x" } }),
      { jsonrpc: "2.0", id: 1, error: { data: { code: over } } },
    ],
  ];

  test("gets the error in the protocol's form, and nothing that it began ends", async () => {
    let time = Date.now();
    await using other = testApp({ now: () => time });
    const keeper = await other.client();
    const agent = await made(keeper, "/v1/agents", {
      name: "slow",
      instructions: "",
      model: "test/script",
      doors: { mcp: true, a2a: true },
      model_settings: { script: [{ delta_ms: 60_000, text: "One two three." }] },
    });
    const scopes = [...clientScopes];
    const limits = { requests_per_minute: 100, run_creations_per_minute: 100 };
    const asked = { agent_id: agent.id, user_id: "ada", scopes, limits, expires_in: 60 };
    const { token } = await made(keeper, "/v1/client_tokens", asked);
    const begin = (name: string, { path, body, headers }: Sent) => {
      const by = { authorization: `Bearer ${token}`, accept: "application/json, text/event-stream" };
      return [name, other.send(body ? "POST" : "GET", path, body, { ...by, ...headers })] as const;
    };
    const begun = streams.map(([name, sent]) => begin(name, sent(agent.id)));
    let runs: { id: string; status: string }[] = [];
    const read = async () => {
      runs = (await keeper.get("/v1/runs")).body.data;
    };
    while (runs.length < streams.length) await read();
    const id = runs[0]!.id;
    begun.push(
      begin("/streams/v1 by SSE", { path: `/streams/v1/runs/${id}?offset=-1&live=sse` }),
      begin("/v1", { path: `/v1/runs/${id}/events`, headers: { accept: "text/event-stream" } }),
    );
    while (runs.some((run) => other.watches.readers(run.id) < (run.id === id ? 3 : 1)))
      await new Promise((resolve) => setImmediate(resolve));
    time += 61_000;
    const last = new Map(streams.map(([name, , last]) => [name, last]));
    for (const [name, answer] of begun) {
      const { status, body } = await answer;
      const said = JSON.parse([...String(body).matchAll(/^data: (.+)$/gm)].at(-1)?.[1] ?? "null");
      expect({ name, status, said }).toMatchObject({
        name,
        status: 200,
        said: last.get(name) ?? { error: { code: over } },
      });
    }
    await read();
    expect(runs.map(({ status }) => status)).toEqual(streams.map(() => "in_progress"));
  });
});

/** A visitor of a chat page, created once, because an address may create 30 a minute. */
let visitor: { things: Things; token: string };
beforeAll(async () => {
  const things = await thingsOf(owner);
  const page = await owner.put(`/v1/agents/${things.agent}/chat_page`, { access: "link" });
  const secret = new URL(page.body.url).hash.slice(1);
  const { status, body } = await server.send("POST", `/chat/${things.agent}/token`, { secret });
  expect(status).toBe(200);
  visitor = { things, token: body.token };
});

test.each(protectedRows)("at %s admits no visitor of a chat page", async (name) => {
  const { things, token } = visitor;
  const answer = await knock(token, name, things);
  expect([401, 403]).toContain(answer.status);
  expectDialect(name, answer);
});

// --- Whose things ---------------------------------------------------------------------------------------------------

/** Returns what a client sees of a response, without its request id, times, and values of the request. */
function seen({ status, headers, text }: Answer, sent: Things): object {
  const ignored = /^(x-request-id|date|x-ratelimit-.*|mcp-session-id)$/;
  const own = Object.values(sent).sort((a, b) => b.length - a.length);
  const told = (text: string) =>
    own
      .reduce((told, one) => told.replaceAll(one, "<sent>"), text)
      .replaceAll(/\b[a-z]+_[0-9a-hjkmnp-tv-z]{26}\b/g, "<id>")
      .replaceAll(/\b[0-9a-f]{8}-[0-9a-f-]{27}\b/g, "<uuid>")
      .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, "<time>");
  const shown = [...headers].filter(([name]) => !ignored.test(name)).map(([name, value]) => [name, told(value)]);
  return { status, headers: shown.sort(), text: told(text) };
}

const allRows = createRows(server.db);
/** All rows of the holder. */
const holdersRows = () => allRows.only(holder.scope);

/** Resolves once the holder has no work left: a chat's run continues after its message, and files are processed. */
async function atRest(): Promise<void> {
  const { project_id, environment } = holder.scope;
  const atWork = server.db.sqlite.query<unknown, [string, string, string, string]>(
    `SELECT 1 FROM runs WHERE project_id = ? AND environment = ? AND status IN ('queued', 'in_progress')
     UNION ALL SELECT 1 FROM files WHERE project_id = ? AND environment = ? AND status NOT IN ('ready', 'failed') LIMIT 1`,
  );
  while (atWork.get(project_id, environment, project_id, environment)) await Bun.sleep(1);
}

const naming = rows.flatMap(([name, { names }]) => names.map((what) => [name, what] as const));

describe("a thing of others", () => {
  let theirs: Things;
  let mine: Things;
  let others: [why: string, client: Client, own: Things][];
  beforeAll(async () => {
    theirs = await thingsOf(holder);
    mine = await thingsOf(holder, "bob");
    others = [
      ["of another project", stranger, await thingsOf(stranger)],
      ["of the other environment", live, await thingsOf(live)],
      ["of an agent that the key may not use", bound, boundThings],
    ];
  });
  // Threads, stores and sessions belong to no agent, and chat ids are separate for each user.
  const ofAgent: readonly Name[] = ["agent", "tool", "run", "call"];

  test.each(naming)(
    "at %s, named as the %s, is answered as one that never was, and is left as it is",
    async (name, what) => {
      // A message to a chat id creates a chat of the caller's own.
      const [taken, absent] =
        what === "chat" ? [(await thingsOf(holder, "ada", [what])).chat, newId("thread")] : [theirs[what], never[what]];
      const isRead = name.startsWith("GET");
      await atRest();
      const before = isRead ? null : holdersRows();
      for (const [why, client, own] of others) {
        if (client === bound && !ofAgent.includes(what)) continue;
        const { secret } = client.key;
        const send = async (value: string) => {
          const things = { ...own, [what]: value };
          // The session under test is sent unchanged; other rows open one of the caller's.
          const answer = await (what === "session"
            ? ask(secret, name.split(" ")[0]!, table[name]!.send(things))
            : knock(secret, name, things));
          return seen(answer, things);
        };
        expect({ why, answer: await send(taken) }).toEqual({ why, answer: await send(absent) });
      }
      // Another key opens sessions to send its requests.
      if (before) expect(changedTables(before, holdersRows()).filter((table) => table !== "mcp_sessions")).toEqual([]);
    },
  );

  const ofToken = naming.filter(
    ([name, what]) => [...ofAgent, "thread"].includes(what) && table[name]!.client !== null,
  );

  test.each(ofToken)(
    "at %s, named as the %s, is not there for a client token that is bound to something else",
    async (name, what) => {
      const limits = { requests_per_minute: 10_000, run_creations_per_minute: 10_000 };
      const asked = {
        agent_id: what === "agent" || what === "tool" ? mine.agent : theirs.agent,
        scopes: [...clientScopes],
        expires_in: 600,
        limits,
      };
      for (const to of [{ user_id: "bob" }, { thread_id: mine.thread }]) {
        const { token } = await made(holder, "/v1/client_tokens", { ...asked, ...to });
        const send = async (value: string) => {
          const things = {
            ...mine,
            agent: asked.agent_id,
            tool: asked.agent_id === mine.agent ? mine.tool : theirs.tool,
            [what]: value,
          };
          return seen(await knock(token, name, things), things);
        };
        expect({ to, answer: await send(theirs[what]) }).toEqual({ to, answer: await send(never[what]) });
      }
      expect((await holder.get(`/v1/runs/${theirs.run}`)).body.status).toBe("requires_action");
    },
  );
});
