import { expect, test } from "bun:test";
import type { ScriptEntry } from "../domain/model-call.ts";
import { modelRequest } from "../domain/prompt.ts";
import type { JournalEntry } from "../domain/run-event.ts";
import { fold } from "../domain/run-state.ts";
import { hashJson } from "../lib/hash.ts";
import { EmbeddingError } from "../runtime/models/embedding-error.ts";
import { Journal } from "../storage/journal/journal.ts";
import { wordEmbedders } from "../testing/embedder.ts";
import type { Answer } from "../testing/expect-declared.ts";
import { type Client, type TestApp, testApp } from "../testing/test-app.ts";
import { createRunProjection } from "./run-projection.ts";

async function start(options: Parameters<typeof testApp>[0] = {}): Promise<TestApp> {
  const server = testApp(options);
  await server.recover();
  return server;
}

const made = ({ status, body }: Answer) => {
  expect([status, body.error ?? null]).toEqual([201, null]);
  return body;
};
const store = async (client: Client, more: object = {}) =>
  made(await client.post("/v1/memory", { name: "Manuals", kind: "vector", ...more }));
const remember = async (client: Client, id: string, text: string, more: object = {}) =>
  made(await client.post(`/v1/memory/${id}/entries`, { text, ...more }));
const agent = async (client: Client, memory: object, more: object = {}) =>
  made(await client.post("/v1/agents", { name: "A", instructions: "I.", model: "test/echo", memory, ...more }));
const scripted = (script: ScriptEntry[]) => ({ model: "test/script", model_settings: { script } });
const run = async (client: Client, { id }: { id: string }, input: string, more: object = {}) => {
  const { status, body } = await client.post("/v1/runs?wait=60", { agent_id: id, input, ...more });
  expect(status).toBe(201);
  return body;
};
const steps = async (client: Client, { id }: { id: string }) => (await client.get(`/v1/traces/${id}`)).body.steps;
const calls = (name: string, args: Record<string, unknown>): ScriptEntry[] => [
  { tool_calls: [{ name, arguments: args }] },
  { text: "Done." },
];
const entriesOf = ({ db }: TestApp, id: string): JournalEntry[] =>
  new Journal({ db, project: createRunProjection(db.sqlite), wake() {}, now: Date.now }).read(id);
const reset = "To reset the coffee machine hold the red button for ten seconds.";

test("an agent shows its memory with defaults, keeps it in its versions, and removes it for null", async () => {
  await using server = await start();
  const client = await server.client();
  const [{ id: vector }, { id: kv }] = [await store(client), await store(client, { name: "Notes", kind: "kv" })];
  const made = await agent(client, { stores: [{ memory_id: vector }, { memory_id: kv, access: "read_write" }] });
  const policy = {
    stores: [
      { memory_id: vector, access: "read", auto_retrieve: true, top_k: 6, score_threshold: 0 },
      { memory_id: kv, access: "read_write", auto_retrieve: false, top_k: 6, score_threshold: 0 },
    ],
    history: { mode: "thread", max_messages: 50 },
    context: { strategy: "compact", reserve_output_tokens: 4096, tool_output_max_bytes: 40_000 },
  };
  expect(made.memory).toEqual(policy);
  expect((await client.patch(`/v1/agents/${made.id}`, { memory: null })).body).toMatchObject({
    version: 2,
    memory: null,
  });
  expect((await client.get(`/v1/agents/${made.id}/versions/1`)).body.memory).toEqual(policy);
  const body = { name: "B", instructions: "", model: "test/echo" };
  expect((await client.post("/v1/agents", body)).body.memory).toEqual({ ...policy, stores: [] });
  expect((await client.post("/v1/agents", { ...body, memory: null })).body.memory).toBeNull();
});

