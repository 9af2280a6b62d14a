import { afterAll, expect, test } from "bun:test";
import type { ScriptEntry } from "../../domain/model-call.ts";
import type { Answer } from "../../testing/expect-declared.ts";
import { testApp } from "../../testing/test-app.ts";

// A tool that counts its calls and returns more than an event holds, so that its output becomes a file.
let asked = 0;
const tools = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  fetch: () => {
    asked++;
    return Response.json({ text: "x".repeat(20_000) });
  },
});
afterAll(() => tools.stop(true));

const server = testApp({ loopback: true });
const client = await server.client();

type Body = Answer["body"];

async function made(path: string, body: object): Promise<Body> {
  const answer = await client.post(path, body);
  expect([answer.status, answer.status === 201 ? null : answer.body.error]).toEqual([201, null]);
  return answer.body;
}

let count = 0;
const name = () => `thing_${++count}`;

const newAgent = (script: ScriptEntry[], more: object = {}): Promise<Body> =>
  made("/v1/agents", {
    name: "Clerk",
    instructions: "Be brief.",
    model: "test/script",
    model_settings: { script },
    ...more,
  });

/** An agent that calls an HTTP tool and then a client tool, and outputs a comment. */
async function clerk(more: object = {}) {
  const http = await made("/v1/tools", {
    name: name(),
    type: "http",
    url: tools.url.href,
    description: "Looks.",
    max_output_bytes: 1024,
  });
  const gated = await made("/v1/tools", { name: name(), type: "client", approval: "always" });
  const script: ScriptEntry[] = [
    { text: "I look. ", tool_calls: [{ name: http.name, arguments: { at: "sky" } }] },
    { tool_calls: [{ name: gated.name, arguments: { n: 1 } }] },
    { text: "Done." },
  ];
  return { agent: await newAgent(script, { tools: [http.id, gated.id], ...more }), http, gated };
}

async function ran(agent_id: string, more: object = {}): Promise<Body> {
  let run = await made("/v1/runs?wait=60", { agent_id, input: "Hello", ...more });
  while (run.status === "requires_action") {
    const [call] = run.required_action.submit_tool_outputs.tool_calls;
    const answer = call.needs === "approval" ? { decision: "approve" } : { output: "blue" };
    await client.post(`/v1/runs/${run.id}/submit_tool_outputs`, {
      tool_outputs: [{ tool_call_id: call.tool_call_id, ...answer }],
    });
    await settled(run.id);
    run = (await client.get(`/v1/runs/${run.id}`)).body;
  }
  return run;
}

async function settled(id: string): Promise<void> {
  const watch = server.watches.join(id);
  try {
    for (;;) {
      const { status } = (await client.get(`/v1/runs/${id}`)).body;
      if (status !== "in_progress" && status !== "queued") return;
      await watch.next(10_000);
    }
  } finally {
    watch.leave();
  }
}

const replayed = (id: string, body: object = {}) => made(`/v1/runs/${id}/replay`, body);

const eventsOf = async (id: string): Promise<Body[]> =>
  (await client.get(`/v1/runs/${id}/events?limit=100`)).body.data.map(({ at: _, data, ...event }: Body) => {
    const { run_id: __, id: ___, request_id: ____, at: _____, ...rest } = data;
    return { ...event, data: rest };
  });

/** All rows of all tables except runs and journals. */
function everythingElse(): Record<string, unknown[]> {
  const { sqlite } = server.db;
  const tables = sqlite
    .query<{ name: string }, []>("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE '%fts%'")
    .all()
    .map((table) => table.name)
    .filter((table) => !["runs", "run_events", "run_blobs", "blobs", "api_keys"].includes(table));
  return Object.fromEntries(tables.map((table) => [table, sqlite.query(`SELECT * FROM "${table}"`).all()]));
}

