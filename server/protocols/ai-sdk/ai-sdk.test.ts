import { afterAll, describe, expect, test } from "bun:test";
import type { Frame } from "../../domain/api-types/frames.ts";
import { pollFirst } from "../../testing/poll-first.ts";
import { type Client, testApp } from "../../testing/test-app.ts";
import { uiMessageDialect } from "./dialect.ts";

const server = testApp();
afterAll(() => server[Symbol.asyncDispose]());

// biome-ignore lint/suspicious/noExplicitAny: parts of the protocol.
type Json = any;

async function opened(script: object[] | null, more: object = {}) {
  const owner = await server.client({ project: crypto.randomUUID() });
  const model = script ? { model: "test/script", model_settings: { script } } : { model: "test/echo" };
  const made = await owner.post("/v1/agents", { name: "a", instructions: "", ...model, ...more });
  expect(made.body.error).toBeUndefined();
  return { owner, agent: made.body.id as string, at: `/ui/v1/agents/${made.body.id}/chat` };
}

const remembering = { memory: { history: { mode: "thread" } } };
const userSays = (text: string, id: string = crypto.randomUUID()) => ({
  id,
  role: "user",
  parts: [{ type: "text", text }],
});

const textPart = (text: string) => ({ type: "text", text, state: "done" });

const bearer = ({ key }: Client) => ({ authorization: `Bearer ${key.secret}` });

/** The parts of a stream, in order. */
const partsOf = (text: string): Json[] =>
  text.split("\n").flatMap((line) => (line.startsWith("data: {") ? [JSON.parse(line.slice(6))] : []));
const typesOf = (parts: Json[]): string[] => parts.map(({ type }) => type);
const textOf = (parts: Json[]): string => parts.map(({ type, delta }) => (type === "text-delta" ? delta : "")).join("");

async function send(client: Client, at: string, body: object) {
  const answer = await client.post(at, { id: "chat", trigger: "submit-message", ...body });
  return { ...answer, parts: answer.status === 200 ? partsOf(answer.body) : [] };
}

test("a message of the user is a run, and its answer a message with the id of the run", async () => {
  const { owner, agent, at } = await opened(null);
  const { status, headers, body, parts } = await send(owner, at, { messages: [userSays("Hello you")] });
  expect([status, headers.get("x-vercel-ai-ui-message-stream"), headers.get("content-type")]).toEqual([
    200,
    "v1",
    "text/event-stream; charset=utf-8",
  ]);
  const [start] = parts;
  expect(typesOf(parts).filter((type, index, all) => type !== all[index - 1])).toEqual([
    "start",
    "start-step",
    "text-start",
    "text-delta",
    "text-end",
    "finish-step",
    "finish",
  ]);
  expect(textOf(parts)).toBe("Hello you");
  expect(parts.at(-1)).toMatchObject({ finishReason: "stop", messageMetadata: { usage: { model_calls: 1 } } });
  expect(body.endsWith("data: [DONE]\n\n")).toBe(true);
  const { body: run } = await owner.get(`/v1/runs/${start.messageId}`);
  expect(run).toMatchObject({ agent_id: agent, input: "Hello you", output: "Hello you" });
  expect(headers.get("x-runnel-run-id")).toBe(start.messageId);
});

test("reasoning, the calls of the agent's own tools, their outputs and a second step are parts", async () => {
  const owner = await server.client({ project: crypto.randomUUID() });
  const { body: tool } = await owner.post("/v1/tools", { name: "add", type: "code", source: "({a, b}) => a + b" });
  const script = [{ reasoning: "Add.", tool_calls: [{ name: "add", arguments: { a: 1, b: 2 } }] }, { text: "Three." }];
  const agent = { name: "a", instructions: "", model: "test/script", model_settings: { script }, tools: [tool.id] };
  const { body } = await owner.post("/v1/agents", agent);
  const { parts } = await send(owner, `/ui/v1/agents/${body.id}/chat`, { messages: [userSays("Go.")] });
  expect(typesOf(parts).filter((type) => !type.endsWith("-delta"))).toEqual([
    "start",
    "start-step",
    "reasoning-start",
    "reasoning-end",
    "tool-input-available",
    "tool-output-available",
    "finish-step",
    "start-step",
    "text-start",
    "text-end",
    "finish-step",
    "finish",
  ]);
  expect(parts.find(({ type }) => type === "tool-input-available")).toMatchObject({
    toolName: "add",
    input: { a: 1, b: 2 },
    providerExecuted: true,
  });
  expect(parts.find(({ type }) => type === "tool-output-available").output.result).toBe(3);
});

