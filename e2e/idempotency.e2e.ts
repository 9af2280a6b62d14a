import { expect, test } from "bun:test";
import { type EventStream, type Frame, openStream, seqsOf, textsOf } from "./event-stream.ts";
import { createAgent, createTool, stubConnection } from "./fixtures.ts";
import { type Json, type ParsedResponse, parseResponse, type Runnel, startRunnel } from "./harness.ts";
import { type ModelServer, startModelServer, wordsOf } from "./model-server.ts";
import { waitUntil } from "./until.ts";

// Guarantees for a client that repeats a request without a response, on the executable.

const postWithKey = (server: Runnel, path: string, body: unknown, key = "k", signal?: AbortSignal): Promise<Response> =>
  server.fetch(path, {
    method: "POST",
    body: JSON.stringify(body),
    headers: { "idempotency-key": key },
    ...(signal && { signal }),
  });
const post = async (server: Runnel, path: string, body: unknown, key?: string): Promise<ParsedResponse> =>
  parseResponse(await postWithKey(server, path, body, key));
const stream = (server: Runnel, path: string, body: unknown): Promise<EventStream> =>
  openStream((signal) => postWithKey(server, path, body, "k", signal));

const isReplay = ({ headers }: { headers: Headers }): boolean => headers.get("idempotent-replayed") === "true";
const bare = ({ body: { request_id, ...body } }: ParsedResponse): Json => body;
const runsOf = async (server: Runnel): Promise<Json[]> => (await server.get("/v1/runs")).body.data;

/** Expects this number of model requests, all with the same conversation. */
function expectOneConversation(model: ModelServer, asked: number): void {
  expect(model.requests).toHaveLength(asked);
  expect(new Set(model.requests.map(({ messages }) => JSON.stringify(messages))).size).toBe(1);
}

/** Waits until the model is called and the run is durable: the call starts during the commit. */
async function waitForModelCall(model: ModelServer, server: Runnel): Promise<void> {
  await waitUntil(async () => model.requests.length === 1 && (await runsOf(server)).length === 1);
}

test("a run whose creation was never answered is there after kill -9, and the same request finds it", async () => {
  await using model = startModelServer();
  await using server = await startRunnel({ environment: stubConnection(model.url) });
  const agent_id = await createAgent(server, "half-20-10");
  const body = { agent_id, input: "Once.", metadata: { order: "7" } };
  const unread = postWithKey(server, "/v1/runs", body).catch(() => null);
  await waitForModelCall(model, server); // The response to its creation is not read.
  await server.kill9();
  await unread;
  model.release();
  await server.restart();

  const again = await post(server, "/v1/runs", body);
  expect([again.status, isReplay(again)]).toEqual([201, true]);
  // As it was at its creation, not as it is since the restart.
  expect(again.body).toMatchObject({ status: "in_progress", attempt: 1, output: null, metadata: { order: "7" } });
  expect(again.headers.get("location")).toBe(`/v1/runs/${again.body.id}`);
  await using rest = await server.stream(`/v1/runs/${again.body.id}/events`);
  await rest.rest();
  expect(bare(await post(server, "/v1/runs", body))).toEqual(bare(again));
  expect(await runsOf(server)).toMatchObject([{ id: again.body.id, status: "completed", output: wordsOf(20) }]);
  expectOneConversation(model, 2);
});

test.each([
  ["before_run.created", false, [1]],
  // The model may be called during the commit, so once by the process that dies.
  ["after_run.created", true, [1, 2]],
])(
  "a run and its key are one transaction: a process that dies %s stored both or neither",
  async (point, there, asked) => {
    await using model = startModelServer();
    const environment = stubConnection(model.url);
    await using server = await startRunnel({ environment: { ...environment, RUNNEL_FAILPOINT: point } });
    const body = { agent_id: await createAgent(server, "words-3-1"), input: "Once." };
    expect(await post(server, "/v1/runs", body).catch(() => null)).toBeNull();
    expect(await server.died()).toBe("SIGKILL");
    await server.restart(environment);
    const found = await runsOf(server);
    expect(found).toHaveLength(there ? 1 : 0);
    const again = await post(server, "/v1/runs", body);
    expect([again.status, isReplay(again)]).toEqual([201, there]);
    const runs = await runsOf(server);
    expect(runs.map(({ id }) => id)).toEqual([again.body.id]);
    await using rest = await server.stream(`/v1/runs/${again.body.id}/events`);
    await rest.rest();
    expect(asked).toContain(model.requests.length);
    expectOneConversation(model, model.requests.length);
  },
);

test("a wait cut by kill -9 is resumed by the same request, and its response stays", async () => {
  await using model = startModelServer();
  await using server = await startRunnel({ environment: stubConnection(model.url) });
  const body = { agent_id: await createAgent(server, "half-20-10"), input: "Once." };
  const cut = post(server, "/v1/runs?wait=60", body).catch(() => null);
  await waitForModelCall(model, server);
  await server.kill9();
  expect(await cut).toBeNull();
  model.release();
  await server.restart();

  const settled = await post(server, "/v1/runs?wait=60", body);
  expect([settled.status, isReplay(settled)]).toEqual([201, true]);
  expect(settled.body).toMatchObject({ status: "completed", output: wordsOf(20), attempt: 2 });
  expect(bare(await post(server, "/v1/runs?wait=60", body))).toEqual(bare(settled));
  expect(await runsOf(server)).toHaveLength(1);
  expectOneConversation(model, 2);
});

