import { afterAll, beforeAll, expect, test } from "bun:test";
import { newId } from "../../domain/ids.ts";
import type { Answer } from "../../testing/expect-declared.ts";
import { type Client, testApp } from "../../testing/test-app.ts";

const server = testApp();
let client: Client;
beforeAll(async () => {
  client = await server.client();
});
afterAll(() => server[Symbol.asyncDispose]());

const endless = [{ delay_ms: 600_000 }];

async function newAgent(script: object[], more: object = {}): Promise<string> {
  const answer = await client.post("/v1/agents", {
    name: "a",
    instructions: "Say.",
    model: "test/script",
    model_settings: { script },
    ...more,
  });
  expect(answer.status).toBe(201);
  return answer.body.id;
}

const newThread = async (body: object = {}, by = client): Promise<string> => {
  const { status, body: thread } = await by.post("/v1/threads", body);
  expect(status).toBe(201);
  return thread.id;
};

/** Starts a run in a thread, and returns it once it is over or waits. */
async function say(thread_id: string, script: object[], input = "Hi.", more: object = {}): Promise<Answer["body"]> {
  const answer = await client.post("/v1/runs?wait=60", { agent_id: await newAgent(script, more), input, thread_id });
  expect(answer.status).toBe(201);
  return answer.body;
}
const begin = async (thread_id: string, body: object = {}) =>
  client.post("/v1/runs", { agent_id: await newAgent(endless), input: "Go.", thread_id, ...body });
const messagesOf = async (id: string, query = "order=asc&limit=100"): Promise<Answer["body"][]> =>
  (await client.get(`/v1/threads/${id}/messages?${query}`)).body.data;
const saidIn = async (id: string) => (await messagesOf(id)).map(({ role, content }) => [role, content]);
const threadOf = async (id: string) => (await client.get(`/v1/threads/${id}`)).body;
const historyOf = (id: string, max = 50) => server.threads.history(client.scope, id, max);

test("a thread is created, shown, listed, changed and deleted", async () => {
  const made = await client.post("/v1/threads", {
    title: "Trip",
    user_id: "u1",
    session_id: "s1",
    metadata: { a: "b" },
  });
  const { id } = made.body;
  expect(made.body).toMatchObject({
    object: "thread",
    title: "Trip",
    user_id: "u1",
    session_id: "s1",
    status: "idle",
    message_count: 0,
    last_run_id: null,
    metadata: { a: "b" },
    environment: "test",
  });
  expect((await client.patch(`/v1/threads/${id}`, { title: null })).body).toMatchObject({ title: null, user_id: "u1" });
  for (const filter of ["user_id=u1", "session_id=s1", "metadata[a]=b", "status=idle"])
    expect((await client.get(`/v1/threads?${filter}`)).body.data.map((one: { id: string }) => one.id)).toContain(id);
  for (const filter of ["user_id=u2", "session_id=s2", "status=busy"])
    expect((await client.get(`/v1/threads?${filter}`)).body.data).toEqual([]);
  // The user of a thread cannot change.
  expect((await client.patch(`/v1/threads/${id}`, { user_id: "u2" })).body.error.code).toBe("unknown_parameter");
  expect((await client.delete(`/v1/threads/${id}`)).body).toMatchObject({ id, object: "thread", deleted: true });
  expect((await client.get(`/v1/threads/${id}`)).status).toBe(404);
  expect((await client.get("/v1/audit_log?action=thread.deleted")).body.data[0].target).toEqual({ type: "thread", id });
});

test("a key with the run scope creates, changes and deletes threads, and one with the read scope only reads them", async () => {
  const [runner, reader] = [await server.client({ scopes: ["run"] }), await server.client({ scopes: ["read"] })];
  const id = await newThread({}, runner);
  expect((await runner.patch(`/v1/threads/${id}`, { title: "t" })).status).toBe(200);
  for (const path of ["", `/${id}`, `/${id}/messages`])
    expect((await reader.get(`/v1/threads${path}`)).status).toBe(200);
  expect((await reader.post("/v1/threads", {})).status).toBe(403);
  expect((await reader.delete(`/v1/threads/${id}`)).status).toBe(403);
  expect((await runner.delete(`/v1/threads/${id}`)).status).toBe(200);
});

