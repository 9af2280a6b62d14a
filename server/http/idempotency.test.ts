import { afterAll, describe, expect, test } from "bun:test";
import { Elysia } from "elysia";
import fc from "fast-check";
import { newId } from "../domain/ids.ts";
import { type Log, silentLog } from "../lib/log.ts";
import { createSeal } from "../lib/seal.ts";
import { openDatabase } from "../storage/db/open.ts";
import type { Answer } from "../testing/expect-declared.ts";
import { parseFrames } from "../testing/run-fixture.ts";
import { testActor } from "../testing/test-actor.ts";
import { type Client, type TestApp, testApp } from "../testing/test-app.ts";
import { createAuth, createIdentify } from "./auth.ts";
import { createIdempotency } from "./idempotency.ts";
import { createIdempotencyStore } from "./idempotency-store.ts";
import type { Identity, Principal } from "./principal.ts";
import { createRateLimiter } from "./rate-limit.ts";
import { createResponseFinalizer } from "./response-finalizer.ts";

const server = testApp();
afterAll(() => server[Symbol.asyncDispose]());

let projects = 0;
const newClient = (more: object = {}) => server.client({ project: `p${projects++}`, ...more });

const send = (client: Client, key: string, path: string, body: unknown = {}, app: TestApp = server): Promise<Answer> =>
  app.send("POST", path, body, { authorization: `Bearer ${client.key.secret}`, "idempotency-key": key });

const isReplay = ({ headers }: Answer): boolean => headers.get("idempotent-replayed") === "true";
const codeOf = ({ status, body }: Answer) => [status, body.error?.code];

/** Expects the same response, byte for byte except for the request id. */
function expectAgain(first: Answer, again: Answer): void {
  const bare = ({ body: { request_id, ...body } }: Answer) => JSON.stringify(body);
  expect([again.status, bare(again)]).toEqual([first.status, bare(first)]);
  expect(again.headers.get("location")).toBe(first.headers.get("location"));
  expect([isReplay(first), isReplay(again)]).toEqual([false, true]);
  expect(again.body.request_id).toBe(again.headers.get("x-request-id"));
  expect(again.body.request_id).not.toBe(first.body.request_id);
  for (const name of ["content-type", "cache-control", "x-content-type-options"])
    expect(again.headers.get(name)).toBe(first.headers.get(name));
  expect(again.headers.get("x-ratelimit-limit")).toMatch(/^\d+$/);
}

const agentBody = { name: "a", instructions: "", model: "test/echo" };
const newAgent = async (client: Client, more: object = {}): Promise<string> =>
  (await client.post("/v1/agents", { ...agentBody, ...more })).body.id;

/** An agent whose model calls a client tool and then says "Done.". */
async function newAsking(client: Client): Promise<string> {
  const { body } = await client.post("/v1/tools", { name: "look" });
  const script = [{ text: "Wait.", tool_calls: [{ name: "look", arguments: {} }] }, { text: "Done." }];
  return await newAgent(client, { model: "test/script", model_settings: { script }, tools: [body.id] });
}

/** An agent whose model call outlasts every test. */
const newSlow = (client: Client): Promise<string> =>
  newAgent(client, { model: "test/script", model_settings: { script: [{ text: "Late.", delay_ms: 600_000 }] } });

const total = async (client: Client, resource: string): Promise<number> =>
  (await client.get(`/v1/${resource}?limit=100`)).body.data.length;

const outputs = (run: { tool_calls: { id: string }[] }, more: object = {}) => ({
  tool_outputs: [{ tool_call_id: run.tool_calls[0]!.id, output: "blue" }],
  ...more,
});