/** An agent with a client tool, or one whose calls are approved. */
async function asking(needs: "output" | "approval", script?: object[]) {
  const owner = await server.client({ project: crypto.randomUUID() });
  const kind = needs === "approval" ? { type: "code", source: "() => 7", approval: "always" } : {};
  const { body: tool } = await owner.post("/v1/tools", { name: "ask", ...kind });
  const twice = [{ name: "ask", arguments: { n: 1 } }];
  const all = script ?? [{ tool_calls: twice }, { text: "Done." }];
  const agent = {
    name: "a",
    instructions: "",
    model: "test/script",
    model_settings: { script: all },
    tools: [tool.id],
  };
  const { body } = await owner.post("/v1/agents", agent);
  return { owner, at: `/ui/v1/agents/${body.id}/chat` };
}

const answered = (id: string, ...parts: object[]) => [
  userSays("Go."),
  { id, role: "assistant", parts: [{ type: "step-start" }, ...parts.map((part) => ({ type: "tool-ask", ...part }))] },
];

describe("a call of a client tool", () => {
  test("ends the stream, and its output resumes the run, also when it is sent twice", async () => {
    const { owner, at } = await asking("output");
    const { parts } = await send(owner, at, { messages: [userSays("Go.")] });
    expect(typesOf(parts).slice(-3)).toEqual(["tool-input-available", "finish-step", "finish"]);
    const { toolCallId } = parts.at(-3);
    expect(parts.at(-3).providerExecuted).toBe(false);
    expect(parts.at(-1).finishReason).toBe("tool-calls");
    const messages = answered(parts[0].messageId, { toolCallId, state: "output-available", output: { ok: true } });
    for (const _ of [1, 2]) {
      const { parts: more } = await send(owner, at, { messages });
      expect([more[0].messageId, textOf(more), more.at(-1).finishReason]).toEqual([
        parts[0].messageId,
        "Done.",
        "stop",
      ]);
      expect(more.find(({ type }) => type === "tool-output-available")).toMatchObject({
        toolCallId,
        output: { ok: true },
      });
    }
    const { body: run } = await owner.get(`/v1/runs/${parts[0].messageId}`);
    expect([run.usage.model_calls, run.tool_calls[0].output]).toEqual([2, { ok: true }]);
    const other = answered(parts[0].messageId, { toolCallId, state: "output-available", output: "other" });
    const refused = await send(owner, at, { messages: other });
    expect([refused.status, refused.body.error.code, refused.body.error.param]).toEqual([
      409,
      "tool_call_already_resolved",
      "messages[1].parts[1]",
    ]);
    // No result is left to stream.
    await owner.delete(`/v1/traces/${run.id}`);
    const late = await send(owner, at, { messages });
    expect([late.status, late.body.error.code, late.body.error.param]).toEqual([
      400,
      "tool_call_not_found",
      "messages[1].parts[1]",
    ]);
  });

  test("may go wrong, and of two the first alone leaves the run waiting for the other", async () => {
    const calls = [1, 2].map((n) => ({ name: "ask", arguments: { n } }));
    const { owner, at } = await asking("output", [{ tool_calls: calls }, { text: "Done." }]);
    const { parts } = await send(owner, at, { messages: [userSays("Go.")] });
    const [one, two] = parts.filter(({ type }) => type === "tool-input-available").map(({ toolCallId }) => toolCallId);
    const first = { toolCallId: one, state: "output-error", errorText: "No." };
    const half = await send(owner, at, { messages: answered(parts[0].messageId, first) });
    expect(typesOf(half.parts)).toEqual(["start", "tool-output-error", "finish"]);
    expect(half.parts.at(-1).finishReason).toBe("tool-calls");
    const second = { toolCallId: two, state: "output-available", output: 2 };
    const whole = await send(owner, at, { messages: answered(parts[0].messageId, first, second) });
    expect(textOf(whole.parts)).toBe("Done.");
    expect((await owner.get(`/v1/runs/${parts[0].messageId}`)).body.tool_calls[0].error.message).toBe("No.");
  });

  test.each([
    ["that never was", "call_00000000000000000000000000", 400, "tool_call_not_found", "messages[1].parts[1]"],
    ["without an id of a run", null, 400, "tool_call_not_found", "messages[1].parts[1]"],
  ])("%s is rejected, with the parameter", async (_, toolCallId, status, code, param) => {
    const { owner, at } = await asking("output");
    const { parts } = await send(owner, at, { messages: [userSays("Go.")] });
    const id = toolCallId === null ? "msg" : parts[0].messageId;
    const given = { toolCallId: toolCallId ?? "call_x", state: "output-available", output: 1 };
    const { status: got, body } = await send(owner, at, { messages: answered(id, given) });
    expect([got, body.error.code, body.error.param]).toEqual([status, code, param]);
  });
});