test("a thread has its runs' messages, in order, each with its run", async () => {
  const id = await newThread();
  const tool = (await client.post("/v1/tools", { name: "look" })).body;
  const asking = [{ text: "I look.", tool_calls: [{ name: "look", arguments: { at: "it" } }] }, { text: "Seen." }];
  const waiting = await say(id, asking, "Look at it.", { tools: [tool.id] });
  expect(await threadOf(id)).toMatchObject({ status: "waiting", message_count: 0, last_run_id: waiting.id });
  const [call] = waiting.required_action.submit_tool_outputs.tool_calls;
  const tool_outputs = [{ tool_call_id: call.tool_call_id, output: { seen: 1 } }];
  await client.post(`/v1/runs/${waiting.id}/submit_tool_outputs`, { tool_outputs });
  await server.watches.join(waiting.id).next(0);
  while ((await threadOf(id)).status !== "idle") await new Promise((resolve) => setImmediate(resolve));
  const second = await say(id, [{ text: "You too." }], "Thanks.");
  expect(await saidIn(id)).toEqual([
    ["user", "Look at it."],
    ["assistant", "I look."],
    ["tool", '{"seen":1}'],
    ["assistant", "Seen."],
    ["user", "Thanks."],
    ["assistant", "You too."],
  ]);
  const all = await messagesOf(id);
  expect(all.map(({ run_id }) => run_id)).toEqual([...Array(4).fill(waiting.id), second.id, second.id]);
  expect(all[1].tool_calls).toEqual([{ id: call.tool_call_id, name: "look", arguments: { at: "it" } }]);
  expect(all[2].tool_call_id).toBe(call.tool_call_id);
  expect(await threadOf(id)).toMatchObject({ status: "idle", message_count: 6, last_run_id: second.id });
  expect(historyOf(id).map(({ role }) => role)).toEqual([
    "user",
    "assistant",
    "tool",
    "assistant",
    "user",
    "assistant",
  ]);
});

test("messages are paged without repetition or omission, newest first", async () => {
  const id = await newThread();
  for (const input of ["1", "2", "3"]) await say(id, [{ text: `${input}!` }], input);
  const texts = (messages: { content: string }[]) => messages.map(({ content }) => content);
  const first = (await client.get(`/v1/threads/${id}/messages?limit=4`)).body;
  expect([texts(first.data), first.has_more]).toEqual([["3!", "3", "2!", "2"], true]);
  const rest = (await client.get(`/v1/threads/${id}/messages?limit=4&starting_after=${first.last_id}`)).body;
  expect([texts(rest.data), rest.has_more]).toEqual([["1!", "1"], false]);
  expect(texts(await messagesOf(id, `limit=4&ending_before=${rest.first_id}`))).toEqual(texts(first.data));
  expect(texts(await messagesOf(id, `order=asc&limit=2&starting_after=${rest.first_id}`))).toEqual(["2", "2!"]);
  const other = await newThread();
  const strange = await client.get(`/v1/threads/${other}/messages?starting_after=${first.last_id}`);
  expect(strange.body.error.code).toBe("invalid_cursor");
});

test.each(["asc", "desc"])(
  "a deleted message is still a valid cursor, and later messages follow it: %s",
  async (order) => {
    const id = await newThread();
    const runs = [];
    for (const input of ["1", "2", "3"]) runs.push(await say(id, [{ text: `${input}!` }], input));
    const all = await messagesOf(id, "order=asc");
    for (const { id } of runs.slice(1)) expect((await client.delete(`/v1/runs/${id}`)).status).toBe(200);
    await say(id, [{ text: "4!" }], "4");
    const left = ["1", "1!", "4", "4!"];
    const after = (message: { id: string }) =>
      messagesOf(id, `order=${order}&starting_after=${message.id}`).then((page) =>
        page.map(({ content }: { content: string }) => content),
      );
    for (const gone of all.slice(2))
      expect(await after(gone)).toEqual(order === "asc" ? left.slice(2) : left.slice(0, 2).toReversed());
  },
);

