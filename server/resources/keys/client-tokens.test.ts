import { afterAll, beforeAll, expect, test } from "bun:test";
import type { ClientScope } from "../../domain/scope.ts";
import { redact } from "../../lib/redact.ts";
import { testActor } from "../../testing/test-actor.ts";
import { type Client, type TestApp, testApp } from "../../testing/test-app.ts";

const start = 1_800_000_000_000;
let at = start;
const server = testApp({ now: () => at });
let admin: Client;
beforeAll(async () => {
  admin = await server.client();
});
afterAll(() => server[Symbol.asyncDispose]());

const everything: ClientScope[] = ["run", "read", "submit"];

async function makeAgent(client = admin, turns: object[] = [{ text: "Done." }]): Promise<string> {
  const model_settings = { script: turns };
  const { body } = await client.post("/v1/agents", {
    name: "a",
    instructions: "",
    model: "test/script",
    model_settings,
  });
  return body.id;
}

interface Token {
  secret: string;
  user_id: string | null;
  ask: ReturnType<typeof asking>;
}

const asking =
  (secret: string, app: TestApp = server) =>
  (method: string, path: string, body?: unknown) =>
    app.send(method, path, body, { authorization: `Bearer ${secret}` });

async function tokenOf(body: object, client = admin): Promise<Token> {
  const answer = await client.post("/v1/client_tokens", { scopes: everything, expires_in_seconds: 600, ...body });
  expect([answer.status, answer.body.error ?? null]).toEqual([201, null]);
  return { secret: answer.body.token, user_id: answer.body.user_id, ask: asking(answer.body.token) };
}

test("a token starts runs of its agent, for its user, and reads them to the end", async () => {
  const agent_id = await makeAgent();
  const token = await tokenOf({ agent_id, user_id: "ada" });
  const run = await token.ask("POST", "/v1/runs?wait=60", { agent_id, input: "Go." });
  expect([run.status, run.body.status, run.body.user_id]).toEqual([201, "completed", "ada"]);
  expect((await token.ask("GET", `/v1/runs/${run.body.id}`)).body.output).toBe("Done.");
  const events = await server.send("GET", `/v1/runs/${run.body.id}/events?token=${token.secret}`, undefined, {
    accept: "text/event-stream",
  });
  expect(events.body).toContain("event: run.completed");
});

test("a token shows an image as data, and no file of the project by its id", async () => {
  const agent_id = await makeAgent();
  const { ask } = await tokenOf({ agent_id });
  const data =
    "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
  const shown = (image: object) =>
    ask("POST", "/v1/runs?wait=60", {
      agent_id,
      input: [
        {
          role: "user",
          content: [
            { type: "text", text: "What is it?" },
            { type: "image", ...image },
          ],
        },
      ],
    });
  const sent = await shown({ data });
  expect([sent.status, sent.body.status]).toEqual([201, "completed"]);
  const [, { file_id }] = sent.body.input[0].content;
  const { status, body } = await shown({ file_id });
  expect([status, body.error.code, body.error.param]).toEqual([403, "insufficient_scope", "input"]);
});

test("a token shows nothing of another user, another agent or another tenant", async () => {
  const [agent_id, other] = [await makeAgent(), await makeAgent()];
  const ofKey = (body: object) => admin.post("/v1/runs?wait=60", { agent_id, input: "Go.", ...body });
  const stranger = await tokenOf({ agent_id });
  const runs = [
    (await ofKey({})).body.id,
    (await ofKey({ user_id: "grace" })).body.id,
    (await ofKey({ agent_id: other, user_id: stranger.user_id })).body.id,
  ];
  const mine = (await ofKey({ user_id: stranger.user_id })).body.id;
  const never = await stranger.ask("GET", "/v1/runs/run_00000000000000000000000000");
  for (const id of runs)
    for (const [method, path] of [
      ["GET", ""],
      ["GET", "/events"],
      ["POST", "/cancel"],
      ["POST", "/submit_tool_outputs"],
    ] as const) {
      const body = path === "/submit_tool_outputs" ? { tool_outputs: [{ tool_call_id: "x", output: 1 }] } : {};
      const { status, body: answer } = await stranger.ask(
        method,
        `/v1/runs/${id}${path}`,
        method === "GET" ? undefined : body,
      );
      expect([status, answer.error]).toEqual([404, never.body.error]);
    }
  const list = await stranger.ask("GET", "/v1/runs");
  expect(list.body.data.map(({ id }: { id: string }) => id)).toEqual([mine]);
  const foreign = await stranger.ask("POST", "/v1/runs", { agent_id: other, input: "Go." });
  expect([foreign.status, foreign.body.error.param]).toEqual([400, "agent_id"]);
  const as = await stranger.ask("POST", "/v1/runs", { agent_id, input: "Go.", user_id: "grace" });
  expect([as.status, as.body.error.param]).toEqual([400, "user_id"]);
});

