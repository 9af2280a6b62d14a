import { expect, test } from "bun:test";
import { createAgent, createScripted, stubConnection } from "./fixtures.ts";
import { type Json, type Runnel, startRunnel } from "./harness.ts";
import { type ModelServer, startModelServer } from "./model-server.ts";

// Conversations over several runs, on the executable.

const endless = [{ delay_ms: 600_000 }];

const newThread = async (server: Runnel, body: object = {}): Promise<string> =>
  (await server.post("/v1/threads", body)).body.id;
const say = async (server: Runnel, agent_id: string, thread_id: string, input: string): Promise<Json> =>
  (await server.post("/v1/runs?wait=60", { agent_id, thread_id, input })).body;
const runOf = async (server: Runnel, id: string): Promise<Json> => (await server.get(`/v1/runs/${id}`)).body;
/** Returns the messages of the last prompt, without the instructions. */
const lastPrompt = (model: ModelServer) =>
  model.requests
    .at(-1)!
    .messages.filter(({ role }) => role !== "system")
    .map(({ role, content }) => [role, content]);

async function ended(server: Runnel, id: string): Promise<Json> {
  for (;;) {
    const run = await runOf(server, id);
    if (!["queued", "in_progress"].includes(run.status)) return run;
    await Bun.sleep(10);
  }
}

test("a prompt contains the thread's earlier runs, also after kill -9", async () => {
  await using model = startModelServer();
  await using server = await startRunnel({ environment: stubConnection(model.url) });
  const agent_id = await createAgent(server, "words-3-0");
  const thread_id = await newThread(server, { user_id: "ada" });
  const first = await say(server, agent_id, thread_id, "My name is Ada.");
  expect(first).toMatchObject({ status: "completed", user_id: "ada", thread_id });
  expect(lastPrompt(model)).toEqual([["user", "My name is Ada."]]);
  await say(server, agent_id, thread_id, "I live in Oslo.");
  await server.kill9();
  await server.restart();
  await say(server, agent_id, thread_id, "Who am I?");
  expect(lastPrompt(model)).toEqual([
    ["user", "My name is Ada."],
    ["assistant", first.output],
    ["user", "I live in Oslo."],
    ["assistant", first.output],
    ["user", "Who am I?"],
  ]);
  const { body: messages } = await server.get(`/v1/threads/${thread_id}/messages?order=asc`);
  expect(messages.data.map(({ role }: Json) => role)).toEqual(Array(3).fill(["user", "assistant"]).flat());
  // Another thread has none of it.
  await say(server, agent_id, await newThread(server), "Who am I?");
  expect(lastPrompt(model)).toEqual([["user", "Who am I?"]]);
});

test("an agent that reads no thread reads its input alone", async () => {
  await using model = startModelServer();
  await using server = await startRunnel({ environment: stubConnection(model.url) });
  for (const memory of [null, { history: { mode: "none" } }]) {
    const agent_id = await createAgent(server, "words-3-0", { memory });
    const thread_id = await newThread(server);
    await say(server, agent_id, thread_id, "My name is Ada.");
    await say(server, agent_id, thread_id, "Who am I?");
    expect(lastPrompt(model)).toEqual([["user", "Who am I?"]]);
  }
});

test("a busy thread refuses a run, queues it, or is given to it, as the run says", async () => {
  await using server = await startRunnel();
  const thread_id = await newThread(server);
  const agent_id = await createScripted(server, endless);
  const create = (body: object = {}) => server.post("/v1/runs", { agent_id, thread_id, input: "Go.", ...body });
  const all = await Promise.all(Array.from({ length: 10 }, () => create()));
  const [won] = all.filter(({ status }) => status === 201);
  const refused = all.filter(({ status }) => status === 409);
  expect(refused).toHaveLength(9);
  for (const { body } of refused)
    expect(body.error).toMatchObject({ code: "thread_busy", details: { run_id: won!.body.id } });
  const waiting = [await create({ if_thread_busy: "queue" }), await create({ if_thread_busy: "queue" })];
  expect(waiting.map(({ body }) => [body.status, body.queue_position])).toEqual([
    ["queued", 1],
    ["queued", 2],
  ]);
  const { body: last } = await create({ if_thread_busy: "cancel_previous" });
  expect(last.status).toBe("in_progress");
  for (const { body } of [won!, ...waiting]) expect((await runOf(server, body.id)).status).toBe("cancelled");
  expect((await server.get(`/v1/threads/${thread_id}`)).body).toMatchObject({ status: "busy", last_run_id: last.id });
});

test("runs that wait for their thread begin in their order, also when the process dies twice meanwhile", async () => {
  await using server = await startRunnel();
  const thread_id = await newThread(server);
  const first = await createScripted(server, endless);
  const agent_id = await createScripted(server, [{ text: "Done.", delay_ms: 50 }]);
  const create = async (agent: string) =>
    (await server.post("/v1/runs", { agent_id: agent, thread_id, input: "Go.", if_thread_busy: "queue" })).body.id;
  const active = await create(first);
  const waiting = [await create(agent_id), await create(agent_id), await create(agent_id)];
  await server.kill9();
  await server.restart();
  expect((await runOf(server, active)).status).toBe("in_progress");
  expect((await runOf(server, waiting[2]!)).queue_position).toBe(3);
  await server.post(`/v1/runs/${active}/cancel`);
  await server.kill9();
  await server.restart();
  const runs = [];
  for (const id of waiting) runs.push(await ended(server, id));
  expect(runs.map(({ status }) => status)).toEqual(["completed", "completed", "completed"]);
  for (const [index, run] of runs.slice(1).entries())
    expect(Date.parse(run.started_at)).toBeGreaterThanOrEqual(Date.parse(runs[index]!.completed_at));
  const { body } = await server.get(`/v1/threads/${thread_id}/messages?order=asc`);
  expect([...new Set(body.data.map(({ run_id }: Json) => run_id))]).toEqual([active, ...waiting]);
});
