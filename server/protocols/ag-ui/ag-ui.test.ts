import { afterAll, describe, expect, test } from "bun:test";
import type { Frame } from "../../domain/api-types/frames.ts";
import { pollFirst } from "../../testing/poll-first.ts";
import { type Client, testApp } from "../../testing/test-app.ts";
import { agUiDialect } from "./dialect.ts";

const server = testApp();
afterAll(() => server[Symbol.asyncDispose]());

// biome-ignore lint/suspicious/noExplicitAny: events of the protocol.
type Json = any;

async function opened(script: object[] | null, more: object = {}) {
  const owner = await server.client({ project: crypto.randomUUID() });
  const model = script ? { model: "test/script", model_settings: { script } } : { model: "test/echo" };
  const made = await owner.post("/v1/agents", { name: "a", instructions: "", ...model, ...more });
  expect(made.body.error).toBeUndefined();
  return { owner, agent: made.body.id as string, at: `/ag-ui/v1/agents/${made.body.id}` };
}

const remembering = { memory: { history: { mode: "thread" } } };
const userSays = (content: unknown, id: string = crypto.randomUUID()) => ({ id, role: "user", content });

const eventsOf = (text: string): Json[] =>
  text.split("\n").flatMap((line) => (line.startsWith("data: ") ? [JSON.parse(line.slice(6))] : []));
const typesOf = (events: Json[]): string[] => events.map(({ type }) => type);
const spoken = (events: Json[]): string =>
  events.map(({ type, delta }) => (type === "TEXT_MESSAGE_CONTENT" ? delta : "")).join("");
const withoutSteps = (events: Json[]): string[] => typesOf(events).filter((type) => !/^STEP_|_CONTENT$/.test(type));

const bodyOf = (body: object) => ({
  threadId: "t",
  runId: "r",
  messages: [],
  tools: [],
  context: [],
  state: {},
  protocolVersion: "1.0",
  ...body,
});
async function send(client: Client, at: string, body: object) {
  const answer = await client.post(at, bodyOf(body));
  return { ...answer, events: answer.status === 200 ? eventsOf(answer.body) : [] };
}
const runOf = async (client: Client, events: Json[]) =>
  (await client.get(`/v1/runs/${events[0].metadata.run_id}`)).body;

test("a request is a run, and its answer a message of the assistant", async () => {
  const { owner, agent, at } = await opened(null);
  const { status, headers, events } = await send(owner, at, { messages: [userSays("Hello you")] });
  expect([status, headers.get("content-type")]).toEqual([200, "text/event-stream; charset=utf-8"]);
  expect(events[0]).toMatchObject({ type: "RUN_STARTED", threadId: "t", runId: "r", protocolVersion: "1.0" });
  expect(typesOf(events).filter((type, index, all) => type !== all[index - 1])).toEqual([
    "RUN_STARTED",
    "STEP_STARTED",
    "TEXT_MESSAGE_START",
    "TEXT_MESSAGE_CONTENT",
    "TEXT_MESSAGE_END",
    "STEP_FINISHED",
    "RUN_FINISHED",
  ]);
  expect(events.at(-1)).toMatchObject({ outcome: { type: "success" }, usage: [{ totalTokens: expect.any(Number) }] });
  const run = await runOf(owner, events);
  expect([run.agent_id, run.input, run.output, spoken(events)]).toEqual([agent, ...Array(3).fill("Hello you")]);
});

test("reasoning, the calls of the agent's own tools and their results are events", async () => {
  const owner = await server.client({ project: crypto.randomUUID() });
  const { body: tool } = await owner.post("/v1/tools", { name: "add", type: "code", source: "({a, b}) => a + b" });
  const script = [{ reasoning: "Add.", tool_calls: [{ name: "add", arguments: { a: 1, b: 2 } }] }, { text: "Three." }];
  const agent = { name: "a", instructions: "", model: "test/script", model_settings: { script }, tools: [tool.id] };
  const { body } = await owner.post("/v1/agents", agent);
  const { events } = await send(owner, `/ag-ui/v1/agents/${body.id}`, { messages: [userSays("Go.")] });
  expect(withoutSteps(events)).toEqual([
    "RUN_STARTED",
    "REASONING_START",
    "REASONING_MESSAGE_START",
    "REASONING_MESSAGE_END",
    "REASONING_END",
    "TOOL_CALL_START",
    "TOOL_CALL_ARGS",
    "TOOL_CALL_END",
    "TOOL_CALL_RESULT",
    "TEXT_MESSAGE_START",
    "TEXT_MESSAGE_END",
    "RUN_FINISHED",
  ]);
  const [args, result] = ["TOOL_CALL_ARGS", "TOOL_CALL_RESULT"].map((type) => events.find((one) => one.type === type));
  expect([JSON.parse(args.delta), JSON.parse(result.content).result]).toEqual([{ a: 1, b: 2 }, 3]);
  const begun = events.filter(({ type }) => type === "STEP_STARTED").map(({ stepName }) => stepName);
  expect(events.filter(({ type }) => type === "STEP_FINISHED").map(({ stepName }) => stepName)).toEqual(begun);
});