test("an invalid memory policy is rejected: missing, duplicate or impossible references", async () => {
  await using server = await start();
  const client = await server.client();
  const other = await server.client({ project: "other" });
  const [{ id: vector }, { id: kv }] = [await store(client), await store(client, { name: "Notes", kind: "kv" })];
  const { id: foreign } = await store(other);
  const refusal = async (stores: object[], more: object = {}) => {
    const body = { name: "A", instructions: "", model: "test/echo", memory: { stores }, ...more };
    const { status, body: answer } = await client.post("/v1/agents", body);
    return [status, answer.error?.code, answer.error?.param];
  };
  const at = (name: string) => [400, "validation_failed", name];
  expect(await refusal([{ memory_id: foreign }])).toEqual(at("memory.stores[0].memory_id"));
  expect(await refusal([{ memory_id: vector }, { memory_id: vector }])).toEqual(at("memory.stores[1].memory_id"));
  expect(await refusal([{ memory_id: kv, auto_retrieve: true }])).toEqual(at("memory.stores[0].auto_retrieve"));
  expect(await refusal([{ memory_id: vector, top_k: 51 }])).toEqual(at("memory.stores[0].top_k"));
  const { id: tool } = made(
    await client.post("/v1/tools", { name: "memory_search", description: "", parameters: { type: "object" } }),
  );
  expect(await refusal([{ memory_id: vector }], { tools: [tool] })).toEqual(at("tools[0]"));
  expect((await refusal([{ memory_id: kv }], { tools: [tool] }))[0]).toBe(201);
  const { id: agent_id } = await agent(client, { stores: [{ memory_id: vector }] });
  const overridden = await client.post("/v1/runs", { agent_id, input: "x", overrides: { tools: [tool] } });
  expect([overridden.status, overridden.body.error.param]).toEqual([400, "overrides.tools[0]"]);
});

test("a tool renamed to a memory tool's name keeps it, and the memory tool gets another", async () => {
  await using server = await start();
  const client = await server.client();
  const { id: memory_id } = await store(client);
  await remember(client, memory_id, reset);
  const { id } = made(
    await client.post("/v1/tools", { name: "look", description: "", parameters: { type: "object" } }),
  );
  const policy = { stores: [{ memory_id, auto_retrieve: false }] };
  const script = calls("memory_search_2", { query: "reset" });
  const { id: agent_id } = await agent(client, policy, { ...scripted(script), tools: [id] });
  expect((await client.patch(`/v1/tools/${id}`, { name: "memory_search" })).status).toBe(200);
  const ended = await run(client, { id: agent_id }, "x");
  expect(ended.tool_calls[0]).toMatchObject({ name: "memory_search_2", type: "memory", status: "completed" });
});

test("passages for the input precede it in the prompt and in the trace, with their source, also when the run is read again", async () => {
  await using server = await start();
  const client = await server.client();
  const { id: memory_id } = await store(client);
  const { id: entry_id } = await remember(client, memory_id, reset);
  await remember(client, memory_id, "The garden gate squeaks.");
  const made = await agent(client, { stores: [{ memory_id, top_k: 1 }] });
  const ended = await run(client, made, "How do I reset the coffee machine?");
  expect(ended.status).toBe("completed");
  const [retrieval, call] = await steps(client, ended);
  expect(retrieval).toMatchObject({
    type: "retrieval",
    name: "memory",
    status: "completed",
    step_index: 0,
    latency_ms: expect.any(Number),
    input: { query: "How do I reset the coffee machine?", stores: [{ memory_id, name: "Manuals" }] },
    output: { matches: [{ memory_id, entry_id, text: reset, score: expect.any(Number), page: null }], failures: [] },
  });
  const entries = entriesOf(server, ended.id);
  const asked = entries.findIndex(({ event }) => event.type === "step.started" && event.step_type === "model_call");
  const snapshot = server.db.sqlite
    .query<{ json: string }, [string]>("SELECT content AS json FROM blobs WHERE hash = ?")
    .get((entries[0]!.event as { agent_hash: string }).agent_hash)!;
  const request = modelRequest(fold(entries.slice(0, asked)), JSON.parse(snapshot.json));
  expect(request.messages.map(({ role }) => role)).toEqual(["system", "user", "user"]);
  expect(JSON.stringify(request.messages[1])).toContain(`> ${reset}`);
  expect(call.input_hash).toBe(hashJson(request));
});