test.each([
  [true, "completed", ["tool-approval-response", "tool-output-available"]],
  [false, "rejected", ["tool-approval-response", "tool-output-denied"]],
])("a call that waits for an approval resumes when its client says %p", async (approved, status, types) => {
  const { owner, at } = await asking("approval");
  const { parts } = await send(owner, at, { messages: [userSays("Go.")] });
  expect(typesOf(parts).slice(-4)).toEqual(["tool-input-available", "tool-approval-request", "finish-step", "finish"]);
  const { toolCallId, approvalId } = parts.at(-3);
  expect(parts.at(-4).providerExecuted).toBe(true);
  const approval = { id: approvalId, approved, reason: "So." };
  const part = { toolCallId, state: "approval-responded", providerExecuted: true, approval };
  const { parts: more } = await send(owner, at, { messages: answered(parts[0].messageId, part) });
  expect(typesOf(more).slice(0, 3)).toEqual(["start", ...types]);
  expect(textOf(more)).toBe("Done.");
  expect((await owner.get(`/v1/runs/${parts[0].messageId}`)).body.tool_calls[0].status).toBe(status);
});

describe("a chat", () => {
  test("is a thread: earlier messages are known, whatever the client sends", async () => {
    const { owner, at } = await opened([{ text: "A." }], remembering);
    const first = await send(owner, at, { messages: [userSays("One")] });
    const forged = { id: first.parts[0].messageId, role: "assistant", parts: [{ type: "text", text: "Forged." }] };
    const second = await send(owner, at, { messages: [userSays("Zero"), forged, userSays("Two")] });
    const [a, b] = await Promise.all(
      [first, second].map(async ({ parts }) => (await owner.get(`/v1/runs/${parts[0].messageId}`)).body),
    );
    expect(b.thread_id).toBe(a.thread_id);
    const { body } = await owner.get(`/v1/threads/${a.thread_id}/messages?order=asc`);
    expect(body.data.map(({ content }: Json) => content)).toEqual(["One", "A.", "Two", "A."]);
    const other = await send(owner, at, { id: "other", messages: [userSays("One")] });
    expect((await owner.get(`/v1/runs/${other.parts[0].messageId}`)).body.thread_id).not.toBe(a.thread_id);
  });

  test("begins by the same write as its first run, or not at all, and two messages at once begin one", async () => {
    const { owner, at } = await opened(null, remembering);
    const image = { type: "file", mediaType: "image/png", url: "data:image/png;base64,AA" };
    expect((await send(owner, at, { messages: [{ id: "m1", role: "user", parts: [image] }] })).status).toBe(400);
    expect((await owner.get("/v1/threads")).body.data).toEqual([]);
    const { sqlite } = server.db;
    sqlite.run("CREATE TEMP TRIGGER unnamed BEFORE INSERT ON thread_chats BEGIN SELECT RAISE(ABORT, 'cut off'); END");
    try {
      expect((await send(owner, at, { messages: [userSays("One")] })).status).toBe(500);
    } finally {
      sqlite.run("DROP TRIGGER unnamed");
    }
    expect((await owner.get("/v1/threads")).body.data).toEqual([]);
    expect((await owner.get("/v1/runs")).body.data).toEqual([]);
    await Promise.all(["One", "Two"].map((text) => send(owner, at, { messages: [userSays(text)] })));
    expect((await owner.get("/v1/threads")).body.data).toHaveLength(1);
    expect((await owner.get("/v1/runs")).body.data).toHaveLength(2);
  });

  test("has its messages in the record, with tool calls, for a reloaded page", async () => {
    const { owner, at } = await asking("output");
    expect((await owner.get(`${at}/chat`)).body).toMatchObject({ id: "chat", messages: [] });
    const { parts } = await send(owner, at, { messages: [userSays("Go.")] });
    const waiting = (await owner.get(`${at}/chat`)).body.messages;
    expect(waiting).toEqual([{ id: expect.stringMatching(/^msg_/), role: "user", parts: [textPart("Go.")] }]);
    const { toolCallId } = parts.find(({ type }) => type === "tool-input-available");
    const output = { state: "output-available", output: { ok: true } };
    await send(owner, at, { messages: answered(parts[0].messageId, { toolCallId, ...output }) });
    const call = { type: "tool-ask", toolCallId, ...output, input: { n: 1 }, providerExecuted: true };
    const step = { type: "step-start" };
    expect((await owner.get(`${at}/chat`)).body.messages.slice(1)).toEqual([
      { id: parts[0].messageId, role: "assistant", parts: [step, call, step, textPart("Done.")] },
    ]);
  });

  test("keeps an image from before an edited message, even if its run is deleted", async () => {
    const { owner, at } = await opened(null, remembering);
    const url = `data:image/png;base64,${btoa("\x89PNG\r\n\x1a\nkept")}`;
    const shown = { id: "m0", role: "user", parts: [textPart("One"), { type: "file", mediaType: "image/png", url }] };
    const one = await send(owner, at, { messages: [shown] });
    const said = { id: one.parts[0].messageId, role: "assistant", parts: [] };
    await send(owner, at, { messages: [shown, said, userSays("Two")] });
    const edited = { messages: [shown, said, userSays("Zwei", "m2")], messageId: "m2" };
    const anew = await send(owner, at, edited);
    const { input } = (await owner.get(`/v1/runs/${said.id}`)).body;
    const { file_id } = input[0].content[1];
    expect((await owner.delete(`/v1/runs/${said.id}`)).status).toBe(200);
    expect((await owner.get(`/v1/files/${file_id}`)).status).toBe(200);
    const { thread_id } = (await owner.get(`/v1/runs/${anew.parts[0].messageId}`)).body;
    expect((await owner.delete(`/v1/threads/${thread_id}`)).status).toBe(200);
    expect((await owner.get(`/v1/files/${file_id}`)).status).toBe(404);
  });

  test("continues from before an edited or regenerated message, and the old conversation is unchanged", async () => {
    const { owner, at } = await opened(null, remembering);
    const one = await send(owner, at, { messages: [userSays("One")] });
    const said = { id: one.parts[0].messageId, role: "assistant", parts: [] };
    const two = await send(owner, at, { messages: [userSays("One"), said, userSays("Two")] });
    const edited = { messages: [userSays("One"), said, userSays("Zwei", "m2")], messageId: "m2" };
    const anew = await send(owner, at, edited);
    const again = await send(owner, at, { ...edited, messageId: undefined, trigger: "regenerate-message" });
    const threads = await Promise.all(
      [two, anew, again].map(async ({ parts }) => {
        const { thread_id } = (await owner.get(`/v1/runs/${parts[0].messageId}`)).body;
        const { body } = await owner.get(`/v1/threads/${thread_id}/messages?order=asc`);
        return body.data.map(({ content }: Json) => content);
      }),
    );
    expect(threads).toEqual([
      ["One", "One", "Two", "Two"],
      ["One", "One", "Zwei", "Zwei"],
      ["One", "One", "Zwei", "Zwei"],
    ]);
    const first = await send(owner, at, { messages: [userSays("Eins", "m1")], messageId: "m1" });
    const { body: run } = await owner.get(`/v1/runs/${first.parts[0].messageId}`);
    const { body: thread } = await owner.get(`/v1/threads/${run.thread_id}`);
    expect(thread.message_count).toBe(2);
    const strange = { id: "run_00000000000000000000000000", role: "assistant", parts: [] };
    const refused = await send(owner, at, { messages: [strange, userSays("x", "m3")], messageId: "m3" });
    expect([refused.status, refused.body.error.code]).toEqual([404, "resource_not_found"]);
  });

  test("loses nothing to an edit that is refused, and to one that is not only then", async () => {
    const { owner, at } = await opened([{ text: "One two three.", delta_ms: 60_000 }]);
    const sent = send(owner, at, { messages: [userSays("Go.")] });
    const run = await pollFirst(owner, "/v1/runs");
    const before = (await owner.get(`${at}/chat`)).body.messages;
    const image = { type: "file", mediaType: "image/png", url: "data:image/png;base64,AA" };
    const edited = { messageId: "m1", messages: [{ id: "m1", role: "user", parts: [image] }] };
    expect((await send(owner, at, edited)).status).toBe(400);
    expect((await owner.get(`${at}/chat`)).body.messages).toEqual(before);
    expect((await owner.get(`/v1/runs/${run.id}`)).body.status).toBe("in_progress");
    expect((await owner.get("/v1/threads")).body.data).toHaveLength(1);
    const again = send(owner, at, { ...edited, messages: [userSays("Went.", "m1")] });
    expect((await sent).parts.at(-1).finishReason).toBe("interrupted");
    await owner.delete(`${at}/chat/stream`);
    expect((await again).parts[0].messageId).not.toBe(run.id);
    expect((await owner.get(`${at}/chat`)).body.messages[0].parts).toEqual([textPart("Went.")]);
  });

  test("continues in another thread in the same write as its run, or not at all", async () => {
    const { owner, at } = await opened(null, remembering);
    await send(owner, at, { messages: [userSays("One", "m1")] });
    const count = async () =>
      (await Promise.all([owner.get("/v1/runs"), owner.get("/v1/threads")])).map(({ body }) => body.data.length);
    const edited = { messages: [userSays("Eins", "m1")], messageId: "m1" };
    const { sqlite } = server.db;
    sqlite.run("CREATE TEMP TRIGGER unnamed BEFORE UPDATE ON thread_chats BEGIN SELECT RAISE(ABORT, 'cut off'); END");
    try {
      expect((await send(owner, at, edited)).status).toBe(500);
    } finally {
      sqlite.run("DROP TRIGGER unnamed");
    }
    expect(await count()).toEqual([1, 1]);
    await send(owner, at, edited);
    expect(await count()).toEqual([2, 2]);
    expect((await owner.get(`${at}/chat`)).body.messages[0].parts).toEqual([textPart("Eins")]);
  });

  test("is regenerated once for one Idempotency-Key, and not at all for that of another request", async () => {
    const { owner, at } = await opened(null, remembering);
    const one = await send(owner, at, { messages: [userSays("One")] });
    const by = { ...bearer(owner), "idempotency-key": "k" };
    const anew = (text: string) =>
      server.send("POST", at, { id: "chat", trigger: "regenerate-message", messages: [userSays(text)] }, by);
    const made = partsOf((await anew("Two")).body)[0].messageId;
    expect(made).not.toBe(one.parts[0].messageId);
    const before = [(await owner.get(`${at}/chat`)).body.messages, (await owner.get("/v1/threads")).body.data];
    expect(partsOf((await anew("Two")).body)[0].messageId).toBe(made);
    const other = await anew("Three");
    expect([other.status, other.body.error.code]).toEqual([409, "idempotency_key_reused"]);
    expect([(await owner.get(`${at}/chat`)).body.messages, (await owner.get("/v1/threads")).body.data]).toEqual(before);
  });

  test("that was regenerated has all earlier messages, and both threads have the right count after a run is deleted", async () => {
    const { owner, at } = await opened(null, remembering);
    const runOf = async (parts: Json[]) => (await owner.get(`/v1/runs/${parts[0].messageId}`)).body;
    const first = await runOf((await send(owner, at, { messages: [userSays("One")] })).parts);
    const old = `/v1/threads/${first.thread_id}`;
    const notes = Array.from({ length: 55 }, (_, n) => `Note ${n}`);
    for (const content of notes) await owner.post(`${old}/messages`, { role: "user", content });
    const said = [userSays("One"), { id: first.id, role: "assistant", parts: [] }, userSays("Two")];
    await send(owner, at, { messages: said });
    const again = await runOf((await send(owner, at, { messages: said, trigger: "regenerate-message" })).parts);
    const anew = `/v1/threads/${again.thread_id}`;
    const { body } = await owner.get(`${anew}/messages?order=asc&limit=100`);
    expect(body.data.map(({ content }: Json) => content)).toEqual(["One", "One", ...notes, "Two", "Two"]);
    const counts = async () => Promise.all([old, anew].map(async (path) => (await owner.get(path)).body.message_count));
    expect([anew === old, await counts()]).toEqual([false, [59, 59]]);
    expect((await owner.delete(`/v1/runs/${first.id}`)).status).toBe(200);
    expect(await counts()).toEqual([57, 57]);
  });

  test("used by another agent is not found for a key of one agent, even after regeneration", async () => {
    const { owner, agent, at } = await opened(null, remembering);
    const first = await send(owner, at, { messages: [userSays("One")] });
    const { thread_id } = (await owner.get(`/v1/runs/${first.parts[0].messageId}`)).body;
    const { body: other } = await owner.post("/v1/agents", { name: "b", instructions: "", model: "test/echo" });
    await owner.post("/v1/runs?wait=60", { agent_id: other.id, input: "Secret.", thread_id });
    const two = await send(owner, at, { messages: [userSays("Two")] });
    const said = [{ id: two.parts[0].messageId, role: "assistant", parts: [] }, userSays("Three")];
    await send(owner, at, { messages: said });
    await send(owner, at, { messages: said, trigger: "regenerate-message" });
    const { body: key } = await owner.post("/v1/api_keys", { name: "k", scopes: ["read"], agent_ids: [agent] });
    const by = { authorization: `Bearer ${key.secret}` };
    const chat = await server.send("GET", `${at}/chat`, undefined, by);
    const threads = await server.send("GET", "/v1/threads", undefined, by);
    expect([chat.status, threads.status, threads.body.data]).toEqual([404, 200, []]);
    expect((await owner.get("/v1/threads")).body.data).toHaveLength(2);
  });

  test("is resumed from its beginning while its run is not over, stopped, and nothing after that", async () => {
    const { owner, at } = await opened([{ text: "One two three.", delta_ms: 60_000 }]);
    expect((await owner.get(`${at}/chat/stream`)).status).toBe(204);
    const sent = send(owner, at, { messages: [userSays("Go.")] });
    const run = await pollFirst(owner, "/v1/runs");
    const resumed = owner.get(`${at}/chat/stream`);
    while (server.watches.readers(run.id) < 2) await new Promise((resolve) => setImmediate(resolve));
    // The chat is read before the model call.
    for (let steps = 0; steps === 0; ) steps = (await owner.get(`/v1/traces/${run.id}`)).body.steps.length;
    expect((await owner.delete(`${at}/chat/stream`)).status).toBe(204);
    for (const { body } of [await sent, await resumed]) {
      const parts = partsOf(body);
      expect([parts[0].type, parts[0].messageId]).toEqual(["start", run.id]);
      expect(typesOf(parts).slice(-3)).toEqual(["abort", "finish-step", "finish"]);
      expect(parts.at(-1).finishReason).toBe("interrupted");
    }
    expect((await owner.get(`/v1/runs/${run.id}`)).body.status).toBe("cancelled");
    expect((await owner.get(`${at}/chat/stream`)).status).toBe(204);
    expect((await owner.delete(`${at}/chat/stream`)).status).toBe(204);
  });

  test("that waits for its client is resumed with its required calls", async () => {
    const { owner, at } = await asking("output");
    const { parts } = await send(owner, at, { messages: [userSays("Go.")] });
    const again = partsOf((await owner.get(`${at}/chat/stream`)).body);
    expect(typesOf(again)).toEqual(typesOf(parts));
    const next = await send(owner, at, { messages: [userSays("Something else.")] });
    expect(next.parts[0].messageId).not.toBe(parts[0].messageId);
    expect((await owner.get(`/v1/runs/${parts[0].messageId}`)).body.status).toBe("cancelled");
  });
});