test("a replay is the same run, event by event, and calls no model, tool or client", async () => {
  const { agent } = await clerk();
  const run = await ran(agent.id);
  expect(run.status).toBe("completed");
  const before = asked;
  const copy = await replayed(run.id);
  expect(asked).toBe(before);
  expect(copy).toMatchObject({
    status: "completed",
    output: "Done.",
    origin: "replay",
    replay_of: run.id,
    forked_from: null,
    thread_id: null,
    agent_id: agent.id,
    agent_version: run.agent_version,
    model: run.model,
    expires_at: null,
    error: null,
    replay: {
      mode: "strict",
      agent: "pinned",
      agent_version: 1,
      divergences: [],
      first_divergence: null,
      matched_steps: 5,
      model_calls: 0,
      tool_calls: 0,
    },
    usage: { model_calls: 0, tool_calls: 0, total_tokens: 0, cost_usd: 0 },
  });
  expect(run).toMatchObject({ origin: "run", replay: null });
  expect(copy.messages.map(({ content }: Body) => content)).toEqual(run.messages.map(({ content }: Body) => content));
  expect(await eventsOf(copy.id)).toEqual(await eventsOf(run.id));
});

test("a replay's stream has the record's tokens, one by one", async () => {
  const { agent } = await clerk();
  const run = await ran(agent.id);
  const copy = await replayed(run.id);
  const framesOf = async (id: string) => {
    const headers = { authorization: `Bearer ${client.key.secret}`, accept: "text/event-stream" };
    const { body } = await server.send("GET", `/v1/runs/${id}/events`, undefined, headers);
    return body.replaceAll(id, "run").replaceAll(/"(at|request_id)":"[^"]*"/g, "");
  };
  const frames = await framesOf(copy.id);
  expect(frames).toContain("event: token");
  expect(frames).toBe(await framesOf(run.id));
});

test("a replay writes only the run itself: no usage, message, webhook, file, schedule, pending call or deadline", async () => {
  const webhook = await made("/v1/webhooks", { url: "https://[2001:4860:4860::8888]/", events: ["*"] });
  const { agent } = await clerk();
  const { id: thread_id } = await made("/v1/threads", { title: "t" });
  const run = await ran(agent.id, { thread_id });
  expect(
    (await client.get(`/v1/files?limit=100`)).body.data.filter((file: Body) => file.run_id === run.id),
  ).toHaveLength(1);
  const before = everythingElse();
  expect(Object.keys(before)).toEqual(
    expect.arrayContaining([
      "usage_days",
      "webhook_deliveries",
      "thread_messages",
      "threads",
      "files",
      "pending_calls",
    ]),
  );
  expect(before.usage_days!.length).toBeGreaterThan(0);
  expect(before.thread_messages!.length).toBeGreaterThan(0);
  expect(before.webhook_deliveries!.length).toBeGreaterThan(0);
  const copies = [await replayed(run.id), await replayed(run.id, { mode: "verify" })];
  expect(everythingElse()).toEqual(before);
  for (const { id } of copies)
    expect(server.db.sqlite.query("SELECT expires_at_ms, thread_id, status FROM runs WHERE id = ?").get(id)).toEqual({
      expires_at_ms: null,
      thread_id: null,
      status: "completed",
    });
  expect((await client.delete(`/v1/webhooks/${webhook.id}`)).status).toBe(200);
});

test("a replay takes no slot: the number of runs in progress is unchanged, and the thread is idle", async () => {
  const { agent } = await clerk();
  const { id: thread_id } = await made("/v1/threads", {});
  const run = await ran(agent.id, { thread_id });
  const before = (await client.get("/v1/me")).body.limits;
  await replayed(run.id);
  expect((await client.get("/v1/me")).body.limits.runs_in_progress).toEqual(before.runs_in_progress);
  expect((await client.get(`/v1/threads/${thread_id}`)).body).toMatchObject({ status: "idle", last_run_id: run.id });
});

test("a replay keeps the record's durations and step ids, and ends now", async () => {
  const { agent } = await clerk();
  const run = await ran(agent.id);
  const [trace, copy] = [(await client.get(`/v1/traces/${run.id}`)).body, await replayed(run.id)];
  const again = (await client.get(`/v1/traces/${copy.id}`)).body;
  expect(again.duration_ms).toBe(trace.duration_ms);
  expect(Date.parse(copy.completed_at)).toBeGreaterThanOrEqual(Date.parse(run.completed_at));
  const told = ({ id, type, name, input, output, latency_ms, input_hash }: Body) => [
    id,
    type,
    name,
    JSON.stringify(input).replaceAll(/"created_at":"[^"]*"/g, ""),
    output,
    latency_ms,
    input_hash,
  ];
  expect(again.steps.map(told)).toEqual(trace.steps.map(told));
  expect(again.steps.map(({ replayed }: Body) => replayed)).toEqual(again.steps.map(() => true));
  expect(trace.steps.map(({ replayed }: Body) => replayed)).toEqual(again.steps.map(() => false));
});