test("a reranker orders the results of a search and a run; an unavailable one fails neither, and both report it", async () => {
  let isAway = false;
  await using reranker = Object.assign(
    Bun.serve({
      port: 0,
      hostname: "127.0.0.1",
      async fetch(request) {
        if (isAway) return new Response(null, { status: 503 });
        const { documents } = (await request.json()) as { documents: string[] };
        const results = documents.map((text, index) => ({ index, relevance_score: text.includes("gate") ? 0.9 : 0.2 }));
        return Response.json({ results });
      },
    }),
    { [Symbol.asyncDispose]: () => reranker.stop(true) },
  );
  await using server = await start({ environment: { RUNNEL_MODEL_GPU_BASE_URL: `${reranker.url}v1` } });
  const client = await server.client();
  const { id: memory_id } = await store(client);
  await remember(client, memory_id, reset);
  const gate = "The garden gate squeaks.";
  await remember(client, memory_id, gate);
  const query = "How do I reset the coffee machine?";
  const rerank = { model: "openai_compatible/gpu/cross" };
  const search = async (more: object = {}) =>
    (await client.post(`/v1/memory/${memory_id}/search`, { query, ...more })).body;

  const plain = await search();
  expect([plain.data[0].text, "reranked" in plain]).toEqual([reset, false]);
  const ranked = await search({ rerank, top_k: 1, score_threshold: 0.5 });
  expect(ranked).toMatchObject({ reranked: true, rerank_error: null, data: [{ text: gate, score: 0.9 }] });

  const stores = [{ memory_id, top_k: 1, rerank }];
  const made = await agent(client, { stores }, scripted(calls("memory_search", { query })));
  expect(made.memory.stores[0].rerank).toEqual({ ...rerank, candidates: 50 });
  const [first] = await steps(client, await run(client, made, query));
  expect(first.output).toMatchObject({
    matches: [{ text: gate }],
    reranks: [{ memory_id, reranked: true, error: null }],
  });

  isAway = true;
  const error = { code: "rerank_failed", message: "The reranker returned status 503." };
  expect(await search({ rerank, top_k: 1 })).toMatchObject({
    reranked: false,
    rerank_error: error,
    data: [{ text: reset }],
  });
  const without = await run(client, made, query);
  expect(without.status).toBe("completed");
  const [second] = await steps(client, without);
  expect(second.output).toMatchObject({ matches: [{ text: reset }], reranks: [{ memory_id, reranked: false, error }] });
  expect(without.tool_calls[0].output).toMatchObject({
    matches: [{ text: reset }],
    not_reranked: [{ store: "Manuals", ...error }],
  });
  const gone = await search({ rerank: { model: "openai_compatible/none/cross" }, top_k: 1 });
  expect(gone).toMatchObject({
    reranked: false,
    rerank_error: { code: "model_not_available" },
    data: [{ text: reset }],
  });
});

test("each user finds only their own entries, and a run without a user is rejected", async () => {
  await using server = await start();
  const client = await server.client();
  const { id: memory_id } = await store(client, { scope: "user" });
  const made = await agent(
    client,
    { stores: [{ memory_id, access: "read_write" }] },
    scripted(calls("memory_write", { text: "Ann likes oolong tea." })),
  );
  const refused = await client.post("/v1/runs", { agent_id: made.id, input: "Hello" });
  expect([refused.status, refused.body.error.param]).toEqual([400, "user_id"]);
  const written = await run(client, made, "I like oolong tea.", { user_id: "ann" });
  expect(written.tool_calls[0]).toMatchObject({ status: "completed", type: "memory", tool_id: null });
  const asks = await agent(client, { stores: [{ memory_id }] });
  const of = async (user_id: string) =>
    (await steps(client, await run(client, asks, "Which tea does she like?", { user_id })))[0].output.matches;
  expect(await of("ann")).toMatchObject([{ text: "Ann likes oolong tea." }]);
  expect(await of("bob")).toEqual([]);
});