test("a run belongs to its thread's user, and cannot name another", async () => {
  const thread_id = await newThread({ user_id: "u1", session_id: "s1" });
  const agent_id = await newAgent([{ text: "Hi." }]);
  const create = (body: object) => client.post("/v1/runs?wait=60", { agent_id, input: "Hi.", thread_id, ...body });
  expect((await create({})).body).toMatchObject({ thread_id, user_id: "u1", session_id: "s1" });
  expect((await create({ user_id: "u1" })).status).toBe(201);
  const { status, body } = await create({ user_id: "u2", session_id: "s2" });
  expect([status, body.error.errors.map(({ param }: { param: string }) => param)]).toEqual([
    400,
    ["user_id", "session_id"],
  ]);
  const missing = await create({ thread_id: newId("thread") });
  expect([missing.status, missing.body.error.code, missing.body.error.param]).toEqual([
    400,
    "validation_failed",
    "thread_id",
  ]);
  const nobodys = (await create({ agent_id: newId("agent") })).body.error;
  expect({ ...nobodys, message: "", errors: [] }).toEqual({
    ...missing.body.error,
    param: "agent_id",
    message: "",
    errors: [],
  });
  expect((await client.get(`/v1/runs?thread_id=${thread_id}`)).body.data).toHaveLength(2);
});

test("a run may create its thread: both exist, or neither", async () => {
  const agent_id = await newAgent([{ text: "Hi." }]);
  const create = (body: object) =>
    client.post("/v1/runs?wait=60", { agent_id, input: "Hi.", thread_id: "new", ...body });
  const { body: run } = await create({ user_id: "u7", session_id: "s7" });
  expect(await threadOf(run.thread_id)).toMatchObject({
    user_id: "u7",
    session_id: "s7",
    message_count: 2,
    last_run_id: run.id,
    status: "idle",
  });
  expect((await client.post("/v1/runs?wait=60", { agent_id, input: "Hi.", thread_id: run.thread_id })).status).toBe(
    201,
  );
  const before = (await client.get("/v1/threads?limit=1")).body.data[0].id;
  await server.projects.update(client.scope.project_id, { limits: { runs_in_progress: 1 } });
  try {
    const held = await begin(run.thread_id);
    expect((await create({ on_concurrency_limit: "reject" })).body.error.code).toBe("concurrency_limit_exceeded");
    await client.post(`/v1/runs/${held.body.id}/cancel`);
  } finally {
    await server.projects.update(client.scope.project_id, { limits: { runs_in_progress: 100 } });
  }
  expect((await create({ thread_id: "newer" })).body.error.param).toBe("thread_id");
  expect((await client.get("/v1/threads?limit=1")).body.data[0].id).toBe(before);
});

test("a busy thread refuses a second run, and cannot be deleted", async () => {
  const id = await newThread();
  const { body: run } = await begin(id);
  expect((await threadOf(id)).status).toBe("busy");
  expect((await client.get("/v1/threads?status=busy")).body.data.map((one: { id: string }) => one.id)).toEqual([id]);
  const refused = await begin(id);
  expect([refused.status, refused.body.error.code, refused.body.error.details]).toEqual([
    409,
    "thread_busy",
    { run_id: run.id },
  ]);
  const kept = await client.delete(`/v1/threads/${id}`);
  expect([kept.status, kept.body.error.code]).toEqual([409, "run_not_terminal"]);
  const queued = await begin(id, { if_thread_busy: "queue" });
  expect(queued.body).toMatchObject({ status: "queued", queue_position: 1, thread_id: id });
  const next = await begin(id, { if_thread_busy: "cancel_previous" });
  expect(next.body.status).toBe("in_progress");
  expect((await client.get(`/v1/runs/${queued.body.id}`)).body.status).toBe("cancelled");
  await client.post(`/v1/runs/${next.body.id}/cancel`);
  expect((await threadOf(id)).status).toBe("idle");
  expect((await client.delete(`/v1/threads/${id}`)).status).toBe(200);
  expect((await client.get(`/v1/runs/${run.id}`)).body.thread_id).toBe(id); // The thread's runs stay.
});