const ask = { name: "ask", description: "Asks.", parameters: { type: "object" } };
const asking = [
  { reasoning: "Look.", text: "Well.", tool_calls: [{ name: "ask", arguments: { n: 1 } }] },
  { text: "Done." },
];

describe("a tool of the request", () => {
  test("is called by the client, and its result resumes the run, also when it is sent twice", async () => {
    const { owner, at } = await opened(asking);
    const { events } = await send(owner, at, { messages: [userSays("Go.")], tools: [ask] });
    const call = events.find(({ type }) => type === "TOOL_CALL_START");
    const text = events.find(({ type }) => type === "TEXT_MESSAGE_START");
    expect([call.toolCallName, call.parentMessageId]).toEqual(["ask", text.messageId]);
    expect(events.at(-1).outcome).toEqual({ type: "success", pendingToolCallIds: [call.toolCallId] });
    const toolCalls = [{ id: call.toolCallId, type: "function", function: { name: "ask", arguments: "{}" } }];
    const messages = [
      userSays("Go."),
      { id: text.messageId, role: "assistant", content: "Well.", toolCalls },
      { id: "m", role: "tool", toolCallId: call.toolCallId, content: '{"ok":true}' },
    ];
    for (const runId of ["r2", "r3"]) {
      const more = await send(owner, at, { messages, tools: [ask], runId });
      expect(withoutSteps(more.events)).toEqual([
        "RUN_STARTED",
        "TEXT_MESSAGE_START",
        "TEXT_MESSAGE_END",
        "RUN_FINISHED",
      ]);
      expect([more.events[0].runId, spoken(more.events)]).toEqual([runId, "Done."]);
    }
    const run = await runOf(owner, events);
    expect([run.usage.model_calls, run.tool_calls[0].output]).toEqual([2, { ok: true }]);
    const other = [...messages.slice(0, -1), { ...messages.at(-1), content: "other" }];
    const refused = await send(owner, at, { messages: other });
    expect([refused.status, refused.body.error.code, refused.body.error.param]).toEqual([
      409,
      "tool_call_already_resolved",
      "messages[2].toolCallId",
    ]);
  });

  test("may go wrong, and is a token's to bring where it may answer", async () => {
    const { owner, agent, at } = await opened(asking);
    const scopes = ["run", "read", "submit"];
    const { body } = await owner.post("/v1/client_tokens", { agent_id: agent, scopes, expires_in_seconds: 600 });
    const by = { authorization: `Bearer ${body.token}` };
    const sent = bodyOf({
      messages: [userSays("Go.")],
      tools: [ask],
      context: [{ description: "Where", value: "Oslo" }],
    });
    const events = eventsOf((await server.send("POST", at, sent, by)).body);
    const { toolCallId } = events.find(({ type }) => type === "TOOL_CALL_START");
    const messages = [userSays("Go."), { id: "m", role: "tool", toolCallId, content: "", error: "No." }];
    expect(spoken(eventsOf((await server.send("POST", at, bodyOf({ messages }), by)).body))).toBe("Done.");
    const run = await runOf(owner, events);
    expect([run.tool_calls[0].error.message, run.messages[0].content]).toEqual(["No.", "Where: Oslo"]);
    const less = (
      await owner.post("/v1/client_tokens", { agent_id: agent, scopes: ["run", "read"], expires_in_seconds: 600 })
    ).body;
    const refused = await server.send("POST", at, sent, { authorization: `Bearer ${less.token}` });
    expect([refused.status, refused.body.error.param]).toEqual([403, "tools"]);
  });
});