describe("a repeated POST is executed once and gets the same response", () => {
  test.each<[string, string, object]>([
    ["an agent", "agents", agentBody],
    ["a tool, with its secret", "tools", { name: "t", url: "https://example.com/t" }],
    ["an API key, with its secret", "api_keys", { name: "k", scopes: ["read"] }],
  ])("%s", async (_, resource, body) => {
    const client = await newClient();
    const before = await total(client, resource);
    const first = await send(client, "k", `/v1/${resource}`, body);
    expect(first.status).toBe(201);
    for (let i = 0; i < 2; i++) expectAgain(first, await send(client, "k", `/v1/${resource}`, body));
    expect(await total(client, resource)).toBe(before + 1);
  });

  test("a run, as it was when it started", async () => {
    const client = await newClient();
    const body = { agent_id: await newAgent(client), input: "Hello", metadata: { b: "1", a: "2" } };
    const first = await send(client, "k", "/v1/runs", body);
    expect([first.status, first.body.status]).toEqual([201, "in_progress"]);
    expect(first.headers.get("location")).toBe(`/v1/runs/${first.body.id}`);
    await client.post("/v1/runs?wait=60", { agent_id: body.agent_id, input: "Another." });
    expectAgain(first, await send(client, "k", "/v1/runs", body));
    expect(await total(client, "runs")).toBe(2);
  });

  test("a run whose agent was deleted in between", async () => {
    const client = await newClient();
    const agent_id = await newAgent(client);
    const first = await send(client, "once", "/v1/runs", { agent_id, input: "Hi" });
    expect((await client.delete(`/v1/agents/${agent_id}`)).status).toBe(200);
    expectAgain(first, await send(client, "once", "/v1/runs", { agent_id, input: "Hi" }));
    const second = await send(client, "another", "/v1/runs", { agent_id, input: "Hi" });
    expect(codeOf(second)).toEqual([400, "validation_failed"]);
  });

  test("a run that was waited for, as it was when the wait ended", async () => {
    const client = await newClient();
    const body = { agent_id: await newAsking(client), input: "Hello" };
    const first = await send(client, "k", "/v1/runs?wait=60", body);
    expect([first.status, first.body.status]).toEqual([201, "requires_action"]);
    await client.post(`/v1/runs/${first.body.id}/submit_tool_outputs`, outputs(first.body));
    expectAgain(first, await send(client, "k", "/v1/runs?wait=60", body));
  });

  test("tool outputs of a run, and its cancellation", async () => {
    const client = await newClient();
    const { body: run } = await client.post("/v1/runs?wait=60", { agent_id: await newAsking(client), input: "Hello" });
    const path = `/v1/runs/${run.id}`;
    const first = await send(client, "answer", `${path}/submit_tool_outputs`, outputs(run));
    expect([first.status, first.body.tool_calls[0].output]).toEqual([200, "blue"]);
    const { body: slow } = await client.post("/v1/runs", { agent_id: await newSlow(client), input: "Hello" });
    const cancelled = await send(client, "cancel", `/v1/runs/${slow.id}/cancel`, { reason: "Late." });
    expect([cancelled.status, cancelled.body.status]).toEqual([200, "cancelled"]);
    expectAgain(cancelled, await send(client, "cancel", `/v1/runs/${slow.id}/cancel`, { reason: "Late." }));
    expectAgain(first, await send(client, "answer", `${path}/submit_tool_outputs`, outputs(run)));
  });

  test("refusals", async () => {
    const client = await newClient();
    const { body: tool } = await client.post("/v1/tools", { name: "taken" });
    const invalid = await send(client, "400", "/v1/agents", { name: 7 });
    const absent = await send(client, "404", `/v1/runs/${tool.id.replace("tool", "run")}/cancel`);
    const taken = await send(client, "409", "/v1/tools", { name: "taken" });
    expect([invalid, absent, taken].map(({ status }) => status)).toEqual([400, 404, 409]);
    await client.delete(`/v1/tools/${tool.id}`); // The name is free again, but the response stays the same.
    expectAgain(invalid, await send(client, "400", "/v1/agents", { name: 7 }));
    expectAgain(absent, await send(client, "404", `/v1/runs/${tool.id.replace("tool", "run")}/cancel`));
    expectAgain(taken, await send(client, "409", "/v1/tools", { name: "taken" }));
  });
});