test("of a concurrent deletion and run one is refused: no run is left in a deleted thread", async () => {
  const agent_id = await newAgent(endless);
  for (const isFirst of [true, false, true, false]) {
    const id = await newThread();
    const create = () => client.post("/v1/runs", { agent_id, input: "Go.", thread_id: id });
    const remove = () => client.delete(`/v1/threads/${id}`);
    const [one, other] = await Promise.all(isFirst ? [create(), remove()] : [remove(), create()]);
    const [run, removed] = isFirst ? [one, other] : [other, one];
    expect([
      [201, 409],
      [400, 200],
    ]).toContainEqual([run.status, removed.status]);
    expect((await client.get(`/v1/threads/${id}`)).status).toBe(run.status === 201 ? 200 : 404);
    if (run.status === 201) await client.post(`/v1/runs/${run.body.id}/cancel`);
  }
});

test("a failed run keeps its input and output, and a cancelled one its output so far", async () => {
  const id = await newThread();
  const failed = await say(id, [{ text: "Almost" }, { text: "there" }], "Try.", {
    output_schema: { type: "object" },
  });
  expect(failed.status).toBe("failed");
  expect((await saidIn(id)).map(([role]) => role)).toEqual(["user", "assistant", "user", "assistant"]);
  const tool = (await client.post("/v1/tools", { name: "wait_for" })).body;
  const asking = [{ text: "I ask.", tool_calls: [{ name: "wait_for", arguments: {} }] }];
  const waiting = await say(id, asking, "Ask.", { tools: [tool.id] });
  await client.post(`/v1/runs/${waiting.id}/cancel`);
  const last = historyOf(id).slice(-3);
  expect(last.map(({ role }) => role)).toEqual(["user", "assistant", "tool"]);
  expect(last[2]).toMatchObject({ is_error: true });
});

test("blocked text does not appear in the thread, and redacted text only in redacted form", async () => {
  const id = await newThread();
  const guard = (action: string) => ({
    guardrails: [{ type: "regex", on: ["input", "output"], action, config: { pattern: "s3cret" } }],
  });
  const blocked = await say(id, [{ text: "Fine." }], "My s3cret.", guard("block"));
  expect([blocked.status, blocked.error.code]).toEqual(["failed", "guardrail_blocked"]);
  expect(await saidIn(id)).toEqual([]);
  const redacted = await say(id, [{ text: "Your s3cret is safe." }], "My s3cret.", guard("redact"));
  expect(redacted.status).toBe("completed");
  const said = JSON.stringify([await messagesOf(id), historyOf(id)]);
  expect(said).not.toContain("s3cret");
  expect(await saidIn(id)).toHaveLength(2);
  const rows = server.db.sqlite.query("SELECT message || prompt AS text FROM thread_messages").all();
  expect(JSON.stringify(rows)).not.toContain("s3cret");
});

test.each(["run", "trace"])("deleting a %s removes its messages from the thread, and the others stay", async (what) => {
  const id = await newThread();
  const first = await say(id, [{ text: "A." }], "a");
  const second = await say(id, [{ text: "B." }], "b");
  expect((await client.delete(what === "run" ? `/v1/runs/${first.id}` : `/v1/traces/${first.id}`)).status).toBe(200);
  expect((await messagesOf(id)).map(({ run_id }) => run_id)).toEqual([second.id, second.id]);
  expect((await threadOf(id)).message_count).toBe(2);
  await say(id, [{ text: "C." }], "c");
  expect((await saidIn(id)).map(([, text]) => text)).toEqual(["b", "B.", "c", "C."]);
});