test("the text of a restarted model call is taken back", () => {
  const of = { run_id: "run_x", answered: 0, answers: true, asked: [] };
  const dialect = uiMessageDialect(of);
  const frame = (seq: number, event: string, data: object) =>
    dialect.event({ seq, event, at: "", data } as unknown as Frame);
  const token = (text: string) => dialect.token({ kind: "output", text, end: 0 }, { start: 0, step_index: 0, at: 0 });
  const parts = partsOf(
    [
      frame(2, "step.started", { type: "model_call", step_index: 0 }),
      token("Void."),
      frame(3, "step.restarted", { step_index: 0 }),
      token("One."),
      frame(5, "run.completed", { output: "One.", output_json: null, usage: {} }),
    ].join(""),
  );
  expect(typesOf(parts)).toEqual([
    "start",
    "start-step",
    "text-start",
    "text-delta",
    "reset-step",
    "text-start",
    "text-delta",
    "text-end",
    "finish-step",
    "finish",
  ]);
});

test("a failed run is an error, and a truncated answer is marked as such", async () => {
  const { owner, at } = await opened([{ error: "Out of order." }]);
  const { parts } = await send(owner, at, { messages: [userSays("Go.")] });
  expect(parts.at(-1)).toEqual({ type: "error", errorText: expect.stringContaining("Out of order.") });
  expect(parts.at(-2)).toMatchObject({ type: "message-metadata", messageMetadata: { error: { code: "model_error" } } });
  const cut = await opened([{ text: "One two three four." }]);
  const overrides = { model_settings: { max_output_tokens: 2 } };
  const short = await send(cut.owner, cut.at, { messages: [userSays("Go.")], run: { overrides } });
  expect(short.parts.at(-1).finishReason).toBe("length");
});