describe("streams", () => {
  // Tokens are merged by timing, so readers may get the same text in other pieces.
  const frames = (answer: Answer) => parseFrames(answer.body).filter(({ event }) => event !== "token");

  test("a repeated streaming request gets the run's stream from its first event, and no second run starts", async () => {
    const client = await newClient();
    const body = { agent_id: await newAgent(client), input: "Hello there", stream: true };
    const first = await send(client, "k", "/v1/runs", body);
    const again = await send(client, "k", "/v1/runs", body);
    expect([first.status, again.status]).toEqual([200, 200]);
    expect([isReplay(first), isReplay(again)]).toEqual([false, true]);
    expect(again.headers.get("content-type")).toStartWith("text/event-stream");
    expect(frames(first).at(-1)?.event).toBe("run.completed");
    expect(frames(again)).toEqual(frames(first));
    expect(await total(client, "runs")).toBe(1);
  });

  test("while the run continues, both readers get the same events live", async () => {
    const client = await newClient();
    const body = { agent_id: await newSlow(client), input: "Hello", stream: true };
    const first = send(client, "k", "/v1/runs", body);
    while ((await total(client, "runs")) === 0) await Bun.sleep(1);
    const again = send(client, "k", "/v1/runs", body);
    const [run, ...more] = (await client.get("/v1/runs")).body.data;
    while (server.watches.readers(run.id) < 2) await Bun.sleep(1);
    await client.post(`/v1/runs/${run.id}/cancel`);
    expect(frames(await again)).toEqual(frames(await first));
    expect(frames(await again).at(-1)?.data.status).toBe("cancelled");
    expect([isReplay(await first), isReplay(await again), more.length]).toEqual([false, true, 0]);
  });

  test("a repeated streaming submission gets the stream from where it began", async () => {
    const client = await newClient();
    const { body: run } = await client.post("/v1/runs?wait=60", { agent_id: await newAsking(client), input: "Hello" });
    const path = `/v1/runs/${run.id}/submit_tool_outputs`;
    const first = await send(client, "k", path, outputs(run, { stream: true }));
    const again = await send(client, "k", path, outputs(run, { stream: true }));
    expect(isReplay(again)).toBe(true);
    expect(frames(first)[0]?.event).toBe("tool.completed");
    expect(frames(again)).toEqual(frames(first));
  });
});

describe("a key", () => {
  test.each(["", "x".repeat(256), "a\tb", "clé"])("%j is refused", async (key) => {
    const client = await newClient();
    const { status, body } = await send(client, key, "/v1/agents", agentBody);
    expect([status, body.error.code, body.error.param]).toEqual([400, "validation_failed", "Idempotency-Key"]);
    expect(await total(client, "agents")).toBe(0);
  });

  test.each(["x", "x".repeat(255), "a key, with ~ and !"])("%j is accepted", async (key) => {
    const client = await newClient();
    expect((await send(client, key, "/v1/agents", agentBody)).status).toBe(201);
    expect(isReplay(await send(client, key, "/v1/agents", agentBody))).toBe(true);
  });

  test.each<[string, string, unknown]>([
    ["another body", "/v1/runs", { input: "Other" }],
    ["another query", "/v1/runs?wait=0", {}],
    ["another address", "/v1/agents", {}],
  ])("belongs to one request: %s is refused and changes nothing", async (_, path, more) => {
    const client = await newClient();
    const body = { agent_id: await newAgent(client), input: "Hello" };
    const first = await send(client, "k", "/v1/runs", body);
    const other = await send(client, "k", path, { ...body, ...(more as object) });
    expect(codeOf(other)).toEqual([409, "idempotency_key_reused"]);
    expect(other.body.error.type).toBe("idempotency_error");
    expectAgain(first, await send(client, "k", "/v1/runs", body));
    expect([await total(client, "runs"), await total(client, "agents")]).toEqual([1, 1]);
  });

  test("covers every byte of the body, even if the JSON means the same", async () => {
    const client = await newClient();
    await send(client, "k", "/v1/agents", JSON.stringify(agentBody));
    const spaced = await send(client, "k", "/v1/agents", ` ${JSON.stringify(agentBody)}`);
    expect(codeOf(spaced)).toEqual([409, "idempotency_key_reused"]);
  });

  test("of another project or environment is a different key", async () => {
    const [one, live] = [
      await server.client({ project: "both" }),
      await server.client({ project: "both", environment: "live" }),
    ];
    const body = { name: "t" };
    const answers = [one, live, await newClient()].map((client) => send(client, "k", "/v1/tools", body));
    for (const answer of await Promise.all(answers)) expect([answer.status, isReplay(answer)]).toEqual([201, false]);
  });

  test("expires after 24 hours, and its row can be deleted", async () => {
    let time = Date.parse("2026-01-01T00:00:00Z");
    await using app = testApp({ now: () => time });
    const client = await app.client();
    const post = (key: string) => send(client, key, "/v1/agents", agentBody, app);
    const first = await post("k");
    time += 24 * 3_600_000 - 1;
    expect(isReplay(await post("k"))).toBe(true);
    time += 1;
    const second = await post("k");
    expect([isReplay(second), second.body.id === first.body.id]).toEqual([false, false]);
    expectAgain(second, await post("k"));
    for (const key of ["a", "b", "c"]) await post(key);
    time += 24 * 3_600_000;
    await post("young");
    const { forgetExpired } = app.idempotency;
    expect(await app.db.write(() => [forgetExpired(3), forgetExpired(3), forgetExpired(3)])).toEqual([3, 1, 0]);
    expect(isReplay(await post("young"))).toBe(true);
  });
});