test("a note stored by one run is read by the next", async () => {
  await using server = await start();
  const client = await server.client();
  const { id: memory_id } = await store(client, { name: "Notes", kind: "kv", scope: "session" });
  const of = (script: ScriptEntry[]) =>
    agent(client, { stores: [{ memory_id, access: "read_write" }] }, scripted(script));
  const first = await run(client, await of(calls("kv_set", { key: "plan", value: { step: 2 } })), "x", {
    session_id: "s",
  });
  expect(first.tool_calls[0].output).toEqual({ key: "plan", version: 1 });
  const reads = await of(calls("kv_get", { key: "plan" }));
  expect((await run(client, reads, "x", { session_id: "s" })).tool_calls[0].output).toEqual({
    key: "plan",
    value: { step: 2 },
    version: 1,
  });
  expect((await run(client, reads, "x", { session_id: "t" })).tool_calls[0].output.version).toBe(0);
});

test("a text that cannot be indexed is not reported as remembered", async () => {
  const words = wordEmbedders();
  const of: typeof words.of = (model, dimensions) => ({
    async embed(texts, signal) {
      if (texts.some((text) => text.includes("odd")))
        throw new EmbeddingError("dimensions_mismatch", "They are too long.");
      return words.of(model, dimensions).embed(texts, signal);
    },
  });
  await using server = await start({ embedders: { ...words, of } });
  const client = await server.client();
  const { id: memory_id } = await store(client);
  const write = async (args: Record<string, unknown>) => {
    const policy = { stores: [{ memory_id, access: "read_write", auto_retrieve: false }] };
    return (await run(client, await agent(client, policy, scripted(calls("memory_write", args))), "x")).tool_calls[0];
  };
  expect((await write({ text: "An odd text." })).error).toMatchObject({ code: "dimensions_mismatch" });
  expect((await write({ text: " \n " })).error).toMatchObject({
    code: "validation_failed",
    message: "text: Must have more than spaces.",
  });
  expect((await write({ text: "x", metadata: { "": 1 } })).error.code).toBe("invalid_arguments");
  expect((await write({ text: "x", metadata: { topic: "tea" } })).status).toBe("completed");
  expect((await client.get(`/v1/memory/${memory_id}/entries?status=ready`)).body.data).toHaveLength(1);
});

test("an input without words is not searched, and its model reads no passages", async () => {
  await using server = await start();
  const client = await server.client();
  const { id: memory_id } = await store(client);
  await remember(client, memory_id, reset);
  const made = await agent(client, { stores: [{ memory_id }] });
  const said = { " \n ": 0, "?! …": 2 };
  for (const [input, tokens] of Object.entries(said)) {
    const ended = await run(client, made, input);
    const [retrieval, call] = await steps(client, ended);
    expect(retrieval).toMatchObject({
      status: "completed",
      input: { stores: [] },
      output: { matches: [], failures: [] },
    });
    expect([call.type, ended.status, ended.usage.input_tokens]).toEqual(["model_call", "completed", 1 + tokens]);
  }
});

test("a model has only its agent's permissions on a store, and names the store if there are several", async () => {
  await using server = await start();
  const client = await server.client();
  const stores = [await store(client), await store(client, { name: "Tales" })];
  await remember(client, stores[1].id, "The dragon sleeps on gold.");
  const policy = { stores: stores.map(({ id }) => ({ memory_id: id, auto_retrieve: false })) };
  const writes = await run(client, await agent(client, policy, scripted(calls("memory_write", { text: "x" }))), "x");
  expect(writes.tool_calls[0].error.code).toBe("tool_not_found");
  const searches = async (args: object) =>
    (await run(client, await agent(client, policy, scripted(calls("memory_search", { query: "gold", ...args }))), "x"))
      .tool_calls[0];
  const [match] = (await searches({ store: "Tales" })).output.matches;
  expect(match).toMatchObject({
    text: "The dragon sleeps on gold.",
    source: { store: "Tales", filename: null, page: null },
  });
  expect((await searches({ store: "Manuals" })).output.matches).toEqual([]);
  expect((await searches({})).output.matches).toHaveLength(1);
  expect((await searches({ store: "Secrets" })).error.code).toBe("invalid_arguments");
  expect((await searches({ filter: { a: { $near: 1 } } })).error.code).toBe("validation_failed");
});