test("a streamed creation cut by kill -9 is streamed again from its first event to its end", async () => {
  await using model = startModelServer();
  await using server = await startRunnel({ environment: stubConnection(model.url) });
  const body = { agent_id: await createAgent(server, "half-60-10"), input: "Go", stream: true };
  await using cut = await stream(server, "/v1/runs", body);
  const { data } = await cut.until((frame) => frame.event === "token" && frame.data.offset > 50);
  await server.kill9();
  await cut.rest();
  model.release();
  await server.restart();

  await using again = await stream(server, "/v1/runs", body);
  expect([again.response.status, isReplay(again.response)]).toEqual([200, true]);
  const frames = await again.rest();
  expectWhole(frames, data.run_id);
  expect(frames.map(({ event }) => event)).toContain("run.recovered");
  expect(textsOf(frames)).toEqual([wordsOf(60)]);
  expect(await runsOf(server)).toMatchObject([{ id: data.run_id, status: "completed" }]);
});

function expectWhole(frames: readonly Frame[], run: string): void {
  const seqs = seqsOf(frames);
  expect(seqs).toEqual(seqs.map((_, index) => index + 1));
  expect(new Set(frames.map((frame) => frame.data.run_id))).toEqual(new Set([run]));
  expect(frames.at(-1)?.event).toBe("run.completed");
}

test("a streamed answer to a call, repeated after kill -9, is streamed from where it began", async () => {
  await using model = startModelServer();
  await using server = await startRunnel({ environment: stubConnection(model.url) });
  const tool = await createTool(server);
  const agent_id = await createAgent(server, "half-60-10", { tools: [tool.id] });
  const { body: run } = await server.post("/v1/runs?wait=60", { agent_id, input: "Go" });
  const path = `/v1/runs/${run.id}/submit_tool_outputs`;
  const body = { tool_outputs: [{ tool_call_id: run.tool_calls[0].id, output: "sunny" }], stream: true };
  await using cut = await stream(server, path, body);
  await cut.until("token");
  await server.kill9();
  await cut.rest();
  model.release();
  await server.restart();

  await using again = await stream(server, path, body);
  expect(isReplay(again.response)).toBe(true);
  const frames = await again.rest();
  expect(frames[0]).toEqual(cut.frames[0]!);
  expect(frames[0]?.event).toBe("tool.completed");
  expect(frames.filter(({ event }) => event === "tool.completed")).toHaveLength(1);
  expect(frames.at(-1)).toMatchObject({ event: "run.completed", data: { output: wordsOf(60) } });
});

test("twenty equal concurrent creations start one run", async () => {
  await using model = startModelServer();
  await using server = await startRunnel({ environment: stubConnection(model.url) });
  const body = { agent_id: await createAgent(server, "words-3-1"), input: "Once." };
  const answers = await Promise.all(Array.from({ length: 20 }, () => post(server, "/v1/runs", body)));
  const created = answers.filter(({ status }) => status === 201);
  expect(created.filter((answer) => !isReplay(answer))).toHaveLength(1);
  expect(new Set(created.map((answer) => answer.body.id)).size).toBe(1);
  for (const { status, body } of answers.filter((answer) => !created.includes(answer)))
    expect([status, body.error.code]).toEqual([409, "idempotency_in_progress"]);
  const [run, ...more] = await runsOf(server);
  expect([run.id, more]).toEqual([created[0]!.body.id, []]);
  await using rest = await server.stream(`/v1/runs/${run.id}/events`);
  await rest.rest();
  expectOneConversation(model, 1);
});

test("a stored response is repeated after kill -9, secrets included, and an empty key is refused", async () => {
  await using server = await startRunnel();
  const body = { name: "robot", scopes: ["run"] };
  const first = await post(server, "/v1/api_keys", body);
  const other = await post(server, "/v1/api_keys", { name: "robot" }, "wrong");
  await server.kill9();
  await server.restart();
  const again = await post(server, "/v1/api_keys", body);
  expect([again.status, isReplay(again), bare(again)]).toEqual([201, true, bare(first)]);
  expect((await server.get("/v1/me", again.body.secret)).body.id).toBe(first.body.id);
  expect(bare(await post(server, "/v1/api_keys", { name: "robot" }, "wrong"))).toEqual(bare(other));
  expect((await post(server, "/v1/api_keys", { ...body, name: "other" })).body.error.code).toBe(
    "idempotency_key_reused",
  );
  expect((await post(server, "/v1/api_keys", body, "")).body.error.param).toBe("Idempotency-Key");
  const { body: keys } = await server.get("/v1/api_keys");
  expect(keys.data.filter(({ name }: Json) => name === "robot")).toHaveLength(1);
});
