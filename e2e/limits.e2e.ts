import { expect, test } from "bun:test";
import { usesSpare } from "./cluster/through-a-spare.ts";
import { openStream } from "./event-stream.ts";
import { createScripted } from "./fixtures.ts";
import { type Json, type ParsedResponse, parseResponse, type Runnel, startRunnel } from "./harness.ts";

// Limits of a project, and the responses beyond them, on the executable.

const endless = [{ delay_ms: 600_000 }];
const queueing = { on_concurrency_limit: "queue" };

/** Changes limits as an operator would, while the server runs. */
async function setLimits(server: Runnel, ...flags: string[]): Promise<Json> {
  const { code, stdout, stderr } = await server.command("projects", "limits", "default", ...flags, "--json");
  expect([code, stderr]).toEqual([0, ""]);
  return JSON.parse(stdout).limits;
}

const start = (server: Runnel, agent_id: string, more = {}): Promise<ParsedResponse> =>
  server.post("/v1/runs", { agent_id, input: "Hello.", ...queueing, ...more });
const runOf = async (server: Runnel, id: string): Promise<Json> => (await server.get(`/v1/runs/${id}`)).body;
const cancel = (server: Runnel, id: string) => server.post(`/v1/runs/${id}/cancel`, {});

async function begun(server: Runnel, id: string): Promise<void> {
  await using events = await server.stream(`/v1/runs/${id}/events`);
  await events.until("run.started");
}

const numbers = ({ headers }: { headers: Headers }): (number | null)[] =>
  ["limit", "remaining", "reset"].map((name) => {
    const text = headers.get(`x-ratelimit-${name}`);
    return text !== null && /^\d+$/.test(text) ? Number(text) : null;
  });

test("every response of the API has the remaining limit, whatever its status, and a 429 says when to retry", async () => {
  await using server = await startRunnel({ keepLimits: true });
  const agent_id = await createScripted(server, [{ text: "Hi." }]);
  const { body: key } = await server.post("/v1/api_keys", { name: "reader", scopes: ["read"] });
  const keyed = () =>
    server.fetch("/v1/runs", {
      method: "POST",
      body: JSON.stringify({ agent_id, input: "Once." }),
      headers: { "idempotency-key": "k" },
    });
  const wrongType = { method: "POST", body: "a", headers: { "content-type": "text/plain" } };
  type Asked = [name: string, status: number, bucket: number, ask: () => Promise<Response>];
  const asked: Asked[] = [
    ["read", 200, 600, () => server.fetch("/v1/agents")],
    ["head", 200, 600, () => server.fetch("/v1/agents", { method: "HEAD" })],
    ["document", 200, 600, () => server.fetch("/v1/openapi.json")],
    ["unknown id", 404, 600, () => server.fetch("/v1/runs/run_00000000000000000000000000")],
    ["unknown parameter", 400, 600, () => server.fetch("/v1/runs?nothing=1")],
    ["unknown address", 404, 600, () => server.fetch("/v1/nothing")],
    ["other method", 405, 300, () => server.fetch("/v1/agents", { method: "PUT", body: "{}" })],
    ["other type", 415, 300, () => server.fetch("/v1/agents", wrongType)],
    ["no JSON", 400, 300, () => server.fetch("/v1/agents", { method: "POST", body: "{" })],
    ["bad body", 400, 300, () => server.fetch("/v1/agents", { method: "POST", body: "{}" })],
    ["unknown address, no key", 401, 60, () => server.fetch("/v1/nothing", { key: null })],
    // A node that leads nothing reports its own health, and counts no requests.
    ...(usesSpare ? [] : [["health", 200, 60, () => server.fetch("/healthz")] as Asked]),
    ["documentation of errors", 200, 60, () => server.fetch("/docs/reference/errors")],
    ["no address at all", 404, 60, () => server.fetch("/nothing")],
    ["dashboard", 200, 60, () => server.fetch("/dashboard")],
    ["no key", 401, 60, () => server.fetch("/v1/agents", { key: null })],
    ["wrong key", 401, 60, () => server.fetch("/v1/agents", { key: "sk_test_wrong" })],
    ["no scope", 403, 300, () => server.fetch("/v1/agents", { method: "POST", body: "{}", key: key.secret })],
    ["run", 201, 120, keyed],
    ["run, again", 201, 120, keyed],
  ];
  for (const [name, status, bucket, ask] of asked) {
    const before = Date.now();
    const response = await ask();
    const [limit, remaining, reset] = numbers(response);
    expect([name, response.status, limit]).toEqual([name, status, bucket]);
    expect(remaining).toBeWithin(0, bucket + 1);
    expect(reset).toBeWithin(Math.floor(before / 1000), Math.floor(Date.now() / 1000) + 63);
    await response.body?.cancel();
  }
  const streamed = await server.fetch("/v1/runs", {
    method: "POST",
    body: JSON.stringify({ agent_id, input: "Hello.", stream: true }),
  });
  expect(streamed.headers.get("content-type")).toStartWith("text/event-stream");
  expect(numbers(streamed)[0]).toBe(120);
  await streamed.body?.cancel();
});

