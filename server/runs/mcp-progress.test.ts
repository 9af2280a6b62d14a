import { expect, test } from "bun:test";
import type { RunFrame } from "../domain/api-types/events.ts";
import { removeProxyEnvironment } from "../lib/proxy.ts";
import { startReportingServer } from "../testing/reporting-mcp-server.ts";
import { type Client, type TestApp, testApp } from "../testing/test-app.ts";

removeProxyEnvironment();

interface SetUp {
  agent?: object;
  headers?: object;
  calls?: number;
}

/** Starts a run that calls `work`, and returns its first calls, its events one by one, and the run at its end. */
async function start(app: TestApp, url: string, { agent = {}, headers = {}, calls = 1 }: SetUp = {}) {
  const client = await app.client();
  const tool = await client.post("/v1/tools", { name: "s", type: "mcp", server_url: url, headers });
  const tool_calls = Array.from({ length: calls }, (_, number) => ({ name: "s_work", arguments: { number } }));
  const made = await client.post("/v1/agents", {
    name: "a",
    instructions: "Go.",
    tools: [tool.body.id],
    model: "test/script",
    model_settings: { script: [{ tool_calls }, { text: "Done." }] },
    ...agent,
  });
  const { body: run } = await client.post("/v1/runs", { agent_id: made.body.id, input: "Go" });
  const answer = await app.app.handle(
    new Request(`http://localhost/v1/runs/${run.id}/events`, {
      headers: { authorization: `Bearer ${client.key.secret}`, accept: "text/event-stream" },
    }),
  );
  const frames = framesOf(answer.body!);
  return {
    client,
    id: run.id as string,
    /** Returns the data of the next event of this name. */
    async next<Name extends RunFrame["event"]>(name: Name) {
      for await (const frame of frames)
        if (frame.event === name) return frame.data as Extract<RunFrame, { event: Name }>["data"];
      throw new Error(`The stream has no further ${name}.`);
    },
    async progress() {
      const { body } = await client.get(`/v1/runs/${run.id}/events?limit=100`);
      return (body.data as RunFrame[]).flatMap((frame) => (frame.event === "tool.progress" ? [frame.data] : []));
    },
    trace: async () => (await client.get(`/v1/traces/${run.id}`)).body as { steps: Record<string, unknown>[] },
  };
}

/** Opens a session with the server's own MCP door, and returns its headers. */
async function sessionOf(app: TestApp, { key }: Client): Promise<Record<string, string>> {
  const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "test", version: "1" } };
  const { headers } = await app.send(
    "POST",
    "/mcp",
    { jsonrpc: "2.0", id: 0, method: "initialize", params },
    { authorization: `Bearer ${key.secret}`, accept: "application/json, text/event-stream" },
  );
  return { "mcp-session-id": headers.get("mcp-session-id")!, "mcp-protocol-version": "2025-11-25" };
}

/** Does not end the stream when its reader leaves the loop. */
function framesOf(body: ReadableStream<Uint8Array>): AsyncIterable<RunFrame> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let text = "";
  const next = async (): Promise<IteratorResult<RunFrame>> => {
    for (;;) {
      const end = text.indexOf("\n\n");
      if (end >= 0) {
        const lines = text.slice(0, end).split("\n");
        text = text.slice(end + 2);
        const field = (name: string) => lines.find((line) => line.startsWith(`${name}: `))?.slice(name.length + 2);
        const [event, data] = [field("event"), field("data")];
        if (event && data) return { done: false, value: { event, data: JSON.parse(data) } as RunFrame };
        continue;
      }
      const { done, value } = await reader.read();
      if (done) return { done: true, value: undefined };
      text += decoder.decode(value, { stream: true });
    }
  };
  return { [Symbol.asyncIterator]: () => ({ next }) };
}

