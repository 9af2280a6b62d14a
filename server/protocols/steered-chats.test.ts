import { afterAll, describe, expect, test } from "bun:test";
import { pollFirst } from "../testing/poll-first.ts";
import { settledRun } from "../testing/settled-run.ts";
import { type Client, testApp } from "../testing/test-app.ts";

// A message of the user while a run of the chat is at work, in both protocols of user interfaces.

const server = testApp();
afterAll(() => server[Symbol.asyncDispose]());

// biome-ignore lint/suspicious/noExplicitAny: parts of the protocols.
type Json = any;

const remembering = { memory: { history: { mode: "thread" } } };

async function opened(script: object[], more: object = {}) {
  const owner = await server.client({ project: crypto.randomUUID() });
  const agent = {
    name: "a",
    instructions: "",
    model: "test/script",
    model_settings: { script },
    ...remembering,
    ...more,
  };
  const { body } = await owner.post("/v1/agents", agent);
  expect(body.error).toBeUndefined();
  return { owner, agent: body.id as string };
}

/** Waits until the model has begun to answer. */
async function hasSpoken(runId: string): Promise<void> {
  const watch = server.watches.join(runId);
  while ((watch.live()?.length ?? 0) === 0) await watch.next(10_000);
  watch.leave();
}

const partsOf = (text: string): Json[] =>
  text.split("\n").flatMap((line) => (line.startsWith("data: {") ? [JSON.parse(line.slice(6))] : []));
const typesOf = (parts: Json[]): string[] => parts.map(({ type }) => type);
const said = async (client: Client, runId: string) =>
  (await client.get(`/v1/runs/${runId}`)).body.messages.map(({ role, content }: Json) => `${role}: ${content}`);

const slow = { text: "One two three four.", delta_ms: 40 };