describe("concurrent requests", () => {
  test("of twenty equal requests one starts a run, and the others get it or are told to wait", async () => {
    const client = await newClient();
    const body = { agent_id: await newAgent(client), input: "Hello" };
    const answers = await Promise.all(Array.from({ length: 20 }, () => send(client, "k", "/v1/runs", body)));
    expect(answers.filter((answer) => answer.status === 201 && !isReplay(answer))).toHaveLength(1);
    for (const answer of answers.filter(({ status }) => status !== 201)) {
      expect(codeOf(answer)).toEqual([409, "idempotency_in_progress"]);
      expect(answer.headers.get("retry-after")).toBe("1");
    }
    expect(await total(client, "runs")).toBe(1);
  });

  test("while the first waits for its run, an equal request is told to wait and a different one is refused", async () => {
    const client = await newClient();
    const body = { agent_id: await newSlow(client), input: "Hello" };
    const first = send(client, "k", "/v1/runs?wait=60", body);
    while ((await total(client, "runs")) === 0) await Bun.sleep(1);
    expect(codeOf(await send(client, "k", "/v1/runs?wait=60", body))).toEqual([409, "idempotency_in_progress"]);
    expect(codeOf(await send(client, "k", "/v1/runs", body))).toEqual([409, "idempotency_key_reused"]);
    await client.post(`/v1/runs/${(await client.get("/v1/runs")).body.data[0].id}/cancel`);
    expect((await first).body.status).toBe("cancelled");
    expectAgain(await first, await send(client, "k", "/v1/runs?wait=60", body));
  });

  test("exactly one of the requests with a key is executed, in whatever order they arrive and end", async () => {
    const bodies = fc.array(fc.constantFrom("a", "b"), { minLength: 2, maxLength: 6 });
    await fc.assert(
      fc.asyncProperty(fc.scheduler(), bodies, fc.nat(2), async (scheduler, bodies, accidents) => {
        using fixture = createFixture(scheduler, accidents);
        const ask = async (body: string, i: number) => {
          await scheduler.schedule(Promise.resolve(), `request ${i}`);
          return { body, ...(await fixture.post(body)) };
        };
        const answers = await scheduler.waitFor(Promise.all(bodies.map(ask)));
        expect(fixture.done).toHaveLength(1);
        const [winner] = fixture.done;
        for (const { body, ...answer } of answers) {
          if (body !== winner) expect(answer.code).toBe("idempotency_key_reused");
          else if (answer.status === 409) expect(answer.code).toBe("idempotency_in_progress");
          else expect(answer).toMatchObject({ status: 201, text: `1 ${winner}` });
        }
        expect(answers.filter(({ status, replayed }) => status === 201 && !replayed)).toHaveLength(1);
      }),
    );
  });

  /** A route that records its calls and takes a random time; its first attempts fail. */
  function createFixture(scheduler: fc.Scheduler, accidents: number) {
    const db = openDatabase(":memory:");
    db.sqlite.run("INSERT INTO projects (id, name, created_at_ms) VALUES ('p', 'p', 0)");
    const limiter = createRateLimiter();
    const principal: Identity = {
      kind: "key",
      id: "key",
      project_id: "p",
      environment: "test",
      scopes: new Set(["admin"]),
      agent_ids: null,
      limits: {},
    };
    const seal = createSeal(new Uint8Array(32));
    const idempotency = createIdempotency({ db, seal, onBug: () => {}, now: Date.now });
    const authenticate = () => principal;
    const identify = createIdentify({ authenticate, limiter });
    const auth = createAuth("fixture", { identify, authenticate, idempotency });
    const done: string[] = [];
    let attempts = 0;
    const app = new Elysia({ normalize: false })
      .wrap(idempotency.around)
      .use(
        createResponseFinalizer({ routes: () => [], limiter, publicUrl: () => "https://localhost", onBug: () => {} }),
      )
      .use(auth)
      .post(
        "/v1/things",
        async ({ body, status }) => {
          const attempt = attempts++;
          await scheduler.schedule(Promise.resolve(), "work");
          if (attempt < accidents) throw new Error("An accident.");
          done.push(body as string);
          return status(201, { text: `${done.length} ${body}` });
        },
        { permission: "admin" },
      );
    async function post(body: string) {
      for (;;) {
        const response = await app.handle(
          new Request("http://localhost/v1/things", {
            method: "POST",
            body: JSON.stringify(body),
            headers: { "content-type": "application/json", "idempotency-key": "k" },
          }),
        );
        const answer: { text?: string; error?: { code: string } } = JSON.parse(await response.text());
        if (response.status === 500) continue; // Nothing was done, and the key is free.
        const replayed = response.headers.has("idempotent-replayed");
        return { status: response.status, text: answer.text, code: answer.error?.code, replayed };
      }
    }
    return { post, done, [Symbol.dispose]: () => db.close() };
  }
});

