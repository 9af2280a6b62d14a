import { afterAll, expect, test } from "bun:test";
import type { JournalEntry } from "../domain/run-event.ts";
import { Journal } from "../storage/journal/journal.ts";
import { startChatServer } from "../testing/model-server.ts";
import { type Client, testApp } from "../testing/test-app.ts";
import { createRunProjection } from "./run-projection.ts";

// Files in prompts, over HTTP, with a model that reports its prompt.

const model = startChatServer(({ messages }) => {
  const isFirst = messages[0]!.content === "Look first." && !messages.some(({ role }) => role === "tool");
  return { ...(isFirst ? { calls: ["look"] } : { text: "Seen." }), prompt_tokens: 10, completion_tokens: 1 };
});
afterAll(() => model[Symbol.asyncDispose]());
const png = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const word = "swordfish";

async function begin() {
  const server = testApp({ environment: model.environment });
  await server.recover();
  const client = await server.client();
  const entriesOf = (id: string): JournalEntry[] =>
    new Journal({ db: server.db, project: createRunProjection(server.db.sqlite), wake() {}, now: Date.now }).read(id);
  return { server, client, entriesOf };
}

const made = async (client: Client, path: string, body: object) => {
  const { status, body: answer } = await client.post(path, body);
  expect([status, answer.error ?? null]).toEqual([201, null]);
  return answer;
};
const agent = (client: Client, more: object = {}) =>
  made(client, "/v1/agents", { name: "A", instructions: "I.", model: "openai_compatible/stub/gpt", ...more });
const upload = (client: Client, filename: string, more: object) =>
  made(client, "/v1/files", { filename, purpose: "attachment", ...more });
const run = async (client: Client, agent_id: string, more: object) => {
  const { status, body } = await client.post("/v1/runs?wait=60", { agent_id, input: "What is it?", ...more });
  expect(status).toBe(201);
  return body;
};
const guardrail = (action: string, more: object = { type: "blocked_terms", config: { terms: [word] } }) => ({
  guardrails: [{ on: ["input"], action, ...more }],
});

test("input guardrails check texts and names of files: removed text is stored nowhere, and a block ends the run", async () => {
  const { server, client, entriesOf } = await begin();
  await using _ = server;
  const inText = await upload(client, "a.md", { text: `The word is ${word}.` });
  const inName = await upload(client, `${word}.md`, { text: "Nothing here." });
  for (const { id } of [inText, inName]) {
    const redacted = await run(client, (await agent(client, guardrail("redact"))).id, { file_ids: [id] });
    expect(redacted.status).toBe("completed");
    const sent = JSON.stringify(model.requests.at(-1));
    expect([sent.includes("[removed]"), sent.includes(word)]).toEqual([true, false]);
    const asked = model.requests.length;
    const blocked = await run(client, (await agent(client, guardrail("block"))).id, { file_ids: [id] });
    expect(blocked).toMatchObject({
      status: "failed",
      error: { code: "guardrail_blocked", guardrail: { on: "input" } },
      usage: { model_calls: 0 },
    });
    expect(model.requests).toHaveLength(asked);
    for (const ended of [redacted, blocked]) expect(JSON.stringify(entriesOf(ended.id))).not.toContain(word);
  }
});

test("an input judge reads a file before the model does", async () => {
  const { server, client, entriesOf } = await begin();
  await using _ = server;
  const judge = { type: "llm_judge", config: { prompt: "No forbidden words.", model: "test/judge" } };
  const { id } = await agent(client, { ...guardrail("block", judge), model: "test/echo" });
  const good = await upload(client, "good.md", { text: "All is well." });
  const bad = await upload(client, "bad.md", { text: "This is forbidden." });
  expect((await run(client, id, { file_ids: [good.id] })).status).toBe("completed");
  const ended = await run(client, id, { file_ids: [good.id, bad.id] });
  expect(ended).toMatchObject({ status: "failed", error: { code: "guardrail_blocked" } });
  const types = entriesOf(ended.id).map(({ event }) => event.type);
  expect(types).toEqual(["run.created", ...Array(3).fill("guardrail.decided"), "run.failed"]);
});

test("a judge's usage for one file counts before the next file is judged", async () => {
  const { server, client } = await begin();
  await using _ = server;
  const judge = { type: "llm_judge", config: { prompt: "No forbidden words.", model: "test/judge" } };
  const { id } = await agent(client, { ...guardrail("block", judge), model: "test/echo" });
  // 3,000 words, estimated as 9,000 tokens before they are counted.
  const text = "water ".repeat(3000);
  const files = [await upload(client, "one.md", { text }), await upload(client, "two.md", { text: `${text}.` })];
  const file_ids = files.map((file) => file.id);
  const ended = await run(client, id, { file_ids, budget: { max_total_tokens: 11_000 } });
  expect(ended).toMatchObject({ status: "failed", error: { message: expect.stringContaining("max_total_tokens") } });
  expect(ended.usage.model_calls).toBe(2); // One for the input, one for the first file.
});

test("a budget counts an image before it is sent", async () => {
  const { server, client } = await begin();
  await using _ = server;
  const image = await upload(client, "dot.png", { content_base64: png });
  const { id } = await agent(client);
  const of = (max_total_tokens: number) => run(client, id, { file_ids: [image.id], budget: { max_total_tokens } });
  expect(await of(4000)).toMatchObject({ status: "failed", error: { code: "budget_exceeded" } });
  expect((await of(20_000)).status).toBe("completed");
});

test("an image deleted while its run waits is not sent again, and its model is told", async () => {
  const { server, client } = await begin();
  await using _ = server;
  const image = await upload(client, "dot.png", { content_base64: png });
  const tool = await made(client, "/v1/tools", { name: "look", description: "", parameters: { type: "object" } });
  const { id } = await agent(client, { instructions: "Look first.", tools: [tool.id] });
  const waiting = await run(client, id, { file_ids: [image.id] });
  expect(JSON.stringify(model.requests.at(-1))).toContain(png);
  const [call] = waiting.required_action.submit_tool_outputs.tool_calls;
  expect((await client.delete(`/v1/files/${image.id}`)).status).toBe(200);
  await client.post(`/v1/runs/${waiting.id}/submit_tool_outputs`, {
    tool_outputs: [{ tool_call_id: call.tool_call_id, output: 1 }],
    stream: true,
  });
  expect((await client.get(`/v1/runs/${waiting.id}`)).body.status).toBe("completed");
  const last = JSON.stringify(model.requests.at(-1));
  expect(last).not.toContain(png);
  expect(last).toContain(`[The image ${image.id} was deleted meanwhile]`);
});

test("file contents are no part of the thread: later runs read only the messages", async () => {
  const { server, client } = await begin();
  await using _ = server;
  const note = await upload(client, "note.md", { text: `The word is ${word}.` });
  const image = await upload(client, "dot.png", { content_base64: png });
  const { id: thread_id } = await made(client, "/v1/threads", {});
  const { id } = await agent(client, { memory: { history: { mode: "thread" } } });
  await run(client, id, { thread_id, file_ids: [note.id, image.id] });
  expect(JSON.stringify(model.requests.at(-1))).toContain(word);
  await run(client, id, { thread_id, input: "And now?" });
  expect(model.requests.at(-1)!.messages.map(({ role, content }) => [role, content])).toEqual([
    ["system", "I."],
    ["user", "What is it?"],
    ["assistant", "Seen."],
    ["user", "And now?"],
  ]);
});
