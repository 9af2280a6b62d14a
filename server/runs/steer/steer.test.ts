import { expect, test } from "bun:test";
import { type ChatAnswer, startChatServer } from "../../testing/model-server.ts";
import { rejection } from "../../testing/rejection.ts";
import { agentTool, runFixture, textOfFrames, tool } from "../../testing/run-fixture.ts";
import { settledRun } from "../../testing/settled-run.ts";
import { type Client, testApp } from "../../testing/test-app.ts";

const hour_ms = 3_600_000;

const said = (run: { messages: object[] }) =>
  (run.messages as { role: string; content: string }[]).map(({ role, content }) => `${role}: ${content}`);
const typesOf = (fixture: ReturnType<typeof runFixture>, id: string) =>
  fixture.journal.read(id).map(({ event }) => event.type);
const started = (fixture: ReturnType<typeof runFixture>, id: string) =>
  fixture.until(id, ({ event }) => event.type === "step.started");

/** Starts a model that answers on demand. */
function heldModel() {
  const waiting: ((answer: ChatAnswer) => void)[] = [];
  let asked = Promise.withResolvers<void>();
  const chat = startChatServer((_, __, gone) => {
    const { promise, resolve } = Promise.withResolvers<ChatAnswer>();
    waiting.push(resolve);
    gone.addEventListener("abort", () => resolve(textAnswer("")));
    asked.resolve();
    asked = Promise.withResolvers();
    return promise;
  });
  return {
    environment: chat.environment,
    requests: chat.requests,
    /** Waits for the next call, and returns the function that answers it. */
    async next() {
      while (waiting.length === 0) await asked.promise;
      return waiting.shift()!;
    },
    [Symbol.asyncDispose]: () => chat[Symbol.asyncDispose](),
  };
}

const textAnswer = (text: string, more: Partial<ChatAnswer> = {}): ChatAnswer => ({
  text,
  prompt_tokens: 10,
  completion_tokens: 2,
  ...more,
});

async function agentOf(client: Client, more: object = {}): Promise<string> {
  const agent = { name: "Clerk", instructions: "", model: "openai_compatible/stub/m", ...more };
  return (await client.post("/v1/agents", agent)).body.id;
}

const start = async (client: Client, agent_id: string, more: object = {}): Promise<string> =>
  (await client.post("/v1/runs", { agent_id, input: "Hello", ...more })).body.id;

const steer = (client: Client, id: string, content: unknown, more: object = {}) =>
  client.post(`/v1/runs/${id}/messages`, { role: "user", content, ...more });

const eventsOf = async (client: Client, id: string) =>
  ((await client.get(`/v1/runs/${id}/events?limit=100`)).body.data as { event: string }[]).map(({ event }) => event);

test("a message that comes while the model answers is not in that call, but in the next one, also after a final answer", async () => {
  await using model = heldModel();
  await using server = testApp({ environment: model.environment });
  const client = await server.client();
  const id = await start(client, await agentOf(client));
  const answer = await model.next();
  const { status, body } = await steer(client, id, "And in French?");
  expect([status, body.id, body.status]).toEqual([200, id, "in_progress"]);
  answer(textAnswer("Good day."));
  (await model.next())(textAnswer("Bonjour."));
  const run = await settledRun(server, client, id);
  expect(said(run)).toEqual(["user: Hello", "assistant: Good day.", "user: And in French?", "assistant: Bonjour."]);
  expect([run.status, run.output, run.usage.model_calls]).toEqual(["completed", "Bonjour.", 2]);
  expect(model.requests.map(({ messages }) => messages.map(({ content }) => content).filter(Boolean))).toEqual([
    ["Hello"],
    ["Hello", "Good day.", "And in French?"],
  ]);
  expect(await eventsOf(client, id)).toEqual([
    "run.created",
    "step.started",
    "run.steered",
    "step.completed",
    "step.started",
    "step.completed",
    "run.completed",
  ]);
});