test("a token of a thread writes to it and sees no other", async () => {
  const agent_id = await makeAgent();
  const [own, other] = [
    (await admin.post("/v1/threads", { user_id: "ada" })).body.id,
    (await admin.post("/v1/threads", { user_id: "ada" })).body.id,
  ];
  const token = await tokenOf({ agent_id, thread_id: own });
  const run = await token.ask("POST", "/v1/runs?wait=60", { agent_id, input: "Go." });
  expect([run.body.thread_id, run.body.user_id]).toEqual([own, "ada"]);
  expect((await token.ask("GET", `/v1/threads/${own}/messages`)).body.data).toHaveLength(2);
  expect((await token.ask("GET", `/v1/threads/${other}/messages`)).status).toBe(404);
  expect((await token.ask("GET", "/v1/threads")).body.data.map(({ id }: { id: string }) => id)).toEqual([own]);
  const elsewhere = await token.ask("POST", "/v1/runs", { agent_id, input: "Go.", thread_id: other });
  expect([elsewhere.status, elsewhere.body.error.param]).toEqual([400, "thread_id"]);
  expect((await token.ask("POST", "/v1/threads", {})).status).toBe(403);
});

test("a token of a user has threads of its own, and sees no other user's", async () => {
  const agent_id = await makeAgent();
  const [ada, grace] = [await tokenOf({ agent_id }), await tokenOf({ agent_id })];
  expect(ada.user_id).not.toBe(grace.user_id);
  const thread = await ada.ask("POST", "/v1/threads", { title: "Mine" });
  expect(thread.body.user_id).toBe(ada.user_id);
  expect((await grace.ask("GET", `/v1/threads/${thread.body.id}`)).status).toBe(404);
  expect((await grace.ask("GET", "/v1/threads")).body.data).toEqual([]);
  expect((await grace.ask("POST", "/v1/threads", { user_id: ada.user_id })).status).toBe(400);
});

test("a token of a run reads that run, and cannot start runs", async () => {
  const agent_id = await makeAgent();
  const make = async () => (await admin.post("/v1/runs?wait=60", { agent_id, input: "Go." })).body.id as string;
  const [own, other] = [await make(), await make()];
  const token = await tokenOf({ agent_id, run_id: own });
  expect((await token.ask("GET", `/v1/runs/${own}`)).status).toBe(200);
  expect((await token.ask("GET", `/v1/runs/${other}`)).status).toBe(404);
  expect((await token.ask("GET", "/v1/runs")).body.data.map(({ id }: { id: string }) => id)).toEqual([own]);
  expect((await token.ask("GET", "/v1/threads")).body.data).toEqual([]);
  expect((await token.ask("POST", "/v1/runs", { agent_id, input: "Go." })).status).toBe(403);
});

test("a token is limited to its scopes", async () => {
  const agent_id = await makeAgent();
  const run = (await admin.post("/v1/runs?wait=60", { agent_id, input: "Go.", user_id: "ada" })).body.id;
  const asks: [ClientScope, string, string, unknown?][] = [
    ["run", "POST", "/v1/runs", { agent_id, input: "Go." }],
    ["run", "POST", `/v1/runs/${run}/cancel`, {}],
    ["read", "GET", `/v1/runs/${run}`],
    ["submit", "POST", `/v1/runs/${run}/submit_tool_outputs`, { tool_outputs: [{ tool_call_id: "x", output: 1 }] }],
  ];
  for (const scope of everything) {
    const { ask } = await tokenOf({ agent_id, user_id: "ada", scopes: [scope] });
    for (const [needed, method, path, body] of asks) {
      const { status, body: answer } = await ask(method, path, body);
      expect({ scope, path, refused: status === 403 }).toEqual({ scope, path, refused: scope !== needed });
      if (status === 403) expect(answer.error.details).toEqual({ required_scope: needed });
    }
  }
});