test("limits set while the server runs apply from the next request on; off means none", async () => {
  await using server = await startRunnel({ keepLimits: true });
  expect(numbers(await server.get("/v1/agents"))).toEqual([600, 599, expect.any(Number)]);
  expect(await setLimits(server, "--reads-per-minute", "3")).toMatchObject({ reads_per_minute: 3 });
  const answers = [await server.get("/v1/agents"), await server.get("/v1/agents"), await server.get("/v1/agents")];
  expect(answers.map((answer) => [answer.status, numbers(answer)[1]])).toEqual([
    [200, 1],
    [200, 0],
    [429, 0],
  ]);
  expect(answers[2]!.body.error.code).toBe("rate_limited");
  expect(Number(answers[2]!.headers.get("retry-after"))).toBeWithin(1, 62);
  // The other environment and the other kind of request have their own limits.
  expect((await server.get("/v1/agents", server.keys.live)).status).toBe(200);
  expect((await server.post("/v1/agents", {})).status).toBe(400);
  await setLimits(server, "--reads-per-minute", "off");
  expect(numbers(await server.get("/v1/agents"))).toEqual([2147483647, 2147483647, 0]);
  expect(await setLimits(server, "--reads-per-minute", "default")).toMatchObject({ reads_per_minute: null });
  expect(numbers(await server.get("/v1/agents")).slice(0, 2)).toEqual([600, 596]);
  const { stdout } = await server.command("projects", "list", "--json");
  expect(JSON.parse(stdout).data[0].limits).toEqual({
    reads_per_minute: null,
    run_creations_per_minute: null,
    writes_per_minute: null,
    runs_in_progress: null,
    children_per_run: null,
  });
  expect((await server.command("projects", "limits", "default", "--reads-per-minute", "-1")).code).toBe(2);
});

test("guessing keys is slowed down by address, also behind a proxy, and affects no other client", async () => {
  await using server = await startRunnel({ keepLimits: true, flags: ["--trusted-proxies", "127.0.0.1/32,::1/128"] });
  const ask = (from: string, key: string) =>
    server.fetch("/v1/agents", { key, headers: { "x-forwarded-for": from, "x-forwarded-proto": "https" } });
  for (let i = 0; i < 60; i++) expect((await ask("203.0.113.1", "sk_test_guess")).status).toBe(401);
  const refused = await ask("203.0.113.1", "sk_test_guess");
  expect([refused.status, numbers(refused)[1]]).toEqual([429, 0]);
  expect(Number(refused.headers.get("retry-after"))).toBeWithin(1, 62);
  expect((await ask("203.0.113.2", "sk_test_guess")).status).toBe(401);
  // A client's own claim before the proxy's entry is ignored.
  expect((await ask("198.51.100.9, 203.0.113.1", "sk_test_guess")).status).toBe(429);
  expect(numbers(await ask("203.0.113.1", server.keys.test))).toEqual([600, 599, expect.any(Number)]);
});

test("of 100 runs created at once with 20 slots, 20 begin and 80 queue; all complete, and begin in order", async () => {
  await using server = await startRunnel({ keepLimits: true });
  await setLimits(server, "--run-creations-per-minute", "off", "--reads-per-minute", "off");
  const agent_id = await createScripted(server, [{ text: "Done.", delay_ms: 20 }]);
  const slow = await createScripted(server, endless);
  const first = await Promise.all(Array.from({ length: 20 }, () => start(server, slow)));
  const rest = await Promise.all(Array.from({ length: 80 }, () => start(server, agent_id)));
  expect(first.every(({ body }) => body.status === "in_progress")).toBe(true);
  const queued = rest.map(({ body }) => body).toSorted((a, b) => a.queue_position - b.queue_position);
  expect(queued.map(({ status, queue_position }) => [status, queue_position])).toEqual(
    Array.from({ length: 80 }, (_, index) => ["queued", index + 1]),
  );
  const { status, body, headers } = await start(server, agent_id, { on_concurrency_limit: "reject" });
  expect([status, body.error.code]).toEqual([429, "concurrency_limit_exceeded"]);
  expect(Number(headers.get("retry-after"))).toBeGreaterThanOrEqual(1);
  await Promise.all(first.map(({ body: { id } }) => cancel(server, id)));
  const ended = await Promise.all(
    queued.map(async ({ id }) => {
      await using events = await server.stream(`/v1/runs/${id}/events`);
      await events.rest();
      return await runOf(server, id);
    }),
  );
  expect(new Set(ended.map((run) => run.status))).toEqual(new Set(["completed"]));
  const starts = ended.map(({ started_at }) => started_at);
  expect(starts).toEqual(starts.toSorted());
});