test("retention removes runs' messages from their threads", async () => {
  let at = Date.UTC(2026, 0, 1);
  await using old = testApp({ now: () => at });
  const owner = await old.client();
  const model = { name: "a", instructions: "", model: "test/echo" };
  const agent_id = (await owner.post("/v1/agents", model)).body.id;
  const thread_id = (await owner.post("/v1/threads", {})).body.id;
  await old.projects.update(owner.scope.project_id, { retention: { test: { runs_days: 1 } } });
  await owner.post("/v1/runs?wait=60", { agent_id, input: "old", thread_id });
  expect((await owner.get(`/v1/threads/${thread_id}`)).body.message_count).toBe(2);
  at += 2 * 24 * 3_600_000;
  await old.sweep();
  expect((await owner.get(`/v1/threads/${thread_id}/messages`)).body.data).toEqual([]);
  expect((await owner.get(`/v1/threads/${thread_id}`)).body).toMatchObject({ message_count: 0, status: "idle" });
});

test("a restricted key cannot see a thread in which other agents have worked", async () => {
  const own = await newAgent([{ text: "Hi." }]);
  const bound = await server.client({ agent_ids: [own], scopes: ["run", "read"] });
  const shared = await newThread();
  const run = (by: Client, agent_id: string) =>
    by.post("/v1/runs?wait=60", { agent_id, input: "Hi.", thread_id: shared });
  expect((await run(bound, own)).status).toBe(201);
  expect((await bound.get(`/v1/threads/${shared}/messages`)).body.data).toHaveLength(2);
  const other = await run(client, await newAgent([{ text: "Secret." }]));
  expect(other.body.status).toBe("completed");
  const never = newId("thread");
  for (const path of ["", "/messages"]) {
    const { request_id: _, ...refused } = (await bound.get(`/v1/threads/${shared}${path}`)).body;
    const { request_id: __, ...unknown } = (await bound.get(`/v1/threads/${never}${path}`)).body;
    expect(refused).toEqual(unknown);
  }
  expect((await bound.get("/v1/threads?limit=100")).body.data.map(({ id }: { id: string }) => id)).not.toContain(
    shared,
  );
  expect((await bound.patch(`/v1/threads/${shared}`, { title: "mine" })).status).toBe(404);
  expect((await bound.delete(`/v1/threads/${shared}`)).status).toBe(404);
  // The thread's history would reveal the others' runs.
  expect((await run(bound, own)).body.error.param).toBe("thread_id");
  expect((await client.get(`/v1/threads/${shared}/messages`)).body.data).toHaveLength(4);
});

test("history begins with a user's message, and has at most the requested number of messages", async () => {
  const id = await newThread();
  for (const input of ["1", "2", "3"]) await say(id, [{ text: `${input}!` }], input);
  const texts = (max: number) => historyOf(id, max).map((message) => JSON.stringify(message).match(/\d!?/)![0]);
  expect(texts(50)).toEqual(["1", "1!", "2", "2!", "3", "3!"]);
  expect(texts(4)).toEqual(["2", "2!", "3", "3!"]);
  expect(texts(3)).toEqual(["3", "3!"]);
  expect(texts(1)).toEqual([]);
});