test.each([
  ["9007199254740993", null],
  ["1e5", null],
  ['{"id": 9007199254740993}', null],
  ["[1.50]", null],
  ["[1, no", null],
  ['{"id": -1.5, "text": "00 \\"1e5"}', { id: -1.5, text: '00 "1e5' }],
])("the result %p of a tool loses nothing on its way", async (content, read) => {
  const { owner, at } = await opened(asking);
  const { events } = await send(owner, at, { messages: [userSays("Go.")], tools: [ask] });
  const { toolCallId } = events.find(({ type }) => type === "TOOL_CALL_START");
  await send(owner, at, { messages: [userSays("Go."), { id: "m", role: "tool", toolCallId, content }] });
  expect((await runOf(owner, events)).tool_calls[0].output).toEqual(read ?? content);
});

test("a client from before 1.0 receives no outcome that it does not know", async () => {
  const { owner, at } = await opened(asking);
  const { events } = await send(owner, at, { messages: [userSays("Go.")], tools: [ask], protocolVersion: undefined });
  expect(events.at(-1).outcome).toEqual({ type: "success" });
  const told = send(owner, at, { protocolVersion: undefined, runId: "r2" });
  expect((await told).events.at(-1).outcome).toEqual({ type: "success" });
});

describe("an approval", () => {
  async function waiting(call = { name: "ask", arguments: {} }) {
    const owner = await server.client({ project: crypto.randomUUID() });
    const { body: tool } = await owner.post("/v1/tools", {
      name: "ask",
      type: "code",
      source: "() => 7",
      approval: "always",
    });
    const script = [{ tool_calls: [call] }, { text: "Done." }];
    const agent = { name: "a", instructions: "", model: "test/script", model_settings: { script }, tools: [tool.id] };
    const at = `/ag-ui/v1/agents/${(await owner.post("/v1/agents", agent)).body.id}`;
    const { events } = await send(owner, at, { messages: [userSays("Go.")] });
    const [interrupt] = events.at(-1).outcome.interrupts;
    return { owner, at, events, interrupt };
  }

  test.each([
    [{ status: "resolved", payload: { approved: true, reason: "So." } }, "completed", 1],
    [{ status: "resolved", payload: true }, "completed", 1],
    [{ status: "resolved", payload: { approved: false } }, "rejected", 1],
    [{ status: "cancelled" }, "rejected", 1],
  ])("is an interrupt, and %j answers it", async (answer, status, results) => {
    const { owner, at, events, interrupt } = await waiting();
    expect(events.at(-1).outcome.type).toBe("interrupt");
    expect(interrupt).toMatchObject({ reason: "tool_approval", toolCallId: expect.stringMatching(/^call_/) });
    expect(Date.parse(interrupt.expiresAt)).toBeGreaterThan(Date.now());
    const resume = [{ interruptId: interrupt.id, ...answer }];
    const more = await send(owner, at, { resume, runId: "r2" });
    expect(spoken(more.events)).toBe("Done.");
    expect(more.events.filter(({ type }) => type === "TOOL_CALL_RESULT").length).toBe(results);
    expect(more.events.filter(({ type }) => type === "TOOL_CALL_START")).toEqual([]);
    expect((await runOf(owner, events)).tool_calls[0].status).toBe(status);
  });

  test.each([
    [{ interruptId: "x", status: "resolved", payload: true }, 400, "validation_failed", "resume[0].interruptId"],
    [{ status: "resolved", payload: "perhaps" }, 400, "validation_failed", "resume[0].payload"],
    [
      { interruptId: "run_00000000000000000000000000/call_x", status: "cancelled" },
      ...([404, "resource_not_found", null] as const),
    ],
  ])("is not answered by %j, and the error names the parameter", async (answer, status, code, param) => {
    const { owner, at, interrupt } = await waiting();
    const refused = await send(owner, at, { resume: [{ interruptId: interrupt.id, ...answer }] });
    expect([refused.status, refused.body.error.code, refused.body.error.param]).toEqual([status, code, param]);
    const unknown = [{ interruptId: interrupt.id.replace(/call_\w+/, "call_x"), status: "cancelled" }];
    const never = await send(owner, at, { resume: unknown });
    expect([never.status, never.body.error.param]).toEqual([400, "resume[0].interruptId"]);
  });
});