test("with the current agent, a strict replay fails at the first divergent step", async () => {
  const { agent } = await clerk();
  const run = await ran(agent.id);
  await client.patch(`/v1/agents/${agent.id}`, { instructions: "Be verbose." });
  expect((await replayed(run.id)).status).toBe("completed");
  const copy = await replayed(run.id, { agent: "current" });
  const { input_hash } = (await client.get(`/v1/traces/${run.id}`)).body.steps[0];
  expect(copy).toMatchObject({
    status: "failed",
    output: null,
    error: {
      type: "run_error",
      code: "replay_diverged",
      step_index: 0,
      retryable: false,
      divergence: { step_index: 0, kind: "prompt", expected_hash: input_hash },
    },
    replay: { agent: "current", agent_version: 2, matched_steps: 0, first_divergence: { step_index: 0 } },
    usage: { model_calls: 0, tool_calls: 0 },
  });
  expect(copy.error.divergence.actual_hash).toMatch(/^[0-9a-f]{64}$/);
  expect(copy.error.divergence.actual_hash).not.toBe(input_hash);
  expect((await client.get(`/v1/traces/${copy.id}`)).body.steps).toEqual([]);
});

test("a step that a strict replay had begun when it diverged is closed, and its trace has no open ends", async () => {
  const { agent, gated } = await clerk();
  const run = await ran(agent.id);
  await client.patch(`/v1/tools/${gated.id}`, { approval: "never" });
  const copy = await replayed(run.id, { agent: "current" });
  expect(copy.error.divergence).toMatchObject({
    step_index: 3,
    kind: "tool_call",
    expected: { tool: gated.name, needs: "approval" },
    actual: { tool: gated.name, needs: "output" },
  });
  const { steps } = (await client.get(`/v1/traces/${copy.id}`)).body;
  expect(steps.map(({ type, status }: Body) => [type, status])).toEqual([
    ["model_call", "completed"],
    ["tool_call", "completed"],
    ["model_call", "completed"],
  ]);
  expect(copy.replay.matched_steps).toBe(3);
});

test("verify continues after a divergence with the record's answers, and lists every divergence", async () => {
  const { agent } = await clerk();
  const run = await ran(agent.id);
  await client.patch(`/v1/agents/${agent.id}`, { instructions: "Be verbose." });
  const copy = await replayed(run.id, { mode: "verify", agent: "current" });
  expect(copy).toMatchObject({ status: "completed", output: "Done.", error: null });
  expect(copy.replay.divergences.map(({ step_index, kind }: Body) => [step_index, kind])).toEqual([
    [0, "prompt"],
    [2, "prompt"],
    [4, "prompt"],
  ]);
  expect(copy.replay.first_divergence).toEqual(copy.replay.divergences[0]);
  expect(copy.replay.matched_steps).toBe(2);
  expect((await client.get(`/v1/runs/${copy.id}`)).body.replay).toEqual(copy.replay);
});

test("a guardrail added since then blocks what it would have blocked", async () => {
  const { agent } = await clerk();
  const run = await ran(agent.id);
  const guardrails = [{ type: "blocked_terms", on: ["output"], action: "block", config: { terms: ["Done"] } }];
  expect((await client.patch(`/v1/agents/${agent.id}`, { guardrails })).status).toBe(200);
  const copy = await replayed(run.id, { agent: "current" });
  expect(copy.error.divergence).toMatchObject({ kind: "guardrail", step_index: 4 });
  expect(JSON.stringify(copy.error)).not.toContain("Done");
});