describe("AI SDK", () => {
  const userSays = (text: string, id: string = crypto.randomUUID()) => ({
    id,
    role: "user",
    parts: [{ type: "text", text }],
  });
  const textOf = (parts: Json[]): string =>
    parts.map(({ type, delta }) => (type === "text-delta" ? delta : "")).join("");
  const send = (client: Client, agent: string, body: object, headers: Record<string, string> = {}) =>
    server
      .send(
        "POST",
        `/ui/v1/agents/${agent}/chat`,
        { id: "chat", trigger: "submit-message", ...body },
        {
          authorization: `Bearer ${client.key.secret}`,
          ...headers,
        },
      )
      .then((answer) => ({ ...answer, parts: answer.status === 200 ? partsOf(answer.body) : [] }));

  test("a message to a run at work is answered in a stream of its own, and the stream before ends with its answer", async () => {
    const { owner, agent } = await opened([slow, { text: "Five." }]);
    const first = send(owner, agent, { messages: [userSays("Count.")] });
    const run = await pollFirst(owner, "/v1/runs");
    await hasSpoken(run.id);
    const partial = { id: run.id, role: "assistant", parts: [{ type: "text", text: "One " }] };
    const second = await send(owner, agent, { messages: [userSays("Count."), partial, userSays("And then?")] });
    const { parts } = await first;
    expect([textOf(parts), textOf(second.parts)]).toEqual([slow.text, "Five."]);
    expect([typesOf(parts).slice(-2), typesOf(second.parts).slice(-2)]).toEqual([
      ["finish-step", "finish"],
      ["finish-step", "finish"],
    ]);
    expect(typesOf([...parts, ...second.parts])).not.toContain("steering-message");
    const ended = await settledRun(server, owner, run.id);
    expect([ended.status, ended.output]).toEqual(["completed", "Five."]);
    expect((await owner.get("/v1/runs")).body.data).toHaveLength(1);
    expect(await said(owner, run.id)).toEqual([
      "user: Count.",
      `assistant: ${slow.text}`,
      "user: And then?",
      "assistant: Five.",
    ]);
    // A page that is reloaded gets the same messages under the same ids.
    const { messages } = (await owner.get(`/ui/v1/agents/${agent}/chat/chat`)).body;
    expect(messages.map(({ id, role }: Json) => [role, role === "user" || id])).toEqual([
      ["user", true],
      ["assistant", run.id],
      ["user", true],
      ["assistant", second.parts[0].messageId],
    ]);
    expect(second.parts[0].messageId).toStartWith(`${run.id}-msg_`);
  });

  test("a message from elsewhere is a part of the message that the agent writes", async () => {
    const { owner, agent } = await opened([slow, { text: "Five." }]);
    const first = send(owner, agent, { messages: [userSays("Count.")] });
    const run = await pollFirst(owner, "/v1/runs");
    await hasSpoken(run.id);
    await owner.post(`/v1/runs/${run.id}/messages`, { role: "user", content: "And then?" });
    const { parts } = await first;
    const place = typesOf(parts).indexOf("steering-message");
    expect(parts[place]).toMatchObject({
      id: expect.stringMatching(/^msg_/),
      parts: [{ type: "text", text: "And then?" }],
    });
    expect([typesOf(parts)[place + 1], textOf(parts.slice(place))]).toEqual(["start-step", "Five."]);
  });

  test("a chat that is resumed after a message to its run has all of the run, and the message once", async () => {
    const { owner, agent } = await opened([slow, { text: "Five six.", delta_ms: 60_000 }]);
    const first = send(owner, agent, { messages: [userSays("Count.")] });
    const run = await pollFirst(owner, "/v1/runs");
    await hasSpoken(run.id);
    const second = send(owner, agent, { messages: [userSays("Count."), userSays("And then?")] });
    await first;
    await hasSpoken(run.id);
    const { messages } = (await owner.get(`/ui/v1/agents/${agent}/chat/chat`)).body;
    expect(messages.map(({ parts }: Json) => parts[0].text)).toEqual(["Count."]);
    const resumed = owner.get(`/ui/v1/agents/${agent}/chat/chat/stream`);
    while (server.watches.readers(run.id) < 2) await new Promise((resolve) => setImmediate(resolve));
    expect((await owner.delete(`/ui/v1/agents/${agent}/chat/chat/stream`)).status).toBe(204);
    const parts = partsOf((await resumed).body);
    expect([parts[0].messageId, typesOf(parts).filter((type) => type === "steering-message")]).toEqual([
      run.id,
      ["steering-message"],
    ]);
    expect((await second).parts.at(-1).finishReason).toBe("interrupted");
    expect((await owner.get(`/v1/runs/${run.id}`)).body.status).toBe("cancelled");
  });

  test("calls that a client tool makes after the message are answered under its id", async () => {
    const asks = { ...slow, tool_calls: [{ name: "ask", arguments: {} }] };
    const owner = await server.client({ project: crypto.randomUUID() });
    const { body: tool } = await owner.post("/v1/tools", { name: "ask" });
    const script = [asks, { text: "Done." }];
    const agent = { name: "a", instructions: "", model: "test/script", model_settings: { script }, tools: [tool.id] };
    const { id } = (await owner.post("/v1/agents", agent)).body;
    const first = send(owner, id, { messages: [userSays("Go.")] });
    const run = await pollFirst(owner, "/v1/runs");
    await hasSpoken(run.id);
    const { parts } = await send(owner, id, { messages: [userSays("Go."), userSays("Quick!")] });
    expect(typesOf((await first).parts)).not.toContain("tool-input-available");
    const { toolCallId } = parts.find(({ type }) => type === "tool-input-available");
    expect(parts.at(-1).finishReason).toBe("tool-calls");
    const { messageId } = parts[0];
    const call = { type: "tool-ask", toolCallId, state: "output-available", output: 1 };
    const answered = { id: messageId, role: "assistant", parts: [{ type: "step-start" }, call] };
    const messages = [userSays("Go."), { id: run.id, role: "assistant", parts: [] }, userSays("Quick!"), answered];
    const more = await send(owner, id, { messages, messageId });
    expect([more.parts[0].messageId, textOf(more.parts)]).toEqual([messageId, "Done."]);
    expect(await said(owner, run.id)).toEqual([
      "user: Go.",
      `assistant: ${slow.text}`,
      "user: Quick!",
      "tool: 1",
      "assistant: Done.",
    ]);
  });

  test("calls of an earlier message are answered, though the user has said something since", async () => {
    const owner = await server.client({ project: crypto.randomUUID() });
    const { body: tool } = await owner.post("/v1/tools", { name: "ask" });
    const script = [{ tool_calls: [{ name: "ask", arguments: {} }] }, { text: "Done." }];
    const agent = { name: "a", instructions: "", model: "test/script", model_settings: { script }, tools: [tool.id] };
    const { id } = (await owner.post("/v1/agents", agent)).body;
    const { parts } = await send(owner, id, { messages: [userSays("Go.")] });
    const { toolCallId } = parts.find(({ type }) => type === "tool-input-available");
    const call = { type: "tool-ask", toolCallId, state: "output-available", output: 1 };
    const answered = { id: parts[0].messageId, role: "assistant", parts: [{ type: "step-start" }, call] };
    const messages = [userSays("Go."), answered, userSays("Well?")];
    const more = await send(owner, id, { messages, messageId: answered.id });
    expect([more.status, textOf(more.parts)]).toEqual([200, "Done."]);
    expect((await owner.get("/v1/runs")).body.data).toHaveLength(1);
  });

  test("a message after the user has stopped reading cancels the run and starts another", async () => {
    const { owner, agent } = await opened([{ ...slow, delta_ms: 60_000 }]);
    const body = JSON.stringify({ id: "chat", trigger: "submit-message", messages: [userSays("Count.")] });
    const headers = { authorization: `Bearer ${owner.key.secret}`, "content-type": "application/json" };
    const address = `http://localhost/ui/v1/agents/${agent}/chat`;
    const response = await server.app.handle(new Request(address, { method: "POST", headers, body }));
    const reader = response.body!.getReader();
    await reader.read();
    await reader.cancel();
    const run = await pollFirst<Json>(owner, "/v1/runs");
    expect(run.status).toBe("in_progress");
    const second = send(owner, agent, { messages: [userSays("Count."), userSays("Else.")] });
    expect((await settledRun(server, owner, run.id)).status).toBe("cancelled");
    await owner.delete(`/ui/v1/agents/${agent}/chat/chat/stream`);
    expect((await second).parts[0].messageId).not.toStartWith(run.id);
  });

  test("two messages to a run at work are both taken, and the answer comes once, after the second", async () => {
    const { owner, agent } = await opened([slow, { text: "Five." }]);
    const first = send(owner, agent, { messages: [userSays("Count.")] });
    const run = await pollFirst(owner, "/v1/runs");
    await hasSpoken(run.id);
    const [second, third] = ["And?", "And then?"].map((text) =>
      send(owner, agent, { messages: [userSays("Count."), userSays(text)] }),
    );
    const texts = (await Promise.all([first, second!, third!])).map(({ parts }) => textOf(parts));
    expect(texts).toEqual([slow.text, "", "Five."]);
    expect((await said(owner, run.id)).slice(2)).toEqual(["user: And?", "user: And then?", "assistant: Five."]);
  });

  test.each([
    ["cancel_previous", "cancelled"],
    ["queue", "completed"],
    ["reject", "completed"],
  ])("a client that asks for %s gets that", async (if_thread_busy, status) => {
    const { owner, agent } = await opened([slow, { text: "Five." }]);
    const first = send(owner, agent, { messages: [userSays("Count.")] });
    const run = await pollFirst(owner, "/v1/runs");
    await hasSpoken(run.id);
    const second = await send(owner, agent, {
      messages: [userSays("Count."), userSays("Else.")],
      run: { if_thread_busy },
    });
    expect((await first).parts.at(-1).type).toBe("finish");
    expect((await settledRun(server, owner, run.id)).status).toBe(status);
    if (if_thread_busy === "reject") expect([second.status, second.body.error.code]).toEqual([409, "thread_busy"]);
    else expect(second.parts[0].messageId).not.toStartWith(run.id);
  });

  test("a message that is sent again arrives once, also when its run has ended meanwhile", async () => {
    const { owner, agent } = await opened([slow, { text: "Five." }]);
    const first = send(owner, agent, { messages: [userSays("Count.")] });
    const run = await pollFirst(owner, "/v1/runs");
    await hasSpoken(run.id);
    const again = () =>
      send(
        owner,
        agent,
        { messages: [userSays("Count.", "m1"), userSays("And then?", "m2")] },
        { "idempotency-key": "k" },
      );
    expect((await Promise.all([again(), first]))[0].parts.at(-1).type).toBe("finish");
    const repeated = await again();
    expect([repeated.status, repeated.parts[0].messageId]).toEqual([200, run.id]);
    expect((await owner.get("/v1/runs")).body.data).toHaveLength(1);
    expect((await said(owner, run.id)).filter((text: string) => text === "user: And then?")).toHaveLength(1);
  });

  test("a message to a paused run waits with it, and its answer follows when the run goes on", async () => {
    const { owner, agent } = await opened([slow, { text: "Five." }]);
    const first = send(owner, agent, { messages: [userSays("Count.")] });
    const run = await pollFirst(owner, "/v1/runs");
    await hasSpoken(run.id);
    await owner.post(`/v1/runs/${run.id}/pause`, {});
    const second = send(owner, agent, { messages: [userSays("Count."), userSays("And then?")] });
    const steps = async () => (await owner.get(`/v1/runs/${run.id}/events?limit=100`)).body.data;
    while (!(await steps()).some(({ event }: Json) => event === "run.steered")) await Bun.sleep(5);
    await settledRun(server, owner, run.id);
    await owner.post(`/v1/runs/${run.id}/resume`, {});
    expect([textOf((await first).parts), textOf((await second).parts)]).toEqual([slow.text, "Five."]);
  });
});