test("structured output and images have their parts", async () => {
  const output_schema = { type: "object", properties: { n: { type: "integer" } } };
  const { owner, at } = await opened([{ text: '{"n": 4}' }], { output_schema });
  const { parts } = await send(owner, at, { messages: [userSays("Go.")] });
  expect(parts.find(({ type }) => type === "data-output").data).toEqual({ n: 4 });
  const pixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
  const image = { type: "file", mediaType: "image/png", url: `data:image/png;base64,${pixel}` };
  const shown = await opened(null);
  const seen = await send(shown.owner, shown.at, {
    messages: [{ id: "m", role: "user", parts: [{ type: "text", text: "Look." }, image] }],
  });
  expect([seen.status, textOf(seen.parts)]).toEqual([200, "Look."]);
});

test.each<[string, object, number, string, string | null]>([
  ["no messages", { messages: [] }, 400, "validation_failed", "messages"],
  ["no chat", { id: "", messages: [userSays("x")] }, 400, "validation_failed", "id"],
  [
    "a message of the system",
    { messages: [{ role: "system", parts: [] }] },
    400,
    "validation_failed",
    "messages[0].role",
  ],
  ["a message that says nothing", { messages: [userSays("")] }, 400, "validation_failed", "messages[0]"],
  [
    "a file that is no image",
    { messages: [{ role: "user", parts: [{ type: "file", mediaType: "text/plain", url: "data:," }] }] },
    ...([400, "validation_failed", "messages[0].parts[0].mediaType"] as const),
  ],
  [
    "an image at an address",
    { messages: [{ role: "user", parts: [{ type: "file", mediaType: "image/png", url: "https://x/a.png" }] }] },
    ...([400, "validation_failed", "messages[0].parts[0].url"] as const),
  ],
  [
    "an answer that answers nothing",
    { messages: [{ id: "m", role: "assistant", parts: [{ type: "text", text: "x" }] }] },
    ...([400, "validation_failed", "messages[0].parts"] as const),
  ],
  [
    "a field of a run that is none",
    { messages: [userSays("x")], run: { nothing: 1 } },
    400,
    "unknown_parameter",
    "run.nothing",
  ],
  [
    "a run that is asked to stream in another form",
    { messages: [userSays("x")], run: { stream: true } },
    ...([400, "validation_failed", "run.stream"] as const),
  ],
])("%s is rejected, with the parameter", async (_, body, status, code, param) => {
  const { owner, at } = await opened(null);
  const answer = await send(owner, at, body);
  expect([answer.status, answer.body.error?.code, answer.body.error?.param]).toEqual([status, code, param]);
  expect((await owner.get("/v1/runs")).body.data).toEqual([]);
});