test("a retry of a call has the same prompt: the message waits for the next step", async () => {
  await using model = heldModel();
  await using server = testApp({ environment: model.environment });
  const client = await server.client();
  const id = await start(client, await agentOf(client));
  const first = await model.next();
  await steer(client, id, "And in French?");
  first(textAnswer("Good", { finish: null })); // The stream breaks off.
  (await model.next())(textAnswer("Good day."));
  (await model.next())(textAnswer("Bonjour."));
  await settledRun(server, client, id);
  expect(model.requests.map(({ messages }) => messages.at(-1)?.content)).toEqual(["Hello", "Hello", "And in French?"]);
});

test("the same key and message are taken once, and several messages keep their order", async () => {
  await using model = heldModel();
  await using server = testApp({ environment: model.environment });
  const client = await server.client();
  const id = await start(client, await agentOf(client));
  const answer = await model.next();
  const headers = { authorization: `Bearer ${client.key.secret}`, "idempotency-key": "once" };
  const once = () => server.send("POST", `/v1/runs/${id}/messages`, { role: "user", content: "One" }, headers);
  const first = await once();
  await steer(client, id, "Two");
  const again = await once();
  expect([first.status, again.status, again.headers.get("idempotent-replayed")]).toEqual([200, 200, "true"]);
  expect({ ...again.body, request_id: "" }).toEqual({ ...first.body, request_id: "" });
  answer(textAnswer("Well."));
  (await model.next())(textAnswer("Done."));
  const run = await settledRun(server, client, id);
  expect(said(run).filter((text) => text.startsWith("user"))).toEqual(["user: Hello", "user: One", "user: Two"]);
});

test("an interrupting message ends the call: its text stays, marked, and its calls are not made", async () => {
  using fixture = runFixture();
  const call = { name: "look", arguments: {} };
  const run = await fixture.start([{ text: "One two", delta_ms: hour_ms, tool_calls: [call] }, { text: "Stopped." }], {
    tools: [tool("look")],
  });
  const reading = fixture.stream(run.id);
  await fixture.stream(run.id, undefined, ({ event }) => event === "token");
  await fixture.service.steer(fixture.author, run.id, { content: "Stop", interrupt: true });
  const done = await fixture.settled(run.id);
  expect(done.messages).toMatchObject([
    { role: "user", content: "Hello" },
    { role: "assistant", content: "One ", interrupted: true },
    { role: "user", content: "Stop", steered: true },
    { role: "assistant", content: "Stopped." },
  ]);
  expect([done.status, done.tool_calls, done.usage.model_calls]).toEqual(["completed", [], 2]);
  expect(done.usage.output_tokens).toBeGreaterThan(1);
  expect(done.usage.estimated).toBe(true);
  expect(textOfFrames(await reading)).toBe("One Stopped.");
  const ended = fixture.journal.read(run.id).find(({ event }) => event.type === "step.completed")?.event;
  expect(ended).toMatchObject({ status: "cancelled", error: { code: "interrupted" }, answer: { interrupted: true } });
});

test("an interrupting message before the first word leaves no empty answer", async () => {
  using fixture = runFixture();
  const run = await fixture.start([{ text: "One", delay_ms: hour_ms }]);
  await started(fixture, run.id);
  await fixture.service.steer(fixture.author, run.id, { content: "Quietly" });
  void fixture.service.steer(fixture.author, run.id, { content: "Stop", interrupt: true });
  await fixture.until(run.id, ({ seq, event }) => event.type === "step.started" && seq > 3);
  const now = fixture.runs.get(fixture.scope, run.id);
  expect(said(now)).toEqual(["user: Hello", "user: Quietly", "user: Stop"]);
  expect(now.usage.cost_usd).toBe(0);
  await fixture.service.cancel(fixture.scope, run.id, null);
});