test("progress and log messages of a call are in the stream while it works, and in the trace", async () => {
  await using mcp = startReportingServer();
  await using app = testApp();
  const run = await start(app, mcp.url);
  const call = await mcp.next();
  call.progress(3, { total: 10, message: "Reading" });
  const told = await run.next("tool.progress");
  expect(told).toMatchObject({ progress: 3, total: 10, message: "Reading", level: null, step_index: 1 });
  call.notify("notifications/message", { level: "debug", data: "not shown" });
  call.notify("notifications/message", { level: "warning", logger: "db", data: { slow: true } });
  expect(await run.next("tool.progress")).toMatchObject({
    tool_call_id: told.tool_call_id,
    progress: null,
    total: null,
    message: '{"slow":true}',
    level: "warning",
  });
  call.finish("found");
  await run.next("run.completed");
  const { steps } = await run.trace();
  expect(steps[1]).toMatchObject({
    output: "found",
    progress: [
      { at: expect.any(String), progress: 3, total: 10, message: "Reading", level: null },
      { at: expect.any(String), progress: null, total: null, message: '{"slow":true}', level: "warning" },
    ],
  });
  expect(steps[2]!.progress).toBeUndefined();
});

test("hostile progress neither fails the call nor is shown", async () => {
  await using mcp = startReportingServer();
  await using app = testApp();
  const run = await start(app, mcp.url);
  const call = await mcp.next();
  for (const progressToken of ["tool-call-1", -1, 10_000, call.id + 1, null, {}])
    call.notify("notifications/progress", { progressToken, progress: 1 });
  for (const progress of [null, "1", [1], {}]) call.progress(progress);
  call.notify("notifications/progress", {});
  call.notify("notifications/message", { level: "loud", data: "x" });
  call.notify("notifications/message", { level: "info" });
  call.progress(2);
  call.progress(1, { message: "back" });
  await run.next("tool.progress");
  call.finish("done");
  await run.next("run.completed");
  expect((await run.progress()).map(({ progress }) => progress)).toEqual([2]);
});

test("progress that comes with the result, or after it, changes nothing", async () => {
  await using mcp = startReportingServer();
  await using app = testApp();
  const run = await start(app, mcp.url);
  const call = await mcp.next();
  call.progress(1, { total: 2 });
  await run.next("tool.progress");
  call.progress(2, { total: 2 });
  call.finish("done");
  const { seq } = await run.next("tool.completed");
  await run.next("run.completed");
  for (const progress of await run.progress()) expect(progress.seq).toBeLessThan(seq);
});

test("a flood of progress is one event", async () => {
  await using mcp = startReportingServer();
  await using app = testApp();
  const run = await start(app, mcp.url);
  const call = await mcp.next();
  for (let progress = 1; progress <= 1000; progress++) call.progress(progress, { message: "x".repeat(300) });
  call.finish("done");
  await run.next("run.completed");
  expect((await run.progress()).length).toBeLessThanOrEqual(3);
});

test("calls at the same time are told apart, also by a server that uses one token for all", async () => {
  await using mcp = startReportingServer();
  await using app = testApp();
  const run = await start(app, mcp.url, { calls: 2 });
  const [one, other] = [await mcp.next(), await mcp.next()];
  expect(one.token).not.toBe(other.token);
  one.notify("notifications/progress", { progressToken: other.token, progress: 77 });
  other.progress(5);
  const { tool_call_id } = await run.next("tool.progress");
  one.finish("one");
  other.finish("other");
  await run.next("run.completed");
  expect((await run.progress()).map(({ progress }) => progress)).toEqual([5]);
  const { steps } = await run.trace();
  const reported = steps.find(({ progress }) => progress !== undefined)!;
  expect([reported.tool_call_id, reported.output]).toEqual([tool_call_id, "other"]);
});

test("secrets of the call are hidden in what the server says, and long texts are cut after that", async () => {
  await using mcp = startReportingServer();
  await using app = testApp();
  const secret = "s3cret-of-the-server-0123456789";
  const run = await start(app, mcp.url, { headers: { "x-key": secret } });
  const call = await mcp.next();
  call.progress(1, { message: `${"x".repeat(985)} ${secret} ${"y".repeat(3000)}` });
  const { message } = await run.next("tool.progress");
  expect(message).toHaveLength(1000);
  expect(message).toContain("[hidden]");
  call.finish("done");
  await run.next("run.completed");
});