describe("a key stays free after", () => {
  test("401, 403 and 429, which do not depend on the request; it is executed once they pass", async () => {
    const client = await newClient();
    const weak = await server.client({ project: `p${projects - 1}`, scopes: ["read"] });
    const agent_id = await newSlow(client);
    const body = { agent_id, input: "Hello" };
    const stranger = { ...client, key: { id: "", secret: "sk_test_none" } };
    expect((await send(stranger, "k", "/v1/runs", body)).status).toBe(401);
    expect((await send(weak, "k", "/v1/runs", body)).status).toBe(403);
    await server.projects.update(client.scope.project_id, { limits: { runs_in_progress: 1 } });
    const { body: other } = await client.post("/v1/runs", body);
    expect(codeOf(await send(client, "k", "/v1/runs", body))).toEqual([429, "concurrency_limit_exceeded"]);
    await client.post(`/v1/runs/${other.id}/cancel`);
    const first = await send(client, "k", "/v1/runs", body);
    expect(first.status).toBe(201);
    // The slot is taken, but no new run is requested.
    expectAgain(first, await send(client, "k", "/v1/runs", body));
  });

  test("an unreadable body", async () => {
    const client = await newClient();
    expect((await send(client, "k", "/v1/agents", "{")).status).toBe(400);
    expect((await send(client, "k", "/v1/agents", agentBody)).status).toBe(201);
  });

  test("an answer that could not be stored, which is sent anyway; a run that could not be stored does not exist", async () => {
    const told: string[] = [];
    const log: Log = { ...silentLog, error: (message) => told.push(message) };
    await using app = testApp({ log });
    const client = await app.client();
    app.db.sqlite.run(
      "CREATE TEMP TRIGGER refuse BEFORE INSERT ON idempotency_keys BEGIN SELECT RAISE(ABORT, 'no'); END",
    );
    const made = await send(client, "k", "/v1/agents", agentBody, app);
    expect([made.status, (await client.get(`/v1/agents/${made.body.id}`)).status, told.length]).toEqual([201, 200, 1]);
    const agent_id = await newAgent(client);
    expect(codeOf(await send(client, "r", "/v1/runs", { agent_id, input: "Hello" }, app))).toEqual([
      500,
      "internal_error",
    ]);
    expect(await total(client, "runs")).toBe(0);
    app.db.sqlite.run("DROP TRIGGER refuse");
    const again = await send(client, "r", "/v1/runs", { agent_id, input: "Hello" }, app);
    expect([again.status, isReplay(again), await total(client, "runs")]).toEqual([201, false, 1]);
  });

  test("a full disk: 507, neither run nor key, and both once there is room again", async () => {
    await using app = testApp();
    const client = await app.client();
    const body = { agent_id: await newAgent(client), input: "Hello ".repeat(5000) };
    const [{ page_count: pages }] = app.db.sqlite.query("PRAGMA page_count").all() as [{ page_count: number }];
    app.db.sqlite.run(`PRAGMA max_page_count = ${pages}`);
    expect(codeOf(await send(client, "k", "/v1/runs", body, app))).toEqual([507, "storage_full"]);
    app.db.sqlite.run("PRAGMA max_page_count = 1000000");
    const first = await send(client, "k", "/v1/runs", body, app);
    expect([first.status, isReplay(first)]).toEqual([201, false]);
    expectAgain(first, await send(client, "k", "/v1/runs", body, app));
    expect(await total(client, "runs")).toBe(1);
  });
});