describe("AG-UI", () => {
  const userSays = (content: string, id: string = crypto.randomUUID()) => ({ id, role: "user", content });
  const textOf = (events: Json[]): string =>
    events.map(({ type, delta }) => (type === "TEXT_MESSAGE_CONTENT" ? delta : "")).join("");
  async function send(client: Client, agent: string, messages: object[], more: object = {}) {
    const common = { threadId: "t", runId: "r", tools: [], context: [], state: {}, protocolVersion: "1.0" };
    const answer = await client.post(`/ag-ui/v1/agents/${agent}`, { ...common, messages, ...more });
    return { ...answer, events: answer.status === 200 ? partsOf(answer.body) : [] };
  }

  test("a message to a run at work is answered in a stream of its own, which begins with all messages", async () => {
    const { owner, agent } = await opened([slow, { text: "Five." }]);
    const count = userSays("Count.", "u1");
    const first = send(owner, agent, [count]);
    const run = await pollFirst(owner, "/v1/runs");
    await hasSpoken(run.id);
    const partial = { id: `${run.id}-2`, role: "assistant", content: "One " };
    const second = await send(owner, agent, [count, partial, userSays("And then?", "u2")], { runId: "r2" });
    const { events } = await first;
    expect([textOf(events), textOf(second.events)]).toEqual([slow.text, "Five."]);
    for (const all of [events, second.events])
      expect([all[0].type, all.at(-1)]).toEqual([
        "RUN_STARTED",
        expect.objectContaining({ outcome: { type: "success" } }),
      ]);
    expect([second.events[0].runId, second.events[1].type]).toEqual(["r2", "MESSAGES_SNAPSHOT"]);
    const { messageId } = events.find(({ type }) => type === "TEXT_MESSAGE_START");
    expect(second.events[1].messages).toEqual([
      { id: "u1", role: "user", content: "Count." },
      { id: messageId, role: "assistant", content: slow.text },
      { id: "u2", role: "user", content: "And then?" },
    ]);
    const begun = second.events.filter(({ type }) => type === "STEP_STARTED").map(({ stepName }) => stepName);
    const ended = second.events.filter(({ type }) => type === "STEP_FINISHED").map(({ stepName }) => stepName);
    expect([begun, ended]).toEqual([["model_call 1"], ["model_call 1"]]);
    expect((await settledRun(server, owner, run.id)).status).toBe("completed");
    expect((await owner.get("/v1/runs")).body.data).toHaveLength(1);
  });

  test("a message from elsewhere is a message of the user, before its answer", async () => {
    const { owner, agent } = await opened([slow, { text: "Five." }]);
    const first = send(owner, agent, [userSays("Count.")]);
    const run = await pollFirst(owner, "/v1/runs");
    await hasSpoken(run.id);
    await owner.post(`/v1/runs/${run.id}/messages`, { role: "user", content: "And then?" });
    const { events } = await first;
    const place = events.findIndex(({ role }) => role === "user");
    expect(events.slice(place, place + 4)).toMatchObject([
      { type: "TEXT_MESSAGE_START", messageId: expect.stringMatching(/^msg_/), role: "user" },
      { type: "TEXT_MESSAGE_CONTENT", delta: "And then?" },
      { type: "TEXT_MESSAGE_END" },
      { type: "STEP_STARTED" },
    ]);
    expect(textOf(events)).toBe(`${slow.text}And then?Five.`);
  });

  test("a page that reads the conversation while its run answers a message has each message once", async () => {
    const { owner, agent } = await opened([slow, { text: "Five six.", delta_ms: 60_000 }]);
    const first = send(owner, agent, [userSays("Count.")]);
    const run = await pollFirst(owner, "/v1/runs");
    await hasSpoken(run.id);
    const second = send(owner, agent, [userSays("Count."), userSays("And then?")]);
    await first;
    await hasSpoken(run.id);
    const told = send(owner, agent, []);
    while (server.watches.readers(run.id) < 2) await new Promise((resolve) => setImmediate(resolve));
    await owner.post(`/v1/runs/${run.id}/cancel`, {});
    const { events } = await told;
    expect(events[1].messages.map(({ content }: Json) => content)).toEqual(["Count."]);
    expect(events.filter(({ role }) => role === "user")).toHaveLength(1);
    expect((await second).events.at(-1).outcome).toEqual({ type: "cancelled" });
  });

  test("a message of a client token comes without the context of the page, which the run has already", async () => {
    const { owner, agent } = await opened([slow, { text: "Five." }]);
    const asked = { agent_id: agent, scopes: ["run", "read", "submit"], expires_in_seconds: 600, user_id: "ada" };
    const { token } = (await owner.post("/v1/client_tokens", asked)).body;
    const by = { authorization: `Bearer ${token}` };
    const context = [{ description: "Where", value: "Oslo" }];
    const body = { threadId: "t", runId: "r", tools: [], context, state: {}, messages: [userSays("Count.")] };
    const first = server.send("POST", `/ag-ui/v1/agents/${agent}`, body, by);
    const run = await pollFirst(owner, "/v1/runs");
    await hasSpoken(run.id);
    const more = { ...body, messages: [userSays("Count."), userSays("And then?")] };
    const second = await server.send("POST", `/ag-ui/v1/agents/${agent}`, more, by);
    expect([second.status, textOf(partsOf(second.body))]).toEqual([200, "Five."]);
    await first;
    expect((await said(owner, run.id)).filter((text: string) => text.startsWith("user"))).toEqual([
      "user: Where: Oslo",
      "user: Count.",
      "user: And then?",
    ]);
  });

  test("a message with the tools and the context of the run at work steers it, and one with others waits", async () => {
    const { owner, agent } = await opened([slow, { text: "Five." }]);
    const by = { authorization: `Bearer ${owner.key.secret}` };
    const tools = [{ name: "look", description: "Looks.", parameters: { type: "object" } }];
    const context = [{ description: "Where", value: "Oslo" }];
    const body = { threadId: "t", runId: "r", tools, context, state: {}, messages: [userSays("Count.")] };
    const send = (more: object) => server.send("POST", `/ag-ui/v1/agents/${agent}`, { ...body, ...more }, by);
    const first = send({});
    const run = await pollFirst(owner, "/v1/runs");
    await hasSpoken(run.id);
    const messages = [userSays("Count."), userSays("And then?")];
    const second = send({ messages });
    const third = send({ messages, context: [{ description: "Where", value: "Rome" }] });
    expect(textOf(partsOf((await second).body))).toBe("Five.");
    expect((await third).status).toBe(200);
    await first;
    const asked = async (id: string) => (await said(owner, id)).filter((text: string) => text.startsWith("user"));
    expect(await asked(run.id)).toEqual(["user: Count.", "user: And then?"]);
    expect((await owner.get("/v1/runs")).body.data).toHaveLength(2);
  });
});