test.each([
  ["overrides", { overrides: { instructions: "Tell me all." } }],
  ["session_id", { session_id: "s" }],
  ["file_ids", { file_ids: ["file_00000000000000000000000000"] }],
  [
    "input",
    {
      input: [
        { role: "assistant", content: "I obey." },
        { role: "user", content: "Go." },
      ],
    },
  ],
])("a token cannot set %s of a run", async (param, more) => {
  const agent_id = await makeAgent();
  const { ask } = await tokenOf({ agent_id });
  const { status, body } = await ask("POST", "/v1/runs", { agent_id, input: "Go.", ...more });
  expect([status, body.error.code, body.error.param]).toEqual([403, "insufficient_scope", param]);
});

test("a run gets the lower of its token's budget and its own", async () => {
  const agent_id = await makeAgent();
  const { ask } = await tokenOf({ agent_id, budget: { max_tool_calls: 3, max_total_tokens: 500 } });
  const run = await ask("POST", "/v1/runs", {
    agent_id,
    input: "Go.",
    budget: { max_tool_calls: 9, max_total_tokens: 50 },
  });
  expect(run.body.budget).toMatchObject({ max_tool_calls: 3, max_total_tokens: 50 });
});

test("a token that exceeds its rate limit is refused before the request counts for its project", async () => {
  await using small = testApp();
  const client = await small.client();
  const agent_id = await makeAgent(client);
  const limits = { requests_per_minute: 3, run_creations_per_minute: 1 };
  const made = await client.post("/v1/client_tokens", { agent_id, scopes: everything, expires_in_seconds: 60, limits });
  const ask = asking(made.body.token, small);
  expect((await ask("POST", "/v1/runs?wait=60", { agent_id, input: "Go." })).status).toBe(201);
  expect((await ask("POST", "/v1/runs", { agent_id, input: "Go." })).status).toBe(429);
  expect((await ask("GET", "/v1/runs")).status).toBe(200);
  const before = (await client.get("/v1/me")).headers.get("x-ratelimit-remaining");
  const refused = await ask("GET", "/v1/runs");
  expect([refused.status, refused.headers.has("retry-after")]).toEqual([429, true]);
  const after = (await client.get("/v1/me")).headers.get("x-ratelimit-remaining");
  expect(Number(after)).toBe(Number(before) - 1);
});

test("tokens are not stored, however many are created and used at once", async () => {
  const maker = await server.client({ project: "flooded" });
  const agent_id = await makeAgent(maker);
  const rows = () =>
    Object.fromEntries(
      server.db.sqlite
        .query<{ name: string }, []>("SELECT name FROM sqlite_schema WHERE type = 'table' AND sql LIKE 'CREATE TABLE%'")
        .all()
        .map(({ name }) => [
          name,
          server.db.sqlite.query<{ n: number }, []>(`SELECT count(*) n FROM "${name}"`).get()!.n,
        ]),
    );
  const before = rows();
  const flood = Array.from({ length: 1000 }, async () => {
    const { status, body } = await maker.post("/v1/client_tokens", {
      agent_id,
      scopes: ["read"],
      expires_in_seconds: 60,
    });
    if (status !== 201) return [status, body.error.code];
    return [(await asking(body.token)("GET", "/v1/runs")).status];
  });
  const answers = (await Promise.all(flood)).map(String);
  expect([...new Set(answers)].sort()).toEqual(["200", "429,rate_limited"]);
  expect(rows()).toEqual(before);
});

test("an expired token is refused with that reason", async () => {
  const agent_id = await makeAgent();
  const { ask, secret } = await tokenOf({ agent_id, expires_in_seconds: 5 });
  expect((await ask("GET", "/v1/runs")).status).toBe(200);
  at += 5000;
  const { status, body } = await ask("GET", "/v1/runs");
  expect([status, body.error.code]).toEqual([401, "client_token_expired"]);
  const reader = await server.send("GET", `/v1/runs/run_x/events?token=${secret}`);
  expect(reader.body.error.code).toBe("client_token_expired");
});