test("a disconnected client blocks no other: the repeated request waits for the same run", async () => {
  const client = await newClient();
  const agent_id = await newAgent(client, { model: "test/timeout" });
  const asked = (signal: AbortSignal) =>
    server.app.handle(
      new Request("http://localhost/v1/runs?wait=60", {
        method: "POST",
        headers: {
          authorization: `Bearer ${client.key.secret}`,
          "content-type": "application/json",
          "idempotency-key": "k",
        },
        body: JSON.stringify({ agent_id, input: "Hello" }),
        signal,
      }),
    );
  const gone = new AbortController();
  const first = asked(gone.signal);
  while ((await total(client, "runs")) === 0) await Bun.sleep(1);
  gone.abort();
  await first;
  const second = asked(new AbortController().signal);
  const [{ id }] = (await client.get("/v1/runs")).body.data;
  await client.post(`/v1/runs/${id}/cancel`);
  const answer = (await (await second).json()) as { id: string; status: string };
  expect([answer.id, answer.status, await total(client, "runs")]).toEqual([id, "cancelled", 1]);
});

describe("a repeated request", () => {
  test("counts against the rate limit like the first", async () => {
    const client = await newClient();
    await server.projects.update(client.scope.project_id, { limits: { run_creations_per_minute: 2 } });
    const body = { agent_id: await newAgent(client), input: "Hello" };
    for (const remaining of ["1", "0"])
      expect((await send(client, "k", "/v1/runs", body)).headers.get("x-ratelimit-remaining")).toBe(remaining);
    expect(codeOf(await send(client, "k", "/v1/runs", body))).toEqual([429, "rate_limited"]);
  });

  test("by a key for other agents reveals nothing about the run", async () => {
    const client = await newClient();
    const body = { agent_id: await newAsking(client), input: "Hello" };
    const { body: run } = await send(client, "k", "/v1/runs?wait=60", body);
    const path = `/v1/runs/${run.id}/submit_tool_outputs`;
    await send(client, "s", path, outputs(run, { stream: true }));
    await send(client, "c", `/v1/runs/${run.id}/cancel`);
    const agent_ids = [await newAgent(client)];
    const bound = await server.client({ project: `p${projects - 1}`, scopes: ["run"], agent_ids });
    const absent = { ...body, agent_id: newId("agent") };
    const [known, unknown] = [
      await send(bound, "k", "/v1/runs?wait=60", body),
      await send(bound, "n", "/v1/runs", absent),
    ];
    expect([...codeOf(known), isReplay(known)]).toEqual([...codeOf(unknown), false]);
    const answer = await send(bound, "s", path, outputs(run, { stream: true }));
    expect([...codeOf(answer), isReplay(answer)]).toEqual([404, "resource_not_found", false]);
    expect(codeOf(await send(bound, "c", `/v1/runs/${run.id}/cancel`))).toEqual([409, "idempotency_key_reused"]);
  });

  test("by a key for some agents does not get the secret of a key for all agents", async () => {
    const client = await newClient();
    const body = { name: "k", scopes: ["admin"] };
    const agent_ids = [await newAgent(client)];
    const bound = await server.client({ project: `p${projects - 1}`, agent_ids });
    const first = await send(client, "k", "/v1/api_keys", body);
    const other = await send(bound, "k", "/v1/api_keys", body);
    expect(codeOf(other)).toEqual([409, "idempotency_key_reused"]);
    expect(JSON.stringify(other.body)).not.toContain(first.body.secret);
  });

  test("for a deleted run is 404 without a second run; for a run without its trace it returns what is left", async () => {
    const client = await newClient();
    const agent_id = await newAgent(client);
    const bodies = [false, true].map((stream) => ({ agent_id, input: "Hello", stream }));
    for (const [i, body] of bodies.entries()) await send(client, `k${i}`, "/v1/runs", body);
    await client.post("/v1/runs?wait=60", { agent_id, input: "Until the others are over." });
    const ids = (await client.get("/v1/runs?order=asc")).body.data.map(({ id }: { id: string }) => id);
    for (const id of ids) await client.delete(`/v1/traces/${id}`);
    const left = await send(client, "k0", "/v1/runs", bodies[0]);
    expect([left.status, left.body.output, left.body.trace_id]).toEqual([201, "Hello", null]);
    expect((await send(client, "k1", "/v1/runs", bodies[1])).status).toBe(404);
    for (const id of ids) await client.delete(`/v1/runs/${id}`);
    for (const [i, body] of bodies.entries()) expect((await send(client, `k${i}`, "/v1/runs", body)).status).toBe(404);
    expect(await total(client, "runs")).toBe(0);
  });
});

