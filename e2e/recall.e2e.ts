import { expect, test } from "bun:test";
import { docxOf, pdfOf } from "../server/testing/documents.ts";
import { createAgent, createScripted, runToEnd, stubConnection } from "./fixtures.ts";
import { type Json, type Runnel, startRunnel } from "./harness.ts";
import { startModelServer } from "./model-server.ts";

// Memory of agents, on the executable: its own embedding, parsers and search.

const manual = pdfOf([
  "# Espresso machine Lago 3\nThank you for choosing this machine. Read all of this before the first use.",
  "# Descaling\nRemove lime from the boiler every three months. Fill the tank with citric acid and start the cleaning programme.",
  "# Warranty\nThe manufacturer repairs defects free of charge for two years after the day of purchase.",
]);
const handbook = docxOf([
  { heading: "Working hours", text: "The office opens at eight in the morning and closes at six in the evening." },
  { heading: "Holidays", text: "Every employee may take thirty days of paid vacation in a year." },
]);

async function createStore(server: Runnel, more: object = {}): Promise<string> {
  const { status, body } = await server.post("/v1/memory", { name: "Manuals", kind: "vector", ...more });
  expect([status, body.error ?? null]).toEqual([201, null]);
  return body.id;
}

/** Uploads a document into a store and returns its id once a search finds it. */
async function upload(
  server: Runnel,
  memory_id: string,
  name: string,
  bytes: Uint8Array<ArrayBuffer>,
): Promise<string> {
  const form = new FormData();
  form.append("file", new File([bytes], name));
  form.append("purpose", "retrieval");
  form.append("memory_id", memory_id);
  const { id } = (await (await server.fetch("/v1/files", { method: "POST", body: form })).json()) as Json;
  for (;;) {
    const { body } = await server.get(`/v1/files/${id}`);
    if (body.status === "ready") return id;
    expect([body.status, body.error]).toEqual([body.status === "uploaded" ? "uploaded" : "processing", null]);
    await Bun.sleep(50);
  }
}

const retrievalOf = async (server: Runnel, run: string): Promise<Json> =>
  (await server.get(`/v1/traces/${run}`)).body.steps.find(({ type }: Json) => type === "retrieval");

test("questions in other words find the page of the manual and the section of the handbook, in the prompt and in the trace", async () => {
  await using model = startModelServer();
  await using server = await startRunnel({ environment: stubConnection(model.url) });
  const memory_id = await createStore(server);
  const pdf = await upload(server, memory_id, "manual.pdf", manual);
  const docx = await upload(server, memory_id, "handbook.docx", handbook);
  const agent = await createAgent(server, "words-3-0", { memory: { stores: [{ memory_id, top_k: 2 }] } });
  const questions: [input: string, source: object, text: string][] = [
    ["How do I get rid of limescale?", { file_id: pdf, filename: "manual.pdf", page: 2 }, "citric acid"],
    ["Do I have to pay if it breaks in the first year?", { file_id: pdf, page: 3 }, "two years"],
    [
      "How much leave can staff have?",
      { file_id: docx, filename: "handbook.docx", heading: "Holidays" },
      "thirty days",
    ],
  ];
  for (const [input, source, text] of questions) {
    const run = await runToEnd(server, agent, { input });
    expect(run.status).toBe("completed");
    const { output } = await retrievalOf(server, run.id);
    expect(output.failures).toEqual([]);
    expect(output.matches[0]).toMatchObject({ ...source, memory_id, text: expect.stringContaining(text) });
    const { messages } = model.requests.at(-1)!;
    expect(messages.map(({ role }: Json) => role)).toEqual(["system", "user", "user"]);
    expect(JSON.stringify(messages[1])).toContain(text);
    expect(JSON.stringify(messages[2])).toContain(input);
  }
});