test("a run continues without a deleted store, and reports it to its model and in its trace", async () => {
  await using server = await start();
  const client = await server.client();
  const [gone, here] = [await store(client), await store(client, { name: "Tales" })];
  await remember(client, here.id, reset);
  const made = await agent(client, { stores: [{ memory_id: gone.id }, { memory_id: here.id }] });
  await client.delete(`/v1/memory/${gone.id}`);
  const ended = await run(client, made, "Reset the machine?");
  expect(ended.status).toBe("completed");
  const [{ output }] = await steps(client, ended);
  expect(output.failures).toMatchObject([{ memory_id: gone.id, code: "memory_not_found" }]);
  expect(output.matches).toMatchObject([{ memory_id: here.id, text: reset }]);
});

test("passages are checked by the guardrails of tool outputs: removed text is stored nowhere, and a block ends the run", async () => {
  await using server = await start();
  const client = await server.client();
  const { id: memory_id } = await store(client);
  await remember(client, memory_id, "The code of the door is tuna.");
  const guarded = (action: string) =>
    agent(
      client,
      { stores: [{ memory_id }] },
      {
        guardrails: [{ type: "blocked_terms", on: ["tool_output"], action, config: { terms: ["tuna"] } }],
      },
    );
  const redacted = await run(client, await guarded("redact"), "What is the code of the door?");
  expect(redacted.status).toBe("completed");
  const blocked = await run(client, await guarded("block"), "What is the code of the door?");
  expect([blocked.status, blocked.error.code]).toEqual(["failed", "guardrail_blocked"]);
  expect(blocked.usage.model_calls).toBe(0);
  for (const { id } of [redacted, blocked]) expect(JSON.stringify(entriesOf(server, id))).not.toContain("tuna");
});

test("an agent called by another uses the same user's memory", async () => {
  await using server = await start();
  const client = await server.client();
  const { id: memory_id } = await store(client, { scope: "user" });
  await remember(client, memory_id, "Ann likes oolong tea.", { scope_id: "ann" });
  const child = await agent(client, { stores: [{ memory_id }] });
  const tool = made(
    await client.post("/v1/tools", { name: "ask", description: "", type: "agent", agent_id: child.id }),
  );
  const parent = await agent(client, {}, { ...scripted(calls("ask", { input: "Which tea?" })), tools: [tool.id] });
  const ended = await run(client, parent, "x", { user_id: "ann" });
  const { data } = (await client.get(`/v1/runs?parent_run_id=${ended.id}`)).body;
  expect((await steps(client, data[0]))[0].output.matches).toMatchObject([{ text: "Ann likes oolong tea." }]);
  const nobody = await run(client, parent, "x");
  expect(nobody.tool_calls[0].error.code).toBe("validation_failed");
});

test("a judge of tool outputs reads passages before the model does, once, and ends the run on a violation", async () => {
  await using server = await start();
  const client = await server.client();
  const { id: memory_id } = await store(client);
  const judge = {
    type: "llm_judge",
    on: ["tool_output"],
    action: "block",
    config: { prompt: "No forbidden words.", model: "test/judge" },
  };
  const made = await agent(client, { stores: [{ memory_id }] }, { guardrails: [judge] });
  const ask = async () => {
    const ended = await run(client, made, "What is in the cellar?");
    const types = entriesOf(server, ended.id).map(({ event }) => event.type);
    return { ended, judged: types.filter((type) => type === "guardrail.decided").length, types };
  };
  expect(await ask()).toMatchObject({ ended: { status: "completed" }, judged: 0 }); // The search found no passages.
  await remember(client, memory_id, "The cellar has wine.");
  expect(await ask()).toMatchObject({ ended: { status: "completed", usage: { model_calls: 2 } }, judged: 1 });
  await remember(client, memory_id, "The cellar has a forbidden door.");
  const { ended, judged, types } = await ask();
  expect(ended).toMatchObject({ status: "failed", error: { code: "guardrail_blocked" }, usage: { model_calls: 1 } });
  expect([judged, types.includes("memory.retrieved")]).toEqual([1, false]);
  expect(JSON.stringify(entriesOf(server, ended.id))).not.toContain("forbidden door");
});