describe("access", () => {
  const tokenOf = async (owner: Client, agent_id: string, more: object = {}) => {
    const scopes = ["run", "read", "submit"];
    const { body } = await owner.post("/v1/client_tokens", { agent_id, scopes, expires_in_seconds: 600, ...more });
    return body.token as string;
  };
  const by = (token: string) => ({ authorization: `Bearer ${token}` });
  const asked = (text: string) => ({ id: "chat", messages: [userSays(text)] });

  test("with a token of one user sees no chat of another, though both have the same name", async () => {
    const { owner, agent, at } = await opened([{ text: "One two.", delta_ms: 60_000 }]);
    const [ada, bob] = [
      await tokenOf(owner, agent, { user_id: "ada" }),
      await tokenOf(owner, agent, { user_id: "bob" }),
    ];
    const sent = server.send("POST", at, asked("Go."), by(ada));
    const run = await pollFirst(owner, "/v1/runs");
    for (const method of ["GET", "DELETE"])
      for (const other of [bob, owner.key.secret])
        expect((await server.send(method, `${at}/chat/stream`, undefined, by(other))).status).toBe(204);
    const hers = `${at}/chat/stream?user_id=ada`;
    expect((await server.send("DELETE", `${at}/chat/stream?user_id=ada`, undefined, by(bob))).status).toBe(204);
    expect((await owner.get(`/v1/runs/${run.id}`)).body.status).toBe("in_progress");
    expect((await server.send("DELETE", hers, undefined, by(owner.key.secret))).status).toBe(204);
    expect(partsOf((await sent).body).at(-1).finishReason).toBe("interrupted");
  });

  test("requires a key of this project, agent and scope", async () => {
    const { owner, agent, at } = await opened(null);
    const never = at.replace(agent, "agt_00000000000000000000000000");
    const other = await opened(null);
    const tokens = [other.owner.key.secret, await tokenOf(other.owner, other.agent)];
    for (const [method, path] of [
      ["POST", ""],
      ["GET", "/chat"],
      ["GET", "/chat/stream"],
      ["DELETE", "/chat/stream"],
    ] as const) {
      const body = method === "POST" ? asked("x") : undefined;
      expect((await server.send(method, at + path, body)).status).toBe(401);
      for (const token of tokens) {
        const [theirs, none] = [
          await server.send(method, at + path, body, by(token)),
          await server.send(method, never + path, body, by(token)),
        ];
        expect([path, theirs.status, theirs.body.error]).toEqual([path, none.status, none.body.error]);
        const empty = path === "/chat" ? 200 : 204;
        expect(theirs.status).toBe(method === "POST" || token.startsWith("ct_") ? 404 : empty);
      }
    }
    const { body: reader } = await owner.post("/v1/api_keys", { name: "k", scopes: ["read"] });
    const refused = await server.send("POST", at, asked("x"), by(reader.secret));
    expect([refused.status, refused.body.error.code]).toEqual([403, "insufficient_scope"]);
    expect((await owner.get("/v1/threads")).body.data).toEqual([]);
  });

  test("with a token for a thread or a run has that one alone", async () => {
    const { owner, agent, at } = await opened(null);
    const { body: thread } = await owner.post("/v1/threads", { user_id: "ada" });
    const bound = by(await tokenOf(owner, agent, { thread_id: thread.id }));
    const { body } = await server.send("POST", at, asked("x"), bound);
    const id = partsOf(body)[0].messageId;
    expect((await owner.get(`/v1/runs/${id}`)).body.thread_id).toBe(thread.id);
    const anew = await server.send("POST", at, { ...asked("x"), trigger: "regenerate-message" }, bound);
    expect([anew.status, anew.body.error.code]).toEqual([403, "insufficient_scope"]);
    const ofRun = await server.send("POST", at, asked("x"), by(await tokenOf(owner, agent, { run_id: id })));
    expect([ofRun.status, ofRun.body.error.code]).toEqual([403, "insufficient_scope"]);
  });

  test("may only start and read gets no calls to answer: others answer them", async () => {
    const { owner, at } = await asking("approval");
    const agent = at.split("/")[4]!;
    const token = await tokenOf(owner, agent, { scopes: ["run", "read"] });
    const sent = server.send("POST", at, asked("Go."), by(token));
    const { run_id, id } = await pollFirst<Json>(owner, "/v1/approvals");
    await owner.post(`/v1/runs/${run_id}/submit_tool_outputs`, {
      tool_outputs: [{ tool_call_id: id, decision: "approve" }],
    });
    expect(textOf(partsOf((await sent).body))).toBe("Done.");
  });
});