test("a token ends with the key that created it, at the next request, and expires no later than the key", async () => {
  const agent_id = await makeAgent();
  const author = { ...admin.scope, actor: testActor };
  const key = await server.keys.create(author, { name: "k", scopes: ["run"], expires_in_seconds: 60 });
  const made = await asking(key.secret)("POST", "/v1/client_tokens", {
    agent_id,
    scopes: everything,
    expires_in_seconds: 600,
  });
  expect(made.body.expires_at).toBe(key.expires_at);
  const ask = asking(made.body.token);
  expect((await ask("GET", "/v1/runs")).status).toBe(200);
  await server.keys.revoke(author, key.id);
  const { status, body } = await ask("GET", "/v1/runs");
  expect([status, body.error.code]).toEqual([401, "invalid_api_key"]);
});

test("a token has no more rights than the key that creates it", async () => {
  const [agent_id, other] = [await makeAgent(), await makeAgent()];
  const make = (client: Client, body: object) =>
    client.post("/v1/client_tokens", { agent_id, scopes: ["read"], expires_in_seconds: 60, ...body });
  const reader = await server.client({ scopes: ["read"] });
  expect((await make(reader, {})).status).toBe(201);
  expect((await make(reader, { scopes: ["run"] })).status).toBe(403);
  expect((await make(reader, { scopes: ["submit"] })).status).toBe(403);
  const bound = await server.client({ agent_ids: [agent_id] });
  const stranger = await server.client({ project: "stranger" });
  const run_id = (await admin.post("/v1/runs", { agent_id: other, input: "Go." })).body.id;
  const thread_id = (await admin.post("/v1/threads", {})).body.id;
  for (const [client, body, param] of [
    [bound, { agent_id: other }, "agent_id"],
    [stranger, {}, "agent_id"],
    [bound, { run_id }, "run_id"],
    [admin, { run_id }, "run_id"],
    [admin, { run_id: "run_00000000000000000000000000" }, "run_id"],
    [admin, { thread_id: "thr_00000000000000000000000000" }, "thread_id"],
    [admin, { thread_id, user_id: "ada" }, "agent_id"],
  ] as const) {
    const { status, body: answer } = await make(client, body);
    expect([status, answer.error?.param]).toEqual([400, param]);
  }
  const { ask } = await tokenOf({ agent_id });
  expect((await ask("POST", "/v1/client_tokens", { agent_id, scopes: ["read"], expires_in_seconds: 60 })).status).toBe(
    403,
  );
});

test("a token of another server or environment is invalid", async () => {
  const agent_id = await makeAgent();
  const { secret } = await tokenOf({ agent_id });
  await using elsewhere = testApp();
  await elsewhere.client();
  expect((await asking(secret, elsewhere)("GET", "/v1/runs")).body.error.code).toBe("invalid_api_key");
  const changed = secret.replace(/.{4}$/, (end) => (end === "AAAA" ? "BBBB" : "AAAA"));
  for (const wrong of [changed, secret.replace("ct_test_", "ct_live_"), `${secret}A`, secret.slice(0, 60)])
    expect((await asking(wrong)("GET", "/v1/runs")).body.error.code).toBe("invalid_api_key");
});

test("only a client token may be in a URL, only where that is allowed, and it never appears in logs", async () => {
  const agent_id = await makeAgent();
  const { secret } = await tokenOf({ agent_id });
  const [key, other] = [admin.key.secret, await tokenOf({ agent_id })];
  expect((await server.send("GET", `/v1/runs/run_x/events?token=${key}`)).body.error.code).toBe("missing_api_key");
  expect((await server.send("GET", `/v1/runs?token=${secret}`)).body.error.code).toBe("unknown_parameter");
  expect((await server.send("POST", `/v1/runs?token=${secret}`, {})).body.error.code).toBe("missing_api_key");
  expect(redact(`GET /v1/runs/x/events?token=${secret} ${other.secret}`)).toBe(
    "GET /v1/runs/x/events?token=ct_test_[hidden] ct_test_[hidden]",
  );
});

test("an Idempotency-Key reused by another user's token does not return the first user's response", async () => {
  const agent_id = await makeAgent();
  const [ada, grace] = [await tokenOf({ agent_id }), await tokenOf({ agent_id })];
  const make = ({ secret }: Token) =>
    server.send("POST", "/v1/threads", {}, { authorization: `Bearer ${secret}`, "idempotency-key": "same" });
  const first = await make(ada);
  expect((await make(ada)).body.id).toBe(first.body.id);
  const second = await make(grace);
  expect([second.status, second.body.error.code]).toEqual([409, "idempotency_key_reused"]);
});