test("a run that waits for an answer keeps the message until it goes on: the results come first", async () => {
  using fixture = runFixture();
  const call = { name: "look", arguments: {} };
  const run = await fixture.start([{ text: "Wait.", tool_calls: [call] }, { text: "Done." }], {
    tools: [tool("look")],
  });
  const waiting = await fixture.settled(run.id);
  await fixture.service.steer(fixture.author, run.id, { content: "Hurry", interrupt: true });
  const [asked] = waiting.required_action!.submit_tool_outputs.tool_calls;
  await fixture.service.submit(fixture.scope, run.id, [{ tool_call_id: asked!.tool_call_id, output: "blue" }]);
  const done = await fixture.settled(run.id);
  expect(done.output).toBe("Done.");
  const prompts = fixture.journal.state(run.id);
  expect(said({ messages: done.messages })).toEqual([
    "user: Hello",
    "assistant: Wait.",
    "user: Hurry",
    "tool: blue",
    "assistant: Done.",
  ]);
  const { conversation } = await import("../../domain/prompt.ts");
  expect(conversation(prompts).map(({ role }) => role)).toEqual(["user", "assistant", "tool", "user", "assistant"]);
  expect(typesOf(fixture, run.id).filter((type) => type === "run.steered")).toHaveLength(1);
});

test("a run that is over, or has begun its last model call, refuses a message with 409", async () => {
  using fixture = runFixture();
  const done = await fixture.start([{ text: "Done." }]);
  await fixture.settled(done.id);
  const send = (id: string) => rejection(fixture.service.steer(fixture.author, id, { content: "More" }));
  expect(await send(done.id)).toMatchObject({ code: "run_already_terminal" });
  const last = await fixture.start([{ text: "Last.", delay_ms: hour_ms }], { agent: { max_turns: 1 } });
  await started(fixture, last.id);
  expect(await send(last.id)).toMatchObject({ code: "run_not_steerable" });
  await fixture.service.cancel(fixture.scope, last.id, null);
  expect(await send(last.id)).toMatchObject({ code: "run_already_terminal" });
  expect(typesOf(fixture, last.id)).not.toContain("run.steered");
});

test("of a message and the end of the run, exactly one is first: no message is lost", async () => {
  using fixture = runFixture();
  const outcomes = new Set<string>();
  for (let index = 0; index < 60; index++) {
    const run = await fixture.start([{ text: "One." }, { text: "Two." }]);
    for (let turn = 0; turn < index % 12; turn++) await new Promise(setImmediate);
    const [result] = await Promise.allSettled([fixture.service.steer(fixture.author, run.id, { content: "More" })]);
    const done = await fixture.settled(run.id);
    const taken = result.status === "fulfilled";
    outcomes.add(result.status);
    if (!taken) expect(result.reason).toMatchObject({ code: "run_already_terminal" });
    const texts = said(done);
    expect([done.status, texts.filter((text) => text === "user: More").length]).toEqual(["completed", taken ? 1 : 0]);
    if (taken) expect(texts.at(-1)).toStartWith("assistant");
  }
  expect([...outcomes].sort()).toEqual(["fulfilled", "rejected"]);
});

test("bad messages are refused with their field", async () => {
  await using server = testApp();
  const client = await server.client();
  const script = [{ text: "One.", delay_ms: 600_000 }];
  const id = await start(client, await agentOf(client, { model: "test/script", model_settings: { script } }));
  const refused = async (body: object) => {
    const { status, body: answer } = await client.post(`/v1/runs/${id}/messages`, body);
    return [status, answer.error.code, answer.error.param];
  };
  expect(await refused({ role: "assistant", content: "No" })).toEqual([400, "validation_failed", "role"]);
  expect(await refused({ role: "user" })).toEqual([400, "validation_failed", "content"]);
  expect(await refused({ role: "user", content: "" })).toEqual([400, "validation_failed", "content"]);
  expect(await refused({ role: "user", content: "x".repeat(1_048_576) })).toEqual([413, "payload_too_large", null]);
  expect(await refused({ role: "user", content: "x".repeat(300_000) })).toEqual([400, "validation_failed", "content"]);
  expect(await refused({ role: "user", content: "ä".repeat(200_000) })).toEqual([400, "validation_failed", "content"]);
  const file = { type: "file", file_id: "file_00000000000000000000000000" };
  expect(await refused({ role: "user", content: [file] })).toEqual([400, "validation_failed", "content[0].file_id"]);
  expect((await steer(client, "run_0000000000000000000000000a", "Hi")).status).toBe(404);
  for (let count = 0; count < 30; count++) expect((await steer(client, id, `${count}`)).status).toBe(200);
  expect(await refused({ role: "user", content: "31" })).toEqual([409, "run_not_steerable", null]);
  expect((await client.post(`/v1/runs/${id}/cancel`, {})).status).toBe(200);
  expect(await refused({ role: "user", content: "Late" })).toEqual([409, "run_already_terminal", null]);
});