test("a fact remembered for one user is found by that user's next run, and by no other user's", async () => {
  await using server = await startRunnel();
  const memory_id = await createStore(server, { name: "Facts", scope: "user" });
  const text = "Ann is allergic to peanuts.";
  const script = [{ tool_calls: [{ name: "memory_write", arguments: { text } }] }, { text: "I remember." }];
  const writes = await createScripted(server, script, { memory: { stores: [{ memory_id, access: "read_write" }] } });
  const [call] = (await runToEnd(server, writes, { input: "I cannot eat peanuts.", user_id: "ann" })).tool_calls;
  expect(call).toMatchObject({ status: "completed", output: { entry_id: expect.stringMatching(/^ment_/) } });
  const reads = await createAgent(server, "test/echo", { memory: { stores: [{ memory_id }] } });
  const found = async (user_id: string) => {
    const run = await runToEnd(server, reads, { input: "Which nuts are dangerous for me?", user_id });
    return (await retrievalOf(server, run.id)).output.matches.map((match: Json) => match.text);
  };
  expect(await found("ann")).toEqual([text]);
  expect(await found("bob")).toEqual([]);
});

test("a scratchpad written by one run is read by the next", async () => {
  await using server = await startRunnel();
  const memory_id = await createStore(server, { name: "Scratchpad", kind: "kv" });
  const of = (name: string, args: object) =>
    createScripted(server, [{ tool_calls: [{ name, arguments: args }] }, { text: "Done." }], {
      memory: { stores: [{ memory_id, access: "read_write" }] },
    });
  const value = { open: ["invoice 7"], seen: 3 };
  await runToEnd(server, await of("kv_set", { key: "work", value }));
  const { tool_calls } = await runToEnd(server, await of("kv_get", { key: "work" }));
  expect(tool_calls[0].output).toEqual({ key: "work", value, version: 1 });
});

/** Starts a run whose server dies at its failpoint, perhaps before its response: the client then retries. */
async function createAcrossDeath(server: Runnel, run: object): Promise<string> {
  const create = async () =>
    server.fetch("/v1/runs", {
      method: "POST",
      headers: { "idempotency-key": "across the death" },
      body: JSON.stringify(run),
    });
  const first = create().catch(() => null);
  await server.died();
  await first;
  await server.restart({});
  const response = await create();
  expect(response.headers.get("idempotent-replayed")).toBe("true");
  return ((await response.json()) as { id: string }).id;
}

test.each(["before_effect.retrieval", "after_effect.retrieval"])(
  "a run whose process dies at %s searches again and continues with the new result",
  async (point) => {
    await using server = await startRunnel();
    const memory_id = await createStore(server);
    await server.post(`/v1/memory/${memory_id}/entries`, { text: "The red button resets the machine." });
    const agent = await createAgent(server, "test/echo", { memory: { stores: [{ memory_id }] } });
    await server.stop();
    await server.restart({ RUNNEL_FAILPOINT: point });
    const id = await createAcrossDeath(server, { agent_id: agent, input: "How do I reset it?" });
    await using stream = await server.stream(`/v1/runs/${id}/events`);
    await stream.rest();
    const { body: run } = await server.get(`/v1/runs/${id}`);
    expect(run).toMatchObject({ status: "completed", attempt: 2 });
    const step = await retrievalOf(server, run.id);
    expect(step).toMatchObject({
      status: "completed",
      attempt: 2,
      retries: [{ reason: { code: "process_restarted" } }],
    });
    expect(step.output.matches).toMatchObject([{ text: "The red button resets the machine." }]);
  },
);