test("a stopping server sends an error, so that clients do not take a part for the whole", async () => {
  await using other = testApp();
  const owner = await other.client();
  const model_settings = { script: [{ delta_ms: 60_000, text: "One two three." }] };
  const agent = (await owner.post("/v1/agents", { name: "a", instructions: "", model: "test/script", model_settings }))
    .body;
  const sent = send(owner, `/ui/v1/agents/${agent.id}/chat`, { messages: [userSays("Go.")] });
  const run = await pollFirst(owner, "/v1/runs");
  while (other.watches.readers(run.id) === 0) await new Promise((resolve) => setImmediate(resolve));
  await other.stop();
  expect((await sent).parts.at(-1)).toMatchObject({ type: "error", errorText: expect.stringContaining("stopping") });
});

test("a token is refused on pages of origins that are not allowed, and once it has expired, also during a stream", async () => {
  let time = Date.now();
  await using other = testApp({ now: () => time });
  const owner = await other.client();
  const model_settings = { script: [{ delta_ms: 60_000, text: "One two three." }] };
  const body = { name: "a", instructions: "", model: "test/script", model_settings };
  const { id } = (await owner.post("/v1/agents", body)).body;
  const at = `/ui/v1/agents/${id}/chat`;
  const asked = { agent_id: id, scopes: ["run", "read"], expires_in_seconds: 60 };
  const { token } = (await owner.post("/v1/client_tokens", asked)).body;
  const by = { authorization: `Bearer ${token}` };
  const message = { id: "chat", messages: [userSays("Go.")] };
  const elsewhere = await other.send("POST", at, message, { ...by, origin: "https://evil.example" });
  expect([elsewhere.status, elsewhere.body.error.code]).toEqual([403, "origin_not_allowed"]);
  const sent = other.send("POST", at, message, by);
  const run = await pollFirst(owner, "/v1/runs");
  while (other.watches.readers(run.id) === 0) await new Promise((resolve) => setImmediate(resolve));
  time += 61_000;
  expect(partsOf((await sent).body).at(-1)).toEqual({ type: "error", errorText: expect.stringContaining("over") });
  const late = await other.send("GET", `${at}/chat/stream`, undefined, by);
  expect([late.status, late.body.error.code]).toEqual([401, "client_token_expired"]);
  expect((await owner.get(`/v1/runs/${run.id}`)).body.status).toBe("in_progress");
});