describe("at rest", () => {
  test("every answer is encrypted, and opens only with its key", async () => {
    const client = await newClient();
    const answers = [
      await send(client, "one", "/v1/api_keys", { name: "k", scopes: ["read"] }),
      await send(client, "two", "/v1/tools", { name: "t", url: "https://example.com/t" }),
    ];
    const rows = JSON.stringify(server.db.sqlite.query("SELECT * FROM idempotency_keys").all());
    for (const { body } of answers) {
      expect(body.secret ?? body.signing_secret).toBeString();
      expect(rows).not.toContain(body.secret ?? body.signing_secret);
    }
    const swap = "UPDATE idempotency_keys SET sealed = (SELECT sealed FROM idempotency_keys WHERE key = 'two')";
    server.db.sqlite.run(`${swap} WHERE key = 'one'`);
    const stolen = await send(client, "one", "/v1/api_keys", { name: "k", scopes: ["read"] });
    expect(codeOf(stolen)).toEqual([500, "internal_error"]);
  });

  test("a run is not copied", async () => {
    const client = await newClient();
    await send(client, "copy", "/v1/runs?wait=60", { agent_id: await newAgent(client), input: "Hello" });
    const row = server.db.sqlite.query("SELECT * FROM idempotency_keys WHERE key = 'copy'").get();
    expect(row).toMatchObject({ run_id: expect.stringMatching(/^run_/), status: null, sealed: null });
  });
});

test("nothing is stored for other methods or without a key", async () => {
  const client = await newClient();
  const count = () => server.db.sqlite.query("SELECT count(*) AS n FROM idempotency_keys").get();
  const before = count();
  const id = await newAgent(client);
  const headers = { authorization: `Bearer ${client.key.secret}`, "idempotency-key": "k" };
  for (const name of ["b", "c"])
    expect((await server.send("PATCH", `/v1/agents/${id}`, { name }, headers)).body.name).toBe(name);
  expect(count()).toEqual(before);
});

test("an answer stored by an older version is returned, unless it has a secret, because its caller is unknown", async () => {
  const db = openDatabase(":memory:");
  const seal = createSeal(new Uint8Array(32));
  const idempotency = createIdempotency({ db, seal, onBug: () => {}, now: Date.now });
  const scope = { project_id: "p", environment: "test" as const };
  db.sqlite.run("INSERT INTO projects (id, name, created_at_ms) VALUES ('p', 'p', 0)");
  const asker: Principal = {
    kind: "key",
    id: "key_1",
    ...scope,
    scopes: new Set(["admin"]),
    agent_ids: null,
    limits: {},
    actor: testActor,
  };
  const ask = (key: string) => {
    const request = new Request("http://localhost/v1/things", { method: "POST", headers: { "idempotency-key": key } });
    return () => idempotency.begin(request, asker, new Uint8Array());
  };
  const hash = new Bun.CryptoHasher("sha256").update("POST /v1/things\n").digest("hex");
  const store = createIdempotencyStore({ db, now: Date.now });
  const keep = (key: string, body: string) => {
    const sealed = seal.seal(body, `idempotency/p/test/${key}`);
    return db.write(() =>
      store.keepOther({ scope, key, hash }, { status: 201, location: null, sealed, agent_ids: null }),
    );
  };
  await keep("plain", '{"id":"a"}');
  await keep("secret", '{"id":"a","secret":"s"}');
  expect(ask("plain")).toThrow(expect.objectContaining({ status: 201, body: '{"id":"a"}' }));
  expect(ask("secret")).toThrow(expect.objectContaining({ code: "idempotency_key_reused" }));
  db.close();
});