test.each([
  "before_effect.tool_call:2",
  "after_effect.tool_call:2",
  "before_result.tool_call:2",
  "after_effect.tool_call",
])("a note of a run is stored once when its process dies at %s", async (point) => {
  await using server = await startRunnel();
  const facts = await createStore(server, { name: "Facts" });
  const notes = await createStore(server, { name: "Notes", kind: "kv" });
  const text = "Ann is allergic to peanuts.";
  const script = [
    { tool_calls: [{ name: "memory_write", arguments: { text } }] },
    { tool_calls: [{ name: "kv_set", arguments: { key: "seen", value: [1] } }] },
    { text: "Noted." },
  ];
  const stores = [facts, notes].map((memory_id) => ({ memory_id, access: "read_write" }));
  const agent_id = await createScripted(server, script, { memory: { stores } });
  await server.stop();
  await server.restart({ RUNNEL_FAILPOINT: point });
  const id = await createAcrossDeath(server, { agent_id, input: "I cannot eat peanuts." });
  await using stream = await server.stream(`/v1/runs/${id}/events`);
  await stream.rest();
  const { body: run } = await server.get(`/v1/runs/${id}`);
  expect(run).toMatchObject({ status: "completed", attempt: 2, output: "Noted." });
  expect(run.tool_calls.map(({ status }: Json) => status)).toEqual(["completed", "completed"]);
  const { data: entries } = (await server.get(`/v1/memory/${facts}/entries`)).body;
  expect(entries).toMatchObject([{ id: run.tool_calls[0].output.entry_id, text, status: "ready" }]);
  expect((await server.get(`/v1/memory/${notes}/keys/seen`)).body.value).toEqual([1]);
  const { data: found } = (await server.post(`/v1/memory/${facts}/search`, { query: "peanuts" })).body;
  expect(found).toHaveLength(1);
});

test("the first message of a script is written in every run of a thread", async () => {
  await using server = await startRunnel();
  const history = { memory: { history: { mode: "thread" } } };
  const agent_id = await createScripted(server, [{ text: "First and only." }], history);
  const { body: thread } = await server.post("/v1/threads", {});
  for (const input of ["One", "Two", "Three"])
    expect(await runToEnd(server, agent_id, { input, thread_id: thread.id })).toMatchObject({
      status: "completed",
      output: "First and only.",
    });
});

test("a run whose server is stopped during an embedding call continues at the next start", async () => {
  const asked = Promise.withResolvers<void>();
  let isSilent = true;
  await using embedding = startEmbeddingServer(async ({ input }) => {
    if (!isSilent || !input.includes("How do I reset it?")) return;
    asked.resolve();
    await new Promise(() => {});
  });
  await using server = await startRunnel({ environment: stubConnection(embedding.url) });
  const memory_id = await createStore(server, { embedding: { model: "openai_compatible/stub/tiny", dimensions: 4 } });
  await server.post(`/v1/memory/${memory_id}/entries`, { text: "The red button resets the machine." });
  const agent_id = await createAgent(server, "test/echo", { memory: { stores: [{ memory_id }] } });
  const { body } = await server.post("/v1/runs", { agent_id, input: "How do I reset it?" });
  await asked.promise;
  await server.stop();
  isSilent = false;
  await server.restart(stubConnection(embedding.url));
  await using stream = await server.stream(`/v1/runs/${body.id}/events`);
  await stream.rest();
  expect((await server.get(`/v1/runs/${body.id}`)).body).toMatchObject({ status: "completed", attempt: 2 });
  const { output } = await retrievalOf(server, body.id);
  expect(output).toMatchObject({ matches: [{ text: "The red button resets the machine." }], failures: [] });
});

/**
 * Starts an OpenAI-compatible embedding model on loopback that returns one vector for every text, after `before`
 * resolves.
 */
function startEmbeddingServer(before: (body: { input: string[] }) => Promise<void>) {
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    idleTimeout: 0,
    async fetch(request) {
      const body = (await request.json()) as { input: string[] };
      await before(body);
      const data = body.input.map((_, index) => ({ object: "embedding", index, embedding: [1, 0, 0, 0] }));
      return Response.json({ object: "list", data, model: "tiny", usage: { prompt_tokens: 1, total_tokens: 1 } });
    },
  });
  return {
    url: `http://127.0.0.1:${server.port}/v1`,
    async [Symbol.asyncDispose]() {
      await server.stop(true);
    },
  };
}
