import { expect, test } from "bun:test";
import { newId, siblingId } from "../../domain/ids.ts";
import { limits } from "../../domain/limits.ts";
import type { ModelRequest, ScriptEntry } from "../../domain/model-call.ts";
import type { JournalEntry } from "../../domain/run-event.ts";
import type { TraceStep } from "../../domain/trace.ts";
import { hashJson } from "../../lib/hash.ts";
import { type Client, testApp } from "../../testing/test-app.ts";

async function ran(client: Client, script: ScriptEntry[], tools: string[] = []) {
  const draft = { name: "Clerk", instructions: "Be brief.", model: "test/script", model_settings: { script }, tools };
  const { body: agent } = await client.post("/v1/agents", draft);
  const { status, body } = await client.post("/v1/runs?wait=60", {
    agent_id: agent.id,
    input: "Hello",
    metadata: { team: "red" },
  });
  expect(status).toBe(201);
  return body;
}

const call = (name: string) => ({ name, arguments: { at: name } });
const stepsOf = ({ body }: { body: { steps: TraceStep[] } }) => body.steps;
const code = ({ status, body }: { status: number; body: { error?: { code: string } } }) => [status, body.error?.code];

/** Creates a run of five steps: two calls of a missing tool, and an answer. */
const fiveSteps = (client: Client) =>
  ran(client, [
    { reasoning: "Hm.", tool_calls: [call("a")] },
    { text: "Again. ", tool_calls: [call("b")] },
    { text: "Done." },
  ]);

test("a trace is found by its own id and by its run's", async () => {
  await using server = testApp();
  const client = await server.client();
  const run = await fiveSteps(client);
  expect(run.trace_id).toBe(siblingId(run.id, "trace"));
  const { body } = await client.get(`/v1/traces/${run.id}`);
  const { request_id: _, ...other } = (await client.get(`/v1/traces/${run.trace_id}`)).body;
  expect(body).toMatchObject(other);
  expect(structuredClone(body)).toMatchObject({
    id: run.trace_id,
    object: "trace",
    run_id: run.id,
    agent_id: run.agent_id,
    agent_version: 1,
    status: "completed",
    usage: run.usage,
    started_at: run.started_at,
    completed_at: run.completed_at,
    duration_ms: Date.parse(run.completed_at) - Date.parse(run.started_at),
    origin: "run",
    forked_from: null,
    replay_of: null,
    imported: false,
    recoveries: [],
    history_messages: 0,
    documents: [],
    metadata: { team: "red" },
    ...client.scope,
    steps_has_more: false,
  });
  expect(body.steps).toMatchObject([
    { step_index: 0, turn_index: 0, type: "model_call", reasoning: "Hm.", usage: { estimated: false } },
    { step_index: 1, turn_index: 0, type: "tool_call", name: "a", status: "failed", error: { code: "tool_not_found" } },
    { step_index: 2, turn_index: 1, type: "model_call", output: { content: "Again. " } },
    { step_index: 3, turn_index: 1, type: "tool_call", name: "b" },
    { step_index: 4, turn_index: 2, type: "model_call", status: "completed", output: { content: "Done." } },
  ]);
});

test("a trace can be read while its run waits, and shows the waiting step", async () => {
  await using server = testApp();
  const client = await server.client();
  const { body: tool } = await client.post("/v1/tools", { name: "look" });
  const run = await ran(client, [{ tool_calls: [call("look")] }, { text: "Done." }], [tool.id]);
  const trace = await client.get(`/v1/traces/${run.id}`);
  expect(trace.body).toMatchObject({ status: "requires_action", completed_at: null });
  expect(stepsOf(trace)).toMatchObject([
    { type: "model_call", status: "completed" },
    { type: "tool_call", status: "waiting", completed_at: null, input: { at: "look" }, output: null },
  ]);
  expect(code(await client.delete(`/v1/traces/${run.id}`))).toEqual([409, "run_not_terminal"]);
});

test("the trace of a model call in flight is readable, without an end", async () => {
  await using server = testApp();
  const client = await server.client();
  const { body: agent } = await client.post("/v1/agents", { name: "a", instructions: "", model: "test/timeout" });
  const { body: run } = await client.post("/v1/runs", { agent_id: agent.id, input: "Hi" });
  const watch = server.watches.join(run.id);
  while (watch.live() === null) await watch.next(10_000);
  watch.leave();
  const trace = await client.get(`/v1/traces/${run.id}`);
  expect(stepsOf(trace)).toMatchObject([
    { type: "model_call", status: "in_progress", completed_at: null, output: null },
  ]);
});