test("runs that failed, were cancelled, queued or are replays themselves can be replayed", async () => {
  const broken = await newAgent([{ text: "So ", error: "It broke." }]);
  const failed = await ran(broken.id);
  expect(failed.status).toBe("failed");
  expect(await replayed(failed.id)).toMatchObject({ status: "failed", error: { code: failed.error.code } });
  const { agent } = await clerk();
  const waiting = await made("/v1/runs?wait=60", { agent_id: agent.id, input: "Hello" });
  await client.post(`/v1/runs/${waiting.id}/cancel`, { reason: "enough" });
  const cancelled = await replayed(waiting.id);
  expect(cancelled).toMatchObject({ status: "cancelled", error: { code: "run_cancelled" } });
  const again = await replayed(cancelled.id, { mode: "verify" });
  expect(again).toMatchObject({ status: "cancelled", replay_of: cancelled.id, replay: { divergences: [] } });
  await client.patch(`/v1/agents/${agent.id}`, { instructions: "Other." });
  const diverged = await replayed(waiting.id, { agent: "current" });
  expect(await replayed(diverged.id)).toMatchObject({ status: "failed", error: { code: "replay_diverged" } });
});

test("a run whose agent and tools were deleted is replayed with its pinned agent; with the current agent it is refused", async () => {
  const { agent, http, gated } = await clerk();
  const run = await ran(agent.id);
  await client.delete(`/v1/agents/${agent.id}`);
  await client.delete(`/v1/tools/${http.id}`);
  await client.delete(`/v1/tools/${gated.id}`);
  for (const file of (await client.get("/v1/files?limit=100")).body.data)
    if (file.run_id === run.id) expect((await client.delete(`/v1/files/${file.id}`)).status).toBe(200);
  expect((await replayed(run.id)).replay.divergences).toEqual([]);
  const { status, body } = await client.post(`/v1/runs/${run.id}/replay`, { agent: "current" });
  expect([status, body.error.code, body.error.param]).toEqual([404, "resource_not_found", "agent"]);
  expect(body.error.message).toContain("pinned");
});

test("an agent call is replayed by its result, without its child run", async () => {
  const helper = await newAgent([{ text: "Four." }]);
  const tool = await made("/v1/tools", { name: name(), type: "agent", agent_id: helper.id, description: "Adds." });
  const call = { name: tool.name, arguments: { input: "2 + 2" } };
  const agent = await newAgent([{ tool_calls: [call] }, { text: "It is four." }], { tools: [tool.id] });
  const run = await ran(agent.id);
  const { n } = server.db.sqlite.query<{ n: number }, []>("SELECT count(*) AS n FROM runs").get()!;
  const copy = await replayed(run.id);
  expect(copy).toMatchObject({ status: "completed", replay: { divergences: [] } });
  expect(server.db.sqlite.query("SELECT count(*) AS n FROM runs").get()).toEqual({ n: n + 1 });
  expect(copy.tool_calls[0].subagent_run_id).toBe(run.tool_calls[0].subagent_run_id);
  expect((await client.get(`/v1/runs?parent_run_id=${copy.id}`)).body.data).toEqual([]);
  const child = await replayed(run.tool_calls[0].subagent_run_id);
  expect(child).toMatchObject({ output: "Four.", parent_run_id: null });
});

test("an unfinished run, or one without its trace, is not replayed", async () => {
  const { agent } = await clerk();
  const waiting = await made("/v1/runs?wait=60", { agent_id: agent.id, input: "Hello" });
  const early = await client.post(`/v1/runs/${waiting.id}/replay`);
  expect([early.status, early.body.error.code]).toEqual([409, "run_not_terminal"]);
  const run = await ran(agent.id);
  await client.delete(`/v1/traces/${run.id}`);
  const late = await client.post(`/v1/runs/${run.id}/replay`);
  expect([late.status, late.body.error.code]).toEqual([404, "resource_not_found"]);
  const wrong = await client.post(`/v1/runs/${run.id}/replay`, { mode: "loose" });
  expect([wrong.status, wrong.body.error.param]).toEqual([400, "mode"]);
});