test("a thread is created with messages from elsewhere, and its next run reads them", async () => {
  const id = await newThread();
  const seeds = [
    { role: "user", content: "My name is Ada." },
    { role: "assistant", content: "Hello, Ada." },
  ];
  for (const seed of seeds) {
    const { status, body } = await client.post(`/v1/threads/${id}/messages`, seed);
    expect([status, body]).toEqual([201, expect.objectContaining({ ...seed, run_id: null })]);
  }
  expect(await threadOf(id)).toMatchObject({ message_count: 2, status: "idle", last_run_id: null });
  const run = await say(id, [{ text: "Ada." }], "Who am I?");
  expect(historyOf(id).slice(0, 2)).toEqual([
    { role: "user", content: "My name is Ada." },
    { role: "assistant", parts: [{ type: "text", text: "Hello, Ada." }] },
  ]);
  await client.post(`/v1/threads/${id}/messages`, { role: "user", content: "Later." });
  expect(await saidIn(id)).toEqual([
    ["user", "My name is Ada."],
    ["assistant", "Hello, Ada."],
    ["user", "Who am I?"],
    ["assistant", "Ada."],
    ["user", "Later."],
  ]);
  await client.delete(`/v1/runs/${run.id}`);
  expect((await saidIn(id)).map(([, text]) => text)).toEqual(["My name is Ada.", "Hello, Ada.", "Later."]);
  expect((await threadOf(id)).message_count).toBe(3);
});

test("a message is added with the run scope, to an own thread without a run in progress", async () => {
  const id = await newThread();
  const seed = { role: "user", content: "Hi." };
  const path = `/v1/threads/${id}/messages`;
  expect((await (await server.client({ scopes: ["read"] })).post(path, seed)).status).toBe(403);
  expect((await (await server.client({ environment: "live" })).post(path, seed)).status).toBe(404);
  for (const [body, param] of [
    [{ role: "system", content: "Obey." }, "role"],
    [{ role: "user", content: "" }, "content"],
    [{ role: "user", content: "ü".repeat(200_000) }, "content"],
    [{ ...seed, name: "Ada" }, "name"],
    [{ content: "Hi." }, "role"],
  ] as const)
    expect((await client.post(path, body)).body.error.param).toBe(param);
  const { body: run } = await begin(id);
  const refused = await client.post(path, seed);
  expect([refused.status, refused.body.error.code, refused.body.error.details]).toEqual([
    409,
    "thread_busy",
    { run_id: run.id },
  ]);
  await client.post(`/v1/runs/${run.id}/cancel`);
  expect((await client.post(path, seed)).status).toBe(201);
});

test("a thread accepts tool calls and their results from elsewhere, and its next run reads them", async () => {
  const id = await newThread();
  const put = (body: object) => client.post(`/v1/threads/${id}/messages`, body);
  const call = { id: "call_1", name: "look", arguments: { at: "it" } };
  const result = { role: "tool", tool_call_id: call.id, content: "Seen." };
  expect((await put(result)).body.error.param).toBe("tool_call_id");
  expect((await put({ role: "user", content: "Look." })).status).toBe(201);
  const asked = await put({ role: "assistant", content: "", tool_calls: [call] });
  expect(asked.body).toMatchObject({ role: "assistant", tool_calls: [call] });
  // A model cannot read a call without a result; no other message may come between the two.
  expect(historyOf(id).map(({ role }) => role)).toEqual(["user"]);
  expect((await put({ role: "user", content: "And?" })).body.error.param).toBe("role");
  expect((await put(result)).body).toMatchObject({ role: "tool", content: "Seen.", tool_call_id: call.id });
  expect((await put(result)).body.error.param).toBe("tool_call_id");
  expect(historyOf(id).slice(1)).toEqual([
    {
      role: "assistant",
      parts: [{ type: "tool_call", id: call.id, name: "look", arguments: JSON.stringify(call.arguments) }],
    },
    { role: "tool", call_id: call.id, tool: "look", output: "Seen.", is_error: false },
  ]);
  const pixel = `data:image/png;base64,${btoa("\x89PNG\r\n\x1a\n")}`;
  const shown = await put({ role: "user", content: [{ type: "image", data: pixel }] });
  expect(shown.body.images).toEqual([{ file_id: expect.any(String), mime_type: "image/png" }]);
  const none = await put({ role: "user", content: [{ type: "image", data: "none" }] });
  expect(none.body.error.param).toBe("content[0].data");
});