test("the steps are paged without repetition or omission", async () => {
  await using server = testApp();
  const client = await server.client();
  const run = await fiveSteps(client);
  const seen: number[] = [];
  for (let after = "", more = true; more; ) {
    const page = await client.get(`/v1/traces/${run.id}?limit=2${after}`);
    expect(stepsOf(page).length).toBeLessThanOrEqual(2);
    seen.push(...stepsOf(page).map(({ step_index }) => step_index));
    more = page.body.steps_has_more;
    after = `&starting_after=${stepsOf(page).at(-1)!.id}`;
  }
  expect(seen).toEqual([0, 1, 2, 3, 4]);
  expect(code(await client.get(`/v1/traces/${run.id}?starting_after=${newId("step")}`))).toEqual([
    400,
    "invalid_cursor",
  ]);
  for (const query of ["limit=0", "limit=101", "include=all", "order=asc"])
    expect((await client.get(`/v1/traces/${run.id}?${query}`)).status).toBe(400);
});

test("a page of steps has at most 1 MiB, also with prompts, and the next one continues there", async () => {
  await using server = testApp();
  const client = await server.client();
  const { body: tool } = await client.post("/v1/tools", { name: "look", type: "client" });
  const turn = { tool_calls: Array.from({ length: 3 }, () => ({ name: "look", arguments: {} })) };
  const run = await ran(client, [turn, turn, { text: "Done." }], [tool.id]);
  const watch = server.watches.join(run.id);
  for (let { status, required_action } = run; status !== "completed"; ) {
    const calls: { tool_call_id: string }[] = required_action?.submit_tool_outputs.tool_calls ?? [];
    const tool_outputs = calls.map(({ tool_call_id }) => ({ tool_call_id, output: "x".repeat(250_000) }));
    if (calls.length > 0) await client.post(`/v1/runs/${run.id}/submit_tool_outputs`, { tool_outputs });
    const commits = watch.commits();
    ({ status, required_action } = (await client.get(`/v1/runs/${run.id}`)).body);
    // The run may have continued before the answer arrived.
    if (status === "in_progress" && watch.commits() === commits) expect(await watch.next(10_000)).toBe(true);
  }
  watch.leave();
  for (const include of ["", "&include=prompt"]) {
    const seen: TraceStep[][] = [];
    for (let after = "", more = true; more; ) {
      const page = await client.get(`/v1/traces/${run.id}?limit=100${include}${after}`);
      seen.push(stepsOf(page));
      const alone = stepsOf(page).length === 1;
      expect(alone || JSON.stringify(page.body).length <= limits.page_bytes).toBe(true);
      more = page.body.steps_has_more;
      after = `&starting_after=${stepsOf(page).at(-1)!.id}`;
    }
    expect(seen.flat().map(({ step_index }) => step_index)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8]);
    expect(seen.length).toBeWithin(2, 9);
  }
});

test("include=raw returns the journal's entries of every step, and only then", async () => {
  await using server = testApp();
  const client = await server.client();
  const run = await fiveSteps(client);
  const raw = stepsOf(await client.get(`/v1/traces/${run.id}?include=raw`));
  const entries = raw.flatMap((step) => step.raw as JournalEntry[]);
  expect(raw[4]!.raw!.map(({ event }) => event.type)).toEqual(["step.started", "step.completed"]);
  expect(raw[4]!.raw![1]!.event).toMatchObject({ answer: { parts: [{ type: "text", text: "Done." }] } });
  const seqs = entries.map(({ seq }) => seq);
  const { data } = (await client.get(`/v1/runs/${run.id}/events`)).body;
  const ofSteps = data.filter(({ event }: { event: string }) => !/^run\.|^tool\.requested/.test(event));
  expect(seqs.toSorted((a, b) => a - b)).toEqual(ofSteps.map(({ seq }: { seq: number }) => seq));
  for (const step of stepsOf(await client.get(`/v1/traces/${run.id}`))) expect(step).not.toHaveProperty("raw");
});

test("include=prompt returns the prompt of each model call exactly as it was sent", async () => {
  await using server = testApp();
  const client = await server.client();
  const run = await fiveSteps(client);
  const steps = stepsOf(await client.get(`/v1/traces/${run.id}?include=prompt`)) as (TraceStep & {
    prompt?: ModelRequest;
  })[];
  const prompts = steps.flatMap(({ prompt, input_hash }) => (prompt ? [{ prompt, input_hash }] : []));
  expect(prompts.map(({ prompt }) => prompt.messages.map(({ role }) => role).join())).toEqual([
    "system,user",
    "system,user,assistant,tool",
    "system,user,assistant,tool,assistant,tool",
  ]);
  for (const { prompt, input_hash } of prompts) expect(hashJson(prompt)).toBe(input_hash!);
  for (const { type, prompt } of steps) expect(prompt !== undefined).toBe(type === "model_call");
  const [second] = stepsOf(
    await client.get(`/v1/traces/${run.id}?include=prompt,raw&limit=1&starting_after=${steps[1]!.id}`),
  );
  expect(second).toMatchObject({ prompt: prompts[1]!.prompt, raw: [{}, {}] });
});

