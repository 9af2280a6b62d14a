import { afterAll, expect, test } from "bun:test";
import type { Answer } from "../testing/expect-declared.ts";
import { startChatServer } from "../testing/model-server.ts";
import { type Client, testApp } from "../testing/test-app.ts";

// A fork keeps its run's thread history, files and memory, and its copied entries reach no thread or webhook.

type Body = Answer["body"];

const model = startChatServer(({ messages }) => ({
  ...(messages.at(-1)?.role === "tool" ? { text: "Seen." } : { calls: ["look"] }),
  prompt_tokens: 10,
  completion_tokens: 1,
}));
let looked = 0;
const tools = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: () => Response.json({ looked: ++looked }) });
afterAll(async () => {
  await tools.stop(true);
  await model[Symbol.asyncDispose]();
});
const png = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

const made = async (client: Client, path: string, body: object): Promise<Body> => {
  const answer = await client.post(path, body);
  expect([answer.status, answer.status === 201 ? null : answer.body.error]).toEqual([201, null]);
  return answer.body;
};

/** A run in a thread with earlier messages, with a document, an image, and a passage from its memory. */
async function informed(more: object = {}) {
  const server = testApp({ environment: model.environment });
  await server.recover();
  const client = await server.client();
  const memory = await made(client, "/v1/memory", { name: "Manuals", kind: "vector" });
  await made(client, `/v1/memory/${memory.id}/entries`, { text: "To reset the machine hold the red button." });
  const file = await made(client, "/v1/files", { filename: "a.md", purpose: "attachment", text: "It is a Lago." });
  const image = await made(client, "/v1/files", { filename: "a.png", purpose: "attachment", content_base64: png });
  const thread = await made(client, "/v1/threads", {});
  const tool = await made(client, "/v1/tools", { name: "look", url: tools.url.href });
  const agent = await made(client, "/v1/agents", {
    name: "A",
    instructions: "Help.",
    model: "openai_compatible/stub/gpt-4o",
    tools: [tool.id],
    memory: { stores: [{ memory_id: memory.id }], history: { mode: "thread" } },
    ...more,
  });
  const ask = (input: string, file_ids: string[] = []) =>
    made(client, "/v1/runs?wait=60", { agent_id: agent.id, input, thread_id: thread.id, file_ids });
  await ask("Good day.");
  const run = await ask("How do I reset the machine?", [file.id, image.id]);
  expect(run).toMatchObject({ status: "completed", output: "Seen." });
  return { server, client, run, thread, memory, file, image, agent };
}

const fork = (client: Client, { id }: Body, body: object) => made(client, `/v1/runs/${id}/fork?wait=60`, body);
const stepsOf = async (client: Client, { id }: Body): Promise<Body[]> =>
  (await client.get(`/v1/traces/${id}`)).body.steps;

test("a fork's prompt has everything the run had before it: history, documents, images and passages", async () => {
  const { server, client, run, thread, memory, file } = await informed();
  await using _ = server;
  const asked = model.requests.at(-1)!;
  for (const part of ["Good day.", "It is a Lago.", "image_url", "red button"])
    expect(JSON.stringify(asked)).toContain(part);
  const [, , , last] = await stepsOf(client, run);
  for (const path of [`threads/${thread.id}`, `memory/${memory.id}`, `files/${file.id}`])
    expect((await client.delete(`/v1/${path}`)).status).toBe(200);
  const count = looked;
  const own = await fork(client, run, { step_index: 2 });
  expect(own).toMatchObject({ status: "completed", thread_id: null });
  expect(model.requests.at(-1)!.messages).toEqual(asked.messages);
  expect((await stepsOf(client, own)).at(-1).input_hash).toBe(last.input_hash);
  expect(looked).toBe(count);
});