test("a reader that lost its connection after a message goes on exactly where it was", async () => {
  using fixture = runFixture();
  const run = await fixture.start([{ text: "One two three", delta_ms: 20 }, { text: "Four." }]);
  const frames: { id: string; event: string }[] = [];
  await fixture.stream(run.id, undefined, ({ event }) => event === "token");
  await fixture.service.steer(fixture.author, run.id, { content: "More" });
  await fixture.settled(run.id);
  const whole = await fixture.stream(run.id);
  const { parseCursor } = await import("../stream/stream.ts");
  for (const [place, { id }] of whole.entries()) {
    const rest = await fixture.stream(run.id, parseCursor(id, "starting_after"));
    expect([id, textOfFrames([...whole.slice(0, place + 1), ...rest])]).toEqual([id, "One two threeFour."]);
    frames.push(...rest);
  }
  expect(frames.length).toBeGreaterThan(0);
});

test("in a busy thread, a run with `steer` becomes a message of the active run, in a free one a run", async () => {
  await using model = heldModel();
  await using server = testApp({ environment: model.environment });
  const client = await server.client();
  const agent = await agentOf(client);
  const thread_id = (await client.post("/v1/threads", {})).body.id;
  const body = { agent_id: agent, thread_id, if_thread_busy: "steer" };
  const headers = { authorization: `Bearer ${client.key.secret}`, "idempotency-key": "second" };
  const first = await client.post("/v1/runs", { ...body, input: "Hello" });
  const answer = await model.next();
  const second = () => server.send("POST", "/v1/runs", { ...body, input: "In French" }, headers);
  expect([(await second()).body.id, (await second()).body.id]).toEqual([first.body.id, first.body.id]);
  const parts = [{ role: "user", content: [{ type: "text", text: "Please" }] }];
  const third = await client.post("/v1/runs", { ...body, input: parts });
  expect([third.status, third.body.id, third.headers.get("location")]).toEqual([
    201,
    first.body.id,
    `/v1/runs/${first.body.id}`,
  ]);
  const conversation = [{ role: "user", content: "Hi" }, { role: "assistant", content: "Hi" }, ...parts];
  expect((await client.post("/v1/runs", { ...body, input: conversation })).body.error.param).toBe("input");
  const other = { ...body, agent_id: await agentOf(client), input: "Hi" };
  expect((await client.post("/v1/runs", other)).body.error.code).toBe("thread_busy");
  answer(textAnswer("Good day."));
  (await model.next())(textAnswer("Bonjour."));
  await settledRun(server, client, first.body.id);
  const { body: messages } = await client.get(`/v1/threads/${thread_id}/messages`);
  expect(said({ messages: messages.data.toReversed() })).toEqual([
    "user: Hello",
    "assistant: Good day.",
    "user: In French",
    "user: Please",
    "assistant: Bonjour.",
  ]);
  const next = await client.post("/v1/runs", { ...body, input: "Bye" });
  expect(next.body.id).not.toBe(first.body.id);
  (await model.next())(textAnswer("Au revoir."));
  await settledRun(server, client, next.body.id);
});