test("a damaged record is reported as damaged", async () => {
  const { agent } = await clerk();
  const run = await ran(agent.id);
  await server.db.write(() =>
    server.db.sqlite.run("UPDATE run_events SET data = 'no JSON' WHERE run_id = ? AND seq = 4", [run.id]),
  );
  const { status, body } = await client.post(`/v1/runs/${run.id}/replay`);
  expect([status, body.error.code]).toEqual([409, "record_damaged"]);
});

test("a replay outlives its source, and can be deleted like any run", async () => {
  const { agent } = await clerk();
  const run = await ran(agent.id);
  const copy = await replayed(run.id);
  expect((await client.delete(`/v1/runs/${run.id}`)).status).toBe(200);
  expect((await client.get(`/v1/runs/${copy.id}`)).body).toMatchObject({ output: "Done.", replay_of: run.id });
  expect((await replayed(copy.id)).replay.divergences).toEqual([]);
  expect((await client.delete(`/v1/traces/${copy.id}`)).status).toBe(200);
  expect((await client.get(`/v1/runs/${copy.id}`)).body).toMatchObject({ origin: "replay", trace_id: null });
  expect((await client.delete(`/v1/runs/${copy.id}`)).status).toBe(200);
});

test("a replay of a run that is deleted meanwhile is a whole copy or none", async () => {
  const { agent } = await clerk();
  const first = await ran(agent.id);
  for (const kind of ["replay", "fork"]) {
    const run = (await client.post(`/v1/runs/${first.id}/fork?wait=60`, { step_index: 4 })).body;
    const [{ status, body }] = await Promise.all([
      client.post(`/v1/runs/${run.id}/${kind}`, kind === "fork" ? { step_index: 4 } : {}),
      client.delete(`/v1/runs/${run.id}`),
    ]);
    if (status === 201) expect((await client.get(`/v1/runs/${body.id}`)).body.output).toBe("Done.");
    else expect([status, body.error.code]).toEqual([404, "resource_not_found"]);
    const { data } = (await client.get(`/v1/runs?source_run_id=${run.id}`)).body;
    expect(data).toHaveLength(status === 201 ? 1 : 0);
  }
});

test("runs are found by their origin, and by their source", async () => {
  const { agent } = await clerk();
  const run = await ran(agent.id);
  const copies = [(await replayed(run.id)).id, (await replayed(run.id)).id];
  const ids = async (query: string) =>
    (await client.get(`/v1/runs?agent_id=${agent.id}&${query}`)).body.data.map(({ id }: Body) => id).sort();
  expect(await ids("origin=replay")).toEqual(copies.sort());
  expect(await ids(`source_run_id=${run.id}`)).toEqual(copies.sort());
  expect(await ids("origin=run")).toEqual([run.id]);
  expect((await client.get("/v1/runs?origin=other")).status).toBe(400);
});

test("repeated requests with one Idempotency-Key are one replay", async () => {
  const { agent } = await clerk();
  const run = await ran(agent.id);
  const headers = { authorization: `Bearer ${client.key.secret}`, "idempotency-key": "replay-1" };
  const [first, second] = [
    await server.send("POST", `/v1/runs/${run.id}/replay`, { mode: "verify" }, headers),
    await server.send("POST", `/v1/runs/${run.id}/replay`, { mode: "verify" }, headers),
  ];
  const { request_id: _, ...one } = first!.body;
  expect([first!.status, second!.status]).toEqual([201, 201]);
  expect(second!.body).toMatchObject(one);
});

test("a replay requires the scope run, counts as a run creation, and is limited to the key's agents", async () => {
  const { agent } = await clerk();
  const run = await ran(agent.id);
  const reader = await server.client({ scopes: ["read"] });
  expect((await reader.post(`/v1/runs/${run.id}/replay`)).status).toBe(
    reader.scope.project_id === client.scope.project_id ? 403 : 403,
  );
  const { headers } = await client.post(`/v1/runs/${run.id}/replay`);
  const other = await client.post("/v1/runs", { agent_id: agent.id, input: "Hello" });
  expect(headers.get("x-ratelimit-limit")).toBe(other.headers.get("x-ratelimit-limit"));
  expect(headers.get("location")).toMatch(/^\/v1\/runs\/run_/);
});