test("traces are listed newest first, with a count instead of the steps", async () => {
  await using server = testApp();
  const client = await server.client();
  const [first, second] = [await fiveSteps(client), await ran(client, [{ text: "Hi." }])];
  const { body } = await client.get("/v1/traces");
  expect(body.data).toMatchObject([
    { id: second.trace_id, object: "trace", run_id: second.id, steps_count: 1, status: "completed" },
    { id: first.trace_id, steps_count: 5 },
  ]);
  for (const trace of body.data) expect(trace).not.toHaveProperty("steps");
  const page = (await client.get("/v1/traces?limit=1")).body;
  expect([page.has_more, page.last_id]).toEqual([true, second.trace_id]);
  expect((await client.get(`/v1/traces?starting_after=${page.last_id}`)).body.data).toMatchObject([
    { id: first.trace_id },
  ]);
  expect((await client.get(`/v1/traces?ending_before=${first.trace_id}`)).body.data).toMatchObject([
    { id: second.trace_id },
  ]);
  expect(code(await client.get(`/v1/traces?starting_after=${newId("agent")}`))).toEqual([400, "invalid_cursor"]);
});

test("deleting a trace deletes messages and events; the run's input and output stay", async () => {
  await using server = testApp();
  const client = await server.client();
  const run = await fiveSteps(client);
  const other = await ran(client, [{ text: "Hi." }]);
  const deleted = await client.delete(`/v1/traces/${run.trace_id}`);
  expect([deleted.status, deleted.body]).toMatchObject([200, { id: run.trace_id, object: "trace", deleted: true }]);
  for (const asked of [
    client.delete(`/v1/traces/${run.id}`),
    client.get(`/v1/traces/${run.id}`),
    client.get(`/v1/traces/${run.trace_id}`),
    client.get(`/v1/runs/${run.id}/events`),
  ])
    expect((await asked).status).toBe(404);
  const { request_id: _, ...kept } = run;
  const left = { ...kept, messages: [], tool_calls: [], trace_id: null };
  expect((await client.get(`/v1/runs/${run.id}`)).body).toMatchObject(left);
  const listed = (await client.get("/v1/runs")).body.data;
  const { messages: _messages, tool_calls: _calls, ...summary } = left;
  expect(listed).toMatchObject([{ id: other.id }, { ...summary, last_calls: [] }]);
  expect((await client.get("/v1/traces")).body.data).toMatchObject([{ run_id: other.id }]);
  expect((await client.delete(`/v1/runs/${run.id}`)).status).toBe(200);
});

test("another project's or environment's trace is not found", async () => {
  await using server = testApp();
  const client = await server.client();
  const run = await fiveSteps(client);
  for (const options of [{ project: "other" }, { environment: "live" as const }]) {
    const stranger = await server.client(options);
    for (const id of [run.id, run.trace_id]) {
      expect(code(await stranger.get(`/v1/traces/${id}`))).toEqual([404, "resource_not_found"]);
      expect(code(await stranger.delete(`/v1/traces/${id}`))).toEqual([404, "resource_not_found"]);
    }
    expect((await stranger.get("/v1/traces")).body.data).toEqual([]);
  }
  expect((await client.get(`/v1/traces/${run.id}`)).status).toBe(200);
});

test("no secret is in a trace, a run, its events, a list or the bytes of the database", async () => {
  await using server = testApp();
  const client = await server.client();
  let sent = "";
  using receiver = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch(request) {
      sent = request.headers.get("x-key") ?? "";
      return new Response("no", { status: 500 });
    },
  });
  const { body: tool } = await client.post("/v1/tools", {
    name: "look",
    url: `http://127.0.0.1:${receiver.port}/`,
    headers: { "x-key": "canary-header-value" },
  });
  const run = await ran(client, [{ tool_calls: [call("look")] }, { text: "Done." }], [tool.id]);
  expect([run.status, sent, run.tool_calls[0].error.code]).toEqual(["completed", "canary-header-value", "http_error"]);
  const secrets = ["canary", tool.signing_secret.slice("whsec_".length), client.key.secret];
  const paths = [`/v1/traces/${run.id}?include=raw`, `/v1/runs/${run.id}`, `/v1/runs/${run.id}/events`];
  const lists = ["/v1/traces", "/v1/runs", "/v1/tools", "/v1/agents", "/v1/api_keys"];
  const answers = await Promise.all([...paths, ...lists].map((path) => client.get(path)));
  const texts: { includes(secret: string): boolean }[] = answers.map(({ body }) => JSON.stringify(body));
  texts.push(server.db.sqlite.serialize());
  const ids = [tool.id, run.id, run.agent_id, client.key.id];
  expect(texts.map((text) => ids.some((id) => text.includes(id)))).not.toContain(false);
  for (const secret of secrets) expect(texts.map((text) => text.includes(secret))).not.toContain(true);
});