describe("a conversation", () => {
  test("is a thread: the client's copy is ignored, and messages it has not seen are removed", async () => {
    const { owner, at } = await opened(null, remembering);
    const one = await send(owner, at, { messages: [userSays("One")] });
    const { messageId } = one.events.find(({ type }) => type === "TEXT_MESSAGE_START");
    const answer = { id: messageId, role: "assistant", content: "Forged." };
    const two = await send(owner, at, { messages: [userSays("One"), answer, userSays("Two")] });
    const anew = await send(owner, at, { messages: [userSays("One"), answer, userSays("Zwei")] });
    const threads = await Promise.all(
      [two, anew].map(async ({ events }) => {
        const { thread_id } = await runOf(owner, events);
        const { body } = await owner.get(`/v1/threads/${thread_id}/messages?order=asc`);
        return body.data.map(({ content }: Json) => content);
      }),
    );
    expect(threads).toEqual([
      ["One", "One", "Two", "Two"],
      ["One", "One", "Zwei", "Zwei"],
    ]);
  });

  test("continues when the client's last message is gone, and with another agent", async () => {
    const { owner, at } = await opened(null, remembering);
    const { body: second } = await owner.post("/v1/agents", { name: "b", instructions: "", model: "test/echo" });
    const one = await send(owner, at, { messages: [userSays("One")] });
    const { messageId } = one.events.find(({ type }) => type === "TEXT_MESSAGE_START");
    const first = await runOf(owner, one.events);
    const messages = [userSays("One"), { id: messageId, role: "assistant", content: "One" }, userSays("Two")];
    expect(spoken((await send(owner, `/ag-ui/v1/agents/${second.id}`, { messages })).events)).toBe("Two");
    expect((await owner.delete(`/v1/runs/${first.id}`)).status).toBe(200);
    const two = await send(owner, at, { messages });
    expect([spoken(two.events), (await runOf(owner, two.events)).thread_id]).toEqual(["Two", first.thread_id]);
  });

  test("is sent to a client without a message, with the active run", async () => {
    const { owner, at } = await opened([{ text: "One two.", delta_ms: 60_000 }]);
    const empty = await send(owner, at, {});
    expect(typesOf(empty.events)).toEqual(["RUN_STARTED", "MESSAGES_SNAPSHOT", "RUN_FINISHED"]);
    const sent = send(owner, at, { messages: [userSays("Go.")] });
    const run = await pollFirst(owner, "/v1/runs");
    const told = send(owner, at, {});
    while (server.watches.readers(run.id) < 2) await new Promise((resolve) => setImmediate(resolve));
    await owner.post(`/v1/runs/${run.id}/cancel`, {});
    const { events } = await told;
    expect(events[1].messages).toEqual([{ id: expect.any(String), role: "user", content: "Go." }]);
    for (const { events: all } of [await sent, await told]) expect(all.at(-1).outcome).toEqual({ type: "cancelled" });
    const after = await send(owner, at, {});
    expect(after.events[1].messages[0]).toMatchObject({ role: "user", content: "Go." });
  });
});

test("context, state, images and fields of a run go to the run, and structured output is the state", async () => {
  const output_schema = { type: "object", properties: { n: { type: "integer" } } };
  const { owner, at } = await opened([{ text: '{"n": 4}' }], { output_schema });
  const { events } = await send(owner, at, {
    messages: [userSays("Go.")],
    context: [{ description: "Where", value: "Oslo" }],
    state: { n: 3 },
    forwardedProps: { run: { metadata: { a: "b" } }, user_id: "ada", other: 1 },
  });
  expect(events.find(({ type }) => type === "STATE_SNAPSHOT").snapshot).toEqual({ n: 4 });
  expect(events.at(-1).result).toEqual({ n: 4 });
  const run = await runOf(owner, events);
  expect([run.metadata, run.user_id, run.messages[0].content]).toEqual([{ a: "b" }, "ada", "Go."]);
  const { body: trace } = await owner.get(`/v1/traces/${run.id}?include=raw`);
  expect(JSON.stringify(trace)).toContain("Where: Oslo");
  expect(JSON.stringify(trace)).toContain('The state of the application: {\\"n\\":3}');
  const value = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
  const image = { type: "image", source: { type: "data", value, mimeType: "image/png" } };
  const shown = await opened(null);
  const seen = await send(shown.owner, shown.at, { messages: [userSays([{ type: "text", text: "Look." }, image])] });
  expect([seen.status, spoken(seen.events)]).toEqual([200, "Look."]);
});

test("a run that fails is an error with its code", async () => {
  const { owner, at } = await opened([{ error: "Out of order." }]);
  const { events } = await send(owner, at, { messages: [userSays("Go.")] });
  expect(events.at(-1)).toMatchObject({ type: "RUN_ERROR", code: "model_error" });
});