test("a queued run can be waited for, streamed, repeated by key and cancelled, but not deleted", async () => {
  await using server = await startRunnel();
  await setLimits(server, "--runs-in-progress", "1");
  const slow = await createScripted(server, endless);
  const agent_id = await createScripted(server, [{ text: "At last." }]);
  const { body: first } = await start(server, slow);
  const { body: second } = await start(server, slow);
  const body = JSON.stringify({ agent_id, input: "Hello.", ...queueing });
  const keyed = () => server.fetch("/v1/runs", { method: "POST", body, headers: { "idempotency-key": "k" } });
  const third = await parseResponse(await keyed());
  expect(third.body).toMatchObject({ status: "queued", queue_position: 2, started_at: null, expires_at: null });
  const { id } = third.body;
  expect((await server.get("/v1/runs?status=queued")).body.data.map((run: Json) => run.id)).toEqual([id, second.id]);
  expect((await server.fetch(`/v1/runs/${id}`, { method: "DELETE" })).status).toBe(409);
  expect((await cancel(server, second.id)).body).toMatchObject({ status: "cancelled", started_at: null });
  expect(await runOf(server, id)).toMatchObject({ status: "queued", queue_position: 1 });

  const waited = server.post("/v1/runs?wait=60", { agent_id, input: "Hello.", ...queueing });
  await using events = await openStream((signal) =>
    server.fetch("/v1/runs", {
      method: "POST",
      body: JSON.stringify({ agent_id, input: "Hello.", stream: true, ...queueing }),
      signal,
    }),
  );
  expect((await events.until("run.created")).data.status).toBe("queued");
  await events.until("run.queued");
  const again = await parseResponse(await keyed());
  expect(again.headers.get("idempotent-replayed")).toBe("true");
  const { request_id: _, ...answer } = again.body;
  expect(third.body).toMatchObject(answer);
  await cancel(server, first.id);
  expect((await waited).body).toMatchObject({ status: "completed", output: "At last.", queue_position: null });
  await events.rest();
  expect(events.frames.map(({ event }) => event)).toContain("run.started");
  expect(events.frames.at(-1)).toMatchObject({ event: "run.completed", data: { output: "At last." } });
  expect((await runOf(server, id)).status).toBe("completed");
});

test("a queue survives kill -9 in its order, and moves when its limit is raised", async () => {
  await using server = await startRunnel();
  await setLimits(server, "--runs-in-progress", "1");
  const slow = await createScripted(server, endless);
  const ids: string[] = [];
  for (let i = 0; i < 4; i++) ids.push((await start(server, slow)).body.id);
  await server.kill9();
  await server.restart();
  const standing = () => Promise.all(ids.map(async (id) => (await runOf(server, id)).queue_position));
  expect(await standing()).toEqual([null, 1, 2, 3]);
  await cancel(server, ids[0]!);
  await begun(server, ids[1]!);
  expect(await standing()).toEqual([null, null, 1, 2]);
  await setLimits(server, "--runs-in-progress", "3");
  for (const id of ids.slice(2)) await begun(server, id);
  expect(await standing()).toEqual([null, null, null, null]);
});

test.each(["before_run.queued", "after_run.queued", "before_run.started", "after_run.started"])(
  "a process that dies at %s neither loses a queued run nor makes it twice",
  async (point) => {
    await using server = await startRunnel({ environment: { RUNNEL_FAILPOINT: point } });
    await setLimits(server, "--runs-in-progress", "1");
    const slow = await createScripted(server, endless);
    const agent_id = await createScripted(server, [{ text: "At last." }]);
    const { body: first } = await start(server, slow);
    const body = JSON.stringify({ agent_id, input: "Hello.", ...queueing });
    const keyed = () => server.fetch("/v1/runs", { method: "POST", body, headers: { "idempotency-key": "k" } });
    await keyed().catch(() => null);
    await cancel(server, first.id).catch(() => null);
    expect(await server.died()).toBe("SIGKILL");
    await server.restart({});

    const { status, body: run } = await parseResponse(await keyed());
    expect([status, run.status]).toEqual([201, "queued"]);
    await cancel(server, first.id);
    await using events = await server.stream(`/v1/runs/${run.id}/events`);
    await events.rest();
    expect(await runOf(server, run.id)).toMatchObject({ status: "completed", output: "At last." });
    expect((await server.get("/v1/runs")).body.data.map(({ id }: Json) => id)).toEqual([run.id, first.id]);
  },
);