test("an agent whose guardrails check results shows numbers only", async () => {
  await using mcp = startReportingServer();
  await using app = testApp();
  const guardrails = [{ type: "pii", on: ["tool_output"], action: "redact" }];
  const run = await start(app, mcp.url, { agent: { guardrails } });
  const call = await mcp.next();
  call.notify("notifications/message", { level: "info", data: "ada@example.com" });
  call.progress(1, { total: 2, message: "ada@example.com" });
  expect(await run.next("tool.progress")).toMatchObject({ progress: 1, total: 2, message: null });
  call.finish("done");
  await run.next("run.completed");
  expect(await run.progress()).toHaveLength(1);
});

test("a cancelled run ends with its progress, and its call reports in vain", async () => {
  await using mcp = startReportingServer();
  await using app = testApp();
  const run = await start(app, mcp.url);
  const call = await mcp.next();
  call.progress(1);
  await run.next("tool.progress");
  expect((await run.client.post(`/v1/runs/${run.id}/cancel`)).status).toBe(200);
  expect(await run.next("run.failed")).toMatchObject({ status: "cancelled" });
  expect(await run.progress()).toHaveLength(1);
});

test.each<[string, (id: string) => [path: string, body: object, headers?: Record<string, string>], RegExp]>([
  [
    "A2A",
    (id) => [
      `/a2a/v1/agents/${id}`,
      {
        jsonrpc: "2.0",
        id: 1,
        method: "SendStreamingMessage",
        params: { message: { messageId: "m", role: "ROLE_USER", parts: [{ text: "Go" }] } },
      },
      { "a2a-version": "1.0" },
    ],
    /"TASK_STATE_WORKING","message":\{[^}]*"parts":\[\{"text":"3 of 10: Reading"\}\]/,
  ],
  [
    "AG-UI",
    (id) => [
      `/ag-ui/v1/agents/${id}`,
      {
        threadId: crypto.randomUUID(),
        runId: crypto.randomUUID(),
        state: {},
        messages: [{ id: "m", role: "user", content: "Go" }],
        tools: [],
        context: [],
        forwardedProps: {},
      },
    ],
    /"name":"runnel\.tool_progress","value":\{"tool_call_id":"[^"]+","progress":3,"total":10,"message":"Reading"/,
  ],
  [
    "the AI SDK",
    (id) => [
      `/ui/v1/agents/${id}/chat`,
      { id: crypto.randomUUID(), messages: [{ id: "m", role: "user", parts: [{ type: "text", text: "Go" }] }] },
    ],
    /"type":"data-tool-progress","data":\{"tool_call_id":"[^"]+","progress":3,"total":10,[^}]*\},"transient":true/,
  ],
  [
    "MCP",
    () => [
      "/mcp",
      {
        jsonrpc: "2.0",
        id: 1,
        method: "tools/call",
        params: { name: "a", arguments: { input: "Go" }, _meta: { progressToken: "mine" } },
      },
      { accept: "application/json, text/event-stream" },
    ],
    /"progressToken":"mine","progress":\d+,"message":"3 of 10: Reading"/,
  ],
])("callers over %s get the progress of the calls of an agent", async (_, ask, expected) => {
  await using mcp = startReportingServer();
  await using app = testApp();
  const client = await app.client();
  const tool = await client.post("/v1/tools", { name: "s", type: "mcp", server_url: mcp.url });
  const { body: agent } = await client.post("/v1/agents", {
    name: "a",
    instructions: "Go.",
    tools: [tool.body.id],
    model: "test/script",
    model_settings: { script: [{ tool_calls: [{ name: "s_work", arguments: {} }] }, { text: "Done." }] },
    doors: { mcp: true, a2a: true },
  });
  const [path, body, headers = {}] = ask(agent.id);
  const session = path === "/mcp" ? await sessionOf(app, client) : {};
  const answer = app.send("POST", path, body, {
    ...session,
    authorization: `Bearer ${client.key.secret}`,
    ...headers,
  });
  const call = await mcp.next();
  call.progress(3, { total: 10, message: "Reading" });
  const [run] = (await client.get("/v1/runs")).body.data;
  const isTold = async () =>
    (await client.get(`/v1/runs/${run.id}/events?limit=100`)).body.data.some(
      ({ event }: RunFrame) => event === "tool.progress",
    );
  while (!(await isTold())) await Bun.sleep(5);
  call.finish("done");
  expect((await answer).body).toMatch(expected);
});