test("the text of a restarted model call is taken back, and no other", () => {
  const messages = [userSays("Go.")];
  const dialect = agUiDialect({
    run_id: "run_x",
    threadId: "t",
    runId: "r",
    messages,
    results: new Set(),
    told: [],
    snapshot: false,
    answered: 0,
    answers: true,
    isCurrent: true,
  });
  const frame = (seq: number, event: string, data: object) =>
    dialect.event({ seq, event, at: "", data } as unknown as Frame);
  const token = (text: string) => dialect.token({ kind: "output", text, end: 0 }, { start: 0, step_index: 0, at: 0 });
  const call = { tool_call_id: "c", tool: "f", args: {} };
  const first = [
    frame(2, "step.started", { type: "model_call", step_index: 0 }),
    token("One."),
    frame(4, "tool.requested", call),
  ];
  const events = eventsOf(
    [
      ...first,
      frame(6, "step.started", { type: "model_call", step_index: 1 }),
      token("Void."),
      frame(7, "step.restarted", { step_index: 1 }),
      token("Two."),
      frame(9, "run.completed", { output: "Two.", output_json: null }),
    ].join(""),
  );
  const snapshot = events.find(({ type }) => type === "MESSAGES_SNAPSHOT");
  expect(snapshot.messages.map(({ id, content }: Json) => [id, content])).toEqual([
    [messages[0]!.id, "Go."],
    ["run_x-2", "One."],
  ]);
  expect(snapshot.messages[1].toolCalls).toHaveLength(1);
  const ids = events.filter(({ type }) => type === "TEXT_MESSAGE_START").map(({ messageId }) => messageId);
  expect(ids).toEqual(["run_x-2", "run_x-6", "run_x-7"]);
});

test.each<[string, object, number, string, string | null]>([
  ["no thread", { threadId: "" }, 400, "validation_failed", "threadId"],
  ["messages that are none", { messages: "x" }, 400, "validation_failed", "messages"],
  ["a message that says nothing", { messages: [userSays("")] }, 400, "validation_failed", "messages[0]"],
  ["a sound", { messages: [userSays([{ type: "audio" }])] }, 400, "validation_failed", "messages[0].content[0].type"],
  [
    "an image at an address",
    { messages: [userSays([{ type: "image", source: { type: "url", value: "https://x/a.png" } }])] },
    ...([400, "validation_failed", "messages[0].content[0].source.type"] as const),
  ],
  [
    "a result of no call",
    { messages: [{ id: "m", role: "tool", content: "x" }] },
    ...([400, "validation_failed", "messages[0].toolCallId"] as const),
  ],
  [
    "a result of a call that never was",
    { messages: [{ id: "m", role: "tool", content: "x", toolCallId: "call_x" }] },
    ...([400, "tool_call_not_found", "messages[0].toolCallId"] as const),
  ],
  [
    "a run that is asked to stream in another form",
    { messages: [userSays("x")], forwardedProps: { run: { stream: true } } },
    ...([400, "validation_failed", "forwardedProps.run.stream"] as const),
  ],
  [
    "a state that is too long",
    { messages: [userSays("x")], state: { a: "x".repeat(262_144) } },
    ...([400, "validation_failed", "state"] as const),
  ],
  [
    "two tools of one name",
    { messages: [userSays("x")], tools: [ask, ask] },
    400,
    "validation_failed",
    "tools[1].name",
  ],
])("%s is rejected, with the parameter", async (_, body, status, code, param) => {
  const { owner, at } = await opened(null);
  const answer = await send(owner, at, body);
  expect([answer.status, answer.body.error?.code, answer.body.error?.param]).toEqual([status, code, param]);
  expect((await owner.get("/v1/runs")).body.data).toEqual([]);
});

test("requests without a key, or with one of another project, agent or scope, are refused", async () => {
  const { owner, agent, at } = await opened(null);
  const never = at.replace(agent, "agt_00000000000000000000000000");
  const other = await opened(null);
  const bodies = [
    bodyOf({ messages: [userSays("x")] }),
    bodyOf({ messages: [{ id: "m", role: "tool", content: "x", toolCallId: "c" }] }),
  ];
  for (const body of bodies) {
    expect((await server.send("POST", at, body)).status).toBe(401);
    const by = { authorization: `Bearer ${other.owner.key.secret}` };
    const [theirs, none] = [await server.send("POST", at, body, by), await server.send("POST", never, body, by)];
    expect([theirs.status, theirs.body.error]).toEqual([none.status, none.body.error]);
    expect(theirs.status).toBeGreaterThanOrEqual(400);
  }
  const { body: reader } = await owner.post("/v1/api_keys", { name: "k", scopes: ["read"] });
  const refused = await server.send("POST", at, bodies[0], { authorization: `Bearer ${reader.secret}` });
  expect([refused.status, refused.body.error.code]).toEqual([403, "insufficient_scope"]);
});