test("a fork from the start has the thread's history, and searches the memory again", async () => {
  const { server, client, run, memory } = await informed();
  await using _ = server;
  await made(client, `/v1/memory/${memory.id}/entries`, { text: "To clean the machine fill the tank with acid." });
  const own = await fork(client, run, { step_index: -1, edits: { input: "How do I clean the machine?" } });
  expect(own).toMatchObject({ status: "completed", input: "How do I clean the machine?" });
  const asked = JSON.stringify(model.requests.at(-1));
  for (const part of ["Good day.", "It is a Lago.", "image_url", "with acid"]) expect(asked).toContain(part);
  expect((await stepsOf(client, own))[0]).toMatchObject({ type: "retrieval", replayed: false });
});

test("a fork from the start checks its documents with the agent's current guardrails", async () => {
  const { server, client, run, agent } = await informed();
  await using _ = server;
  const guardrails = [{ type: "blocked_terms", on: ["input"], action: "redact", config: { terms: ["Lago"] } }];
  expect((await client.patch(`/v1/agents/${agent.id}`, { guardrails })).status).toBe(200);
  const own = await fork(client, run, { step_index: -1, agent: "current" });
  expect(own.status).toBe("completed");
  const asked = JSON.stringify(model.requests.at(-1));
  expect([asked.includes("[removed]"), asked.includes("Lago")]).toEqual([true, false]);
});

test("a fork does not change its run's thread, wait for it or appear in it", async () => {
  const { server, client, run, thread } = await informed();
  await using _ = server;
  const before = (await client.get(`/v1/threads/${thread.id}`)).body;
  const said = (await client.get(`/v1/threads/${thread.id}/messages`)).body.data;
  const own = await fork(client, run, { step_index: -1 });
  expect(own.status).toBe("completed");
  const { request_id: _id, ...after } = (await client.get(`/v1/threads/${thread.id}`)).body;
  expect(before).toMatchObject(after);
  expect((await client.get(`/v1/threads/${thread.id}/messages`)).body.data).toEqual(said);
});

test("forks and replays of each other all have the record that they start from", async () => {
  const { server, client, run } = await informed();
  await using _ = server;
  const count = looked;
  const replay = await made(client, `/v1/runs/${run.id}/replay`, {});
  const first = await fork(client, replay, { step_index: 2, edits: { tool_output: "edited" } });
  const again = await made(client, `/v1/runs/${first.id}/replay`, { mode: "verify" });
  const second = await fork(client, again, { step_index: 3 });
  for (const one of [first, again, second]) {
    expect(one).toMatchObject({ status: "completed", output: "Seen." });
    expect(one.tool_calls[0].output).toBe("edited");
  }
  expect(again.replay.divergences).toEqual([]);
  expect((await made(client, `/v1/runs/${second.id}/replay`, {})).replay.divergences).toEqual([]);
  expect(second.forked_from).toEqual({ run_id: again.id, step_index: 3 });
  expect(looked).toBe(count);
});

test("webhooks receive a fork's own events, and none of its record", async () => {
  const { server, client, run } = await informed();
  await using _ = server;
  await made(client, "/v1/webhooks", { url: "https://[2001:4860:4860::8888]/", events: ["*"] });
  const own = await fork(client, run, { step_index: 2 });
  const heard = server.db.sqlite
    .query<{ type: string }, [string]>("SELECT type FROM webhook_deliveries WHERE run_id = ? ORDER BY type")
    .all(own.id);
  expect(heard.map(({ type }) => type)).toEqual(["run.completed"]); // No `tool.requested`.
});

test("the cost of the record counts neither for a fork's budget nor for its usage", async () => {
  const { server, client, run } = await informed();
  await using _ = server;
  const budget = { max_tool_calls: 1, max_total_tokens: 6_000 };
  const own = await fork(client, run, { step_index: 2, budget });
  expect(own).toMatchObject({ status: "completed", usage: { model_calls: 1, tool_calls: 0, input_tokens: 10 } });
  const poor = await fork(client, run, { step_index: 2, budget: { max_total_tokens: 1 } });
  expect(poor).toMatchObject({ status: "failed", error: { code: "budget_exceeded" }, usage: { model_calls: 0 } });
});