test("a guardrail redacts a message before it is stored, and a blocked one ends the run without it in the thread", async () => {
  await using model = heldModel();
  await using server = testApp({ environment: model.environment });
  const client = await server.client();
  const guard = (pattern: string, action: string) => ({ type: "regex", on: ["input"], action, config: { pattern } });
  const agent = await agentOf(client, { guardrails: [guard("secret", "redact"), guard("poison", "block")] });
  const thread_id = (await client.post("/v1/threads", {})).body.id;
  const id = await start(client, agent, { thread_id });
  const answer = await model.next();
  await steer(client, id, "My secret");
  answer(textAnswer("Well."));
  const second = await model.next();
  const events = await eventsOf(client, id);
  expect(events.slice(-3)).toEqual(["step.completed", "guardrail.triggered", "step.started"]);
  const { status, body } = await steer(client, id, "A poison");
  expect([status, body.status, body.error.code]).toEqual([200, "failed", "guardrail_blocked"]);
  second(textAnswer("Too late."));
  const { body: trace } = await client.get(`/v1/runs/${id}/events?limit=100`);
  expect(JSON.stringify(trace)).not.toMatch(/secret|poison/);
  const { body: messages } = await client.get(`/v1/threads/${thread_id}/messages`);
  const texts = said({ messages: messages.data.toReversed() });
  expect(texts).toHaveLength(3);
  expect(texts.slice(0, 2)).toEqual(["user: Hello", "assistant: Well."]);
  expect(texts[2]).toStartWith("user: My ");
});

test("a judge of inputs reads each message before the model does, once", async () => {
  using fixture = runFixture();
  const config = { prompt: "x", model: "test/judge" };
  const guardrails = [{ type: "llm_judge" as const, on: ["input" as const], action: "block" as const, config }];
  const call = { name: "look", arguments: {} };
  const script = [{ text: "Wait.", tool_calls: [call] }, { text: "Done." }];
  const run = await fixture.start(script, { tools: [tool("look")], agent: { guardrails } });
  const waiting = await fixture.settled(run.id);
  await fixture.service.steer(fixture.author, run.id, { content: "Hurry" });
  const [asked] = waiting.required_action!.submit_tool_outputs.tool_calls;
  await fixture.service.submit(fixture.scope, run.id, [{ tool_call_id: asked!.tool_call_id, output: "blue" }]);
  expect((await fixture.settled(run.id)).status).toBe("completed");
  const decided = fixture.journal
    .read(run.id)
    .flatMap(({ event }) => (event.type === "guardrail.decided" ? [event.message_id !== undefined] : []));
  expect(decided).toEqual([false, true]);
});

test("a child run that waits still waits for its parent after a message, and the parent takes one, too", async () => {
  const helper = {
    tools: [tool("look")],
    settings: { script: [{ tool_calls: [{ name: "look", arguments: {} }] }, { text: "Blue." }] },
  };
  using fixture = runFixture({ agents: { agt_helper: helper } });
  const run = await fixture.start(
    [{ tool_calls: [{ name: "help", arguments: { input: "Look" } }] }, { text: "Done." }],
    {
      tools: [agentTool("help", "agt_helper")],
    },
  );
  const waiting = await fixture.settled(run.id);
  const [asked] = waiting.required_action!.submit_tool_outputs.tool_calls;
  const child = asked!.run_id!;
  await fixture.service.steer(fixture.author, child, { content: "To the child" });
  await fixture.service.steer(fixture.author, run.id, { content: "To the parent" });
  expect(await fixture.service.awaitChild(child)).toMatchObject({
    is: "waiting",
    calls: [{ id: asked!.tool_call_id }],
  });
  await fixture.service.submit(fixture.scope, run.id, [{ tool_call_id: asked!.tool_call_id, output: "blue" }]);
  const done = await fixture.settled(run.id);
  expect([done.status, done.output]).toEqual(["completed", "Done."]);
  expect(said(done).filter((text) => text.startsWith("user"))).toEqual(["user: Hello", "user: To the parent"]);
  const helped = fixture.runs.get(fixture.scope, child);
  expect([helped.output, said(helped).includes("user: To the child")]).toEqual(["Blue.", true]);
});