test("a schedule of an agent with memory per user names a user, or is rejected", async () => {
  await using server = await start();
  const client = await server.client();
  const { id: memory_id } = await store(client, { scope: "user" });
  const { id: agent_id } = await agent(client, { stores: [{ memory_id }] });
  const plan = { name: "Daily", agent_id, input: "Hello", cron: "0 9 * * *", timezone: "Europe/Oslo" };
  const refused = await client.post("/v1/schedules", plan);
  expect([refused.status, refused.body.error.param]).toEqual([400, "user_id"]);
  const { id } = made(await client.post("/v1/schedules", { ...plan, user_id: "ann" }));
  expect((await client.patch(`/v1/schedules/${id}`, { user_id: null })).body.error.param).toBe("user_id");
  await remember(client, memory_id, "Hello is what Ann says.", { scope_id: "ann" });
  const fired = made(await client.post(`/v1/schedules/${id}/trigger`, {}));
  const headers = { accept: "text/event-stream", authorization: `Bearer ${client.key.secret}` };
  await server.send("GET", `/v1/runs/${fired.id}/events`, undefined, headers); // The stream ends with the run.
  expect((await steps(client, fired))[0].output.matches).toMatchObject([{ text: "Hello is what Ann says." }]);
});

test("the cost of reranking a search counts in its run, in the trace and once in the usage of the day", async () => {
  await using server = await start();
  const client = await server.client();
  const { id: memory_id } = await store(client);
  await remember(client, memory_id, reset);
  // The built-in model echoes the question, which is no list of scores; but it was called.
  const rerank = { model: "test/echo", type: "chat" };
  const searches = { stores: [{ memory_id, rerank }] };
  const made = await agent(client, searches, scripted(calls("memory_search", { query: "red button" })));
  expect(made.memory.stores[0].rerank).toEqual({ model: "test/echo", type: "chat", candidates: 20 });
  const ended = await run(client, made, "How is the coffee machine reset?");
  const [retrieval, , search] = await steps(client, ended);
  expect([retrieval.output.matches.length, retrieval.output.reranks[0].error.code]).toEqual([1, "rerank_failed"]);
  expect(search.output.not_reranked[0].code).toBe("rerank_failed");
  for (const { usage } of [retrieval, search]) expect([usage.cost_usd, usage.estimated]).toEqual([0, false]);
  const took = (step: { usage: { input_tokens: number } }) => step.usage.input_tokens;
  expect(took(retrieval)).toBeGreaterThan(50);
  const ofModel = async () =>
    (await client.get("/v1/usage?group_by=model")).body.data.find(
      ({ model }: { model: string }) => model === "test/echo",
    );
  expect(await ofModel()).toMatchObject({ model_calls: 2, input_tokens: took(retrieval) + took(search) });
  expect(ended.usage).toMatchObject({ model_calls: 4, tool_calls: 1 });
  expect(ended.usage.input_tokens).toBeGreaterThan(took(retrieval) + took(search));
  const all = (await client.get("/v1/usage")).body.totals;
  expect([all.model_calls, all.input_tokens]).toEqual([4, ended.usage.input_tokens]);

  const bounded = await run(client, made, "How?", { budget: { max_total_tokens: 2000 } });
  const [short] = await steps(client, bounded);
  expect(short.output.reranks[0].error).toMatchObject({ code: "budget_exceeded" });
  expect([short.usage, (await ofModel()).model_calls]).toEqual([null, 2]);
  // Outside of a run, usage counts under no agent.
  const { body: found } = await client.post(`/v1/memory/${memory_id}/search`, { query: "red button", rerank });
  expect([found.reranked, found.rerank_error.code, (await ofModel()).model_calls]).toEqual([false, "rerank_failed", 3]);
});
