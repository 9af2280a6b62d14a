import { afterAll, describe, expect, spyOn, test } from "bun:test";
import type { Permission } from "../../domain/scope.ts";
import { type Client, testApp } from "../../testing/test-app.ts";
import { turnsDuring } from "../../testing/turns.ts";
import { startWebhookReceiver } from "../../testing/webhook-receiver.ts";
import { toA2aError } from "./errors.ts";
import { inCamelCase } from "./server.ts";

const server = testApp();
afterAll(() => server[Symbol.asyncDispose]());

const agentBody = { name: "Desk", description: "Helps.", instructions: "", model: "test/echo", doors: { a2a: true } };
const scripted = (script: object[], more: object = {}) => ({
  ...agentBody,
  model: "test/script",
  model_settings: { script },
  ...more,
});

async function opened(body: object = agentBody) {
  const owner = await server.client({ project: crypto.randomUUID() });
  const { body: agent } = await owner.post("/v1/agents", body);
  expect(agent.error).toBeUndefined();
  return { owner, agent, at: `/a2a/v1/agents/${agent.id}` };
}

type Key = Pick<Client, "key">;
const headersOf = ({ key }: Key) => ({ authorization: `Bearer ${key.secret}`, "a2a-version": "1.0" });

/** Calls by JSON-RPC. */
const ask = async (
  client: Key,
  at: string,
  method: string,
  params: object = {},
  headers: Record<string, string> = {},
) => server.send("POST", at, { jsonrpc: "2.0", id: 7, method, params }, { ...headersOf(client), ...headers });

/** Calls by HTTP with JSON. */
async function rest(client: Key, method: string, path: string, body?: object) {
  const answer = await server.send(method, path, body && JSON.stringify(body), {
    ...headersOf(client),
    ...(body && { "content-type": "application/a2a+json" }),
  });
  const isJson = answer.headers.get("content-type") === "application/a2a+json";
  return isJson ? { ...answer, body: JSON.parse(answer.body) } : answer;
}

const said = (text: string, more: object = {}) => ({
  message: { messageId: `m-${text}`, role: "ROLE_USER", parts: [{ text }], ...more },
});

// biome-ignore lint/suspicious/noExplicitAny: messages of the protocol.
const messagesOf = (text: string): any[] =>
  text.split("\n").flatMap((line) => (line.startsWith("data: ") ? [JSON.parse(line.slice(6))] : []));

/** Returns the text of a stream's updates. */
// biome-ignore lint/suspicious/noExplicitAny: messages of the protocol.
const textOf = (updates: any[]): string =>
  updates.reduce((text, { artifactUpdate: update }) => {
    if (!update) return text;
    return (update.append ? text : "") + update.artifact.parts[0].text;
  }, "");

const asking = async (needs: "output" | "approval", times = 1) => {
  const owner = await server.client({ project: crypto.randomUUID() });
  const tool = { name: "ask", ...(needs === "approval" && { approval: "always", type: "code", source: "() => 7" }) };
  const { body } = await owner.post("/v1/tools", tool);
  const calls = Array.from({ length: times }, () => ({ tool_calls: [{ name: "ask", arguments: { what: "now" } }] }));
  const script = [...calls, { text: "Done." }];
  const { body: agent } = await owner.post("/v1/agents", scripted(script, { tools: [body.id] }));
  return { owner, at: `/a2a/v1/agents/${agent.id}` };
};

test("a card describes an agent and its address", async () => {
  const { owner, agent, at } = await opened();
  const { status, body, headers } = await rest(owner, "GET", `${at}/.well-known/agent-card.json`);
  expect([status, Date.parse(headers.get("last-modified")!) <= Date.parse(agent.updated_at)]).toEqual([200, true]);
  expect(body).toMatchObject({
    name: "Desk",
    description: "Helps.",
    version: "1",
    skills: [{ id: agent.id }],
    capabilities: { streaming: true, pushNotifications: true, extendedAgentCard: true },
  });
  expect(body.supportedInterfaces).toEqual(
    ["JSONRPC", "HTTP+JSON"].map((protocolBinding) => ({
      url: `https://localhost${at}`,
      protocolBinding,
      protocolVersion: "1.0",
    })),
  );
});

test("fields are accepted in proto spelling, and the client's own data keeps its names", async () => {
  const { owner, at } = await asking("output");
  const message = { message_id: "m1", role: "ROLE_USER", parts: [{ text: "Go." }] };
  const { task } = (await ask(owner, at, "SendMessage", { message })).body.result;
  const [call] = task.status.message.parts[1].data.tool_calls;
  const data = { tool_outputs: [{ tool_call_id: call.tool_call_id, output: { snake_case: 1 } }] };
  const answer = { message_id: "m2", task_id: task.id, role: "ROLE_USER", parts: [{ data }] };
  expect((await ask(owner, at, "SendMessage", { message: answer })).body.result.task.id).toBe(task.id);
  expect((await owner.get(`/v1/runs/${task.id}`)).body.tool_calls[0].output).toEqual({ snake_case: 1 });
  const { body } = await rest(owner, "GET", `${at}/tasks?page_size=1&context_id=${task.contextId}`);
  expect(body).toMatchObject({ tasks: [{ id: task.id }], pageSize: 1, totalSize: 1 });
  const none = await ask(owner, at, "ListTaskPushNotificationConfigs", { task_id: task.id });
  expect(none.body.result.configs).toEqual([]);
});

describe("a message", () => {
  test("is a run with its record, and its answer the task when it is over", async () => {
    const { owner, agent, at } = await opened();
    const { status, body } = await ask(owner, at, "SendMessage", said("Hello"));
    const { task } = body.result;
    expect([status, body.id, task.status.state]).toEqual([200, 7, "TASK_STATE_COMPLETED"]);
    expect(task.artifacts).toEqual([{ artifactId: "output", name: "output", parts: [{ text: "Hello" }] }]);
    expect(task.history.map(({ role, parts }: { role: string; parts: object[] }) => [role, parts])).toEqual([
      ["ROLE_USER", [{ text: "Hello" }]],
      ["ROLE_AGENT", [{ text: "Hello" }]],
    ]);
    const { body: run } = await owner.get(`/v1/runs/${task.id}`);
    expect(run).toMatchObject({ agent_id: agent.id, thread_id: task.contextId, output: "Hello" });
  });

  test("continues its context, and its data is JSON for the model", async () => {
    const { owner, at } = await opened();
    const first = (await ask(owner, at, "SendMessage", said("One"))).body.result.task;
    const parts = [{ text: "Two" }, { data: { n: 2 } }];
    const second = await rest(owner, "POST", `${at}/message:send`, said("", { contextId: first.contextId, parts }));
    expect(second.status).toBe(200);
    expect([second.body.task.contextId, second.body.task.artifacts[0].parts]).toEqual([
      first.contextId,
      [{ text: 'Two\n{"n":2}' }],
    ]);
  });

  test("that is repeated is one run, and a different one is another", async () => {
    const { owner, at } = await opened();
    const answers = [
      await ask(owner, at, "SendMessage", said("Hello")),
      await ask(owner, at, "SendMessage", said("Hello")),
    ];
    const [first, again] = answers.map(({ body }) => body.result.task);
    expect([again.id, again.status.state]).toEqual([first.id, "TASK_STATE_COMPLETED"]);
    const streamed = messagesOf((await ask(owner, at, "SendStreamingMessage", said("Hello"))).body);
    expect([streamed[0].result.task.id, textOf(streamed.map(({ result }) => result))]).toEqual([first.id, "Hello"]);
    expect((await owner.get("/v1/runs")).body.data.length).toBe(1);
    expect((await owner.get("/v1/threads")).body.data.length).toBe(1);
    const other = await ask(owner, at, "SendMessage", said("Goodbye", { messageId: "m-Hello" }));
    expect(other.body.result.task.id).not.toBe(first.id);
    // The same message id from another key is another message.
    const { body: key } = await owner.post("/v1/api_keys", { name: "k", scopes: ["run"] });
    expect((await ask({ key }, at, "SendMessage", said("Hello"))).body.result.task.id).not.toBe(first.id);
  });

  test("that answers a call answers no other one when it comes twice", async () => {
    const { owner, at } = await asking("approval", 2);
    const { task } = (await ask(owner, at, "SendMessage", said("Go."))).body.result;
    const yes = said("approve", { taskId: task.id, messageId: "yes" });
    expect((await ask(owner, at, "SendMessage", yes)).body.result.task.status.state).toBe("TASK_STATE_INPUT_REQUIRED");
    // The key that sent it first may have been revoked.
    const { body: key } = await owner.post("/v1/api_keys", { name: "k", scopes: ["run", "read"] });
    const again = async (by: Key) => (await ask(by, at, "SendMessage", yes)).body.result.task.status.state;
    expect([await again(owner), await again({ key })]).toEqual(Array(2).fill("TASK_STATE_INPUT_REQUIRED"));
    await ask(owner, at, "SendMessage", said("approve", { taskId: task.id, messageId: "yes, too" }));
    expect([await again(owner), await again({ key })]).toEqual(Array(2).fill("TASK_STATE_COMPLETED"));
    const streamed = messagesOf((await ask({ key }, at, "SendStreamingMessage", yes)).body).map(({ result }) => result);
    expect(textOf(streamed)).toBe("Done.");
  });

  test("that is refused leaves no thread, and is taken when it comes again", async () => {
    const { owner, at } = await opened();
    await server.projects.update(owner.scope.project_id, { limits: { run_creations_per_minute: 1 } });
    await ask(owner, at, "SendMessage", said("x", { messageId: "m0" }));
    expect((await ask(owner, at, "SendMessage", said("x"))).status).toBe(429);
    expect((await owner.get("/v1/threads")).body.data.length).toBe(1);
    await server.projects.update(owner.scope.project_id, { limits: { run_creations_per_minute: 9 } });
    expect((await ask(owner, at, "SendMessage", said("x"))).body.result.task.status.state).toBe("TASK_STATE_COMPLETED");
  });

  test("with a token goes to the token's thread", async () => {
    const { owner, agent, at } = await opened();
    const thread_id = (await owner.post("/v1/threads", { user_id: "ada" })).body.id;
    for (const [bound, user_id] of [
      [{ thread_id }, "ada"],
      [{ user_id: "bob" }, "bob"],
    ] as const) {
      const asked = { agent_id: agent.id, scopes: ["run", "read"], expires_in_seconds: 60, ...bound };
      const key = { id: "", secret: (await owner.post("/v1/client_tokens", asked)).body.token };
      const { task } = (await ask({ key }, at, "SendMessage", said("Hi"))).body.result;
      expect(task.status.state).toBe("TASK_STATE_COMPLETED");
      expect((await owner.get(`/v1/threads/${task.contextId}`)).body.user_id).toBe(user_id);
      if ("thread_id" in bound) expect(task.contextId).toBe(thread_id);
    }
  });

  test("is answered at once when its sender does not wait, and with as much history as it wants", async () => {
    const { owner, at } = await opened(scripted([{ text: "x ".repeat(3000), delta_ms: 50 }]));
    const configuration = { returnImmediately: true, historyLength: 0 };
    const { task } = (await ask(owner, at, "SendMessage", { ...said("Go."), configuration })).body.result;
    expect([task.status.state, task.history]).toEqual(["TASK_STATE_WORKING", undefined]);
    const cancelled = (await ask(owner, at, "CancelTask", { id: task.id })).body.result;
    expect(cancelled.status.state).toBe("TASK_STATE_CANCELED");
    const again = await rest(owner, "POST", `${at}/tasks/${task.id}:cancel`);
    expect(again.body.status.state).toBe("TASK_STATE_CANCELED");
  });

  test("may return data, or a failure with its reason", async () => {
    const output_schema = { type: "object", properties: { n: { type: "integer" } } };
    const data = await opened(scripted([{ text: '{"n": 4}' }], { output_schema }));
    const { task } = (await ask(data.owner, data.at, "SendMessage", said("Go."))).body.result;
    expect(task.artifacts[0].parts).toEqual([{ data: { n: 4 } }]);
    const failing = await opened(scripted([{ error: "bad_request" }]));
    const failed = (await ask(failing.owner, failing.at, "SendMessage", said("Go."))).body.result.task;
    expect(failed.status.state).toBe("TASK_STATE_FAILED");
    expect(failed.status.message.parts[0].text).toMatch(/^model_error: /);
  });

  test.each([
    [{}, "INVALID_PARAMS"],
    [{ message: { messageId: "m", role: "ROLE_USER", parts: [] } }, "INVALID_PARAMS"],
    [{ message: { messageId: "m", role: "user", parts: [{ text: "x" }] } }, "INVALID_PARAMS"],
    [said("", { parts: [{ raw: "AAAA" }] }), "CONTENT_TYPE_NOT_SUPPORTED"],
    [said(""), "INVALID_PARAMS"],
    [said("x", { contextId: "thr_00000000000000000000000000" }), "INVALID_PARAMS"],
    [said("x", { contextId: "mine" }), "INVALID_PARAMS"],
    [said("x", { taskId: "run_00000000000000000000000000" }), "TASK_NOT_FOUND"],
    [{ ...said("x"), configuration: { taskPushNotificationConfig: {} } }, "INVALID_PARAMS"],
    [{ ...said("x"), configuration: { taskPushNotificationConfig: { url: "https://10.0.0.1/" } } }, "INVALID_PARAMS"],
  ])("that is %j is refused in the protocol's words, by both bindings, and starts no run", async (params, reason) => {
    const { owner, at } = await opened();
    const { status, body } = await ask(owner, at, "SendMessage", params);
    expect([status, body.error.data[0].reason]).toEqual([200, reason]);
    expect(body.error.code).toBeLessThan(-32000);
    const plain = await rest(owner, "POST", `${at}/message:send`, params);
    expect([plain.status, plain.body.error.details[0].reason]).toEqual([
      reason === "TASK_NOT_FOUND" ? 404 : 400,
      reason,
    ]);
    expect((await owner.get("/v1/runs")).body.data).toEqual([]);
  });
});

describe("a stream", () => {
  const script = [{ text: "One two three.", delta_ms: 1 }];

  test.each(["JSONRPC", "HTTP+JSON"])(
    "of %s begins with the task, has its text piece by piece, and ends with its end",
    async (binding) => {
      const { owner, at } = await opened(scripted(script));
      const isRpc = binding === "JSONRPC";
      const answer = isRpc
        ? await ask(owner, at, "SendStreamingMessage", said("Go."))
        : await rest(owner, "POST", `${at}/message:stream`, said("Go."));
      expect(answer.headers.get("content-type")).toStartWith("text/event-stream");
      const all = messagesOf(answer.body);
      if (isRpc) for (const { jsonrpc, id } of all) expect([jsonrpc, id]).toEqual(["2.0", 7]);
      const updates = isRpc ? all.map(({ result }) => result) : all;
      expect(Object.keys(updates[0])).toEqual(["task"]);
      expect(updates.at(-1).statusUpdate).toMatchObject({ status: { state: "TASK_STATE_COMPLETED" } });
      expect(textOf(updates)).toBe("One two three.");
      const { body: task } = await rest(owner, "GET", `${at}/tasks/${updates[0].task.id}`);
      expect(task.artifacts[0].parts).toEqual([{ text: "One two three." }]);
    },
  );

  test("can be had again while the task is at work, with all of its text", async () => {
    const { owner, at } = await asking("output");
    const { task } = (await ask(owner, at, "SendMessage", said("Go."))).body.result;
    expect(task.status).toMatchObject({ state: "TASK_STATE_INPUT_REQUIRED", message: { role: "ROLE_AGENT" } });
    const reader = rest(owner, "GET", `${at}/tasks/${task.id}:subscribe`);
    const call = task.status.message.parts[1].data.tool_calls[0];
    expect(call).toMatchObject({ name: "ask", arguments: { what: "now" }, needs: "output" });
    const answer = said("Now.", { taskId: task.id });
    const updates = messagesOf((await ask(owner, at, "SendStreamingMessage", answer)).body).map(({ result }) => result);
    expect(updates[0].task.id).toBe(task.id);
    expect(updates.at(-1).statusUpdate.status.state).toBe("TASK_STATE_COMPLETED");
    const read = messagesOf((await reader).body);
    expect([read[0].task.id, textOf(read), read.at(-1).statusUpdate.status.state]).toEqual([
      task.id,
      "Done.",
      "TASK_STATE_COMPLETED",
    ]);
    const over = await ask(owner, at, "SubscribeToTask", { id: task.id });
    expect(over.body.error.data[0].reason).toBe("UNSUPPORTED_OPERATION");
    const late = await ask(owner, at, "SendMessage", said("More.", { taskId: task.id }));
    expect(late.body.error.data[0].reason).toBe("UNSUPPORTED_OPERATION");
    expect((await ask(owner, at, "CancelTask", { id: task.id })).body.error.data[0].reason).toBe("TASK_NOT_CANCELABLE");
  });

  test.each([
    ["approve", "completed"],
    ["Reject", "rejected"],
  ])("of a task that waits for an approval resumes it when its sender answers %s", async (word, status) => {
    const { owner, at } = await asking("approval");
    const { task } = (await ask(owner, at, "SendMessage", said("Go."))).body.result;
    const unclear = await ask(owner, at, "SendMessage", said("Perhaps.", { taskId: task.id }));
    expect(unclear.body.error.data[0].reason).toBe("INVALID_PARAMS");
    const done = (await ask(owner, at, "SendMessage", said(word, { taskId: task.id }))).body.result.task;
    expect(done.status.state).toBe("TASK_STATE_COMPLETED");
    expect((await owner.get(`/v1/runs/${task.id}`)).body.tool_calls[0].status).toBe(status);
  });

  test("for a task that is at work steers it, once for each message id, also while it is paused", async () => {
    const script = [{ text: "One two three four five.", delta_ms: 20 }, { text: "And six." }];
    const { owner, at } = await opened(scripted(script));
    const go = { ...said("Go."), configuration: { returnImmediately: true } };
    const { task } = (await ask(owner, at, "SendMessage", go)).body.result;
    const hasBegun = async () =>
      JSON.stringify((await owner.get(`/v1/runs/${task.id}/events`)).body.data).includes("step.started");
    while (!(await hasBegun())) await new Promise((resolve) => setImmediate(resolve));
    await owner.post(`/v1/runs/${task.id}/pause`, {});
    const more = { ...said("One more.", { taskId: task.id }), configuration: { returnImmediately: true } };
    const steered = (await ask(owner, at, "SendMessage", more)).body.result.task;
    expect([steered.id, steered.status.state]).toEqual([task.id, "TASK_STATE_WORKING"]);
    expect((await ask(owner, at, "SendMessage", more)).body.result.task.id).toBe(task.id);
    await owner.post(`/v1/runs/${task.id}/resume`, {});
    const subscribed = messagesOf((await ask(owner, at, "SubscribeToTask", { id: task.id })).body);
    expect(subscribed.at(-1).result.statusUpdate.status.state).toBe("TASK_STATE_COMPLETED");
    const { body: run } = await owner.get(`/v1/runs/${task.id}`);
    const texts = run.messages.map(({ content }: { content: string }) => content);
    expect(texts).toEqual(["Go.", "One two three four five.", "One more.", "And six."]);
  });

  test("takes outputs as data, as the API does", async () => {
    const { owner, at } = await asking("output");
    const { task } = (await ask(owner, at, "SendMessage", said("Go."))).body.result;
    const { tool_call_id } = task.status.message.parts[1].data.tool_calls[0];
    const data = { tool_outputs: [{ tool_call_id, output: { n: 1 } }] };
    await ask(owner, at, "SendMessage", said("", { taskId: task.id, parts: [{ data }] }));
    expect((await owner.get(`/v1/runs/${task.id}`)).body.tool_calls[0].output).toEqual({ n: 1 });
  });
});

test("tasks are listed, those of one agent, page by page", async () => {
  const { owner, at } = await opened();
  const { body: other } = await owner.post("/v1/agents", { ...agentBody, name: "other" });
  const theirs = (await ask(owner, `/a2a/v1/agents/${other.id}`, "SendMessage", said("x"))).body.result.task;
  const ids: string[] = [];
  for (const text of ["a", "b", "c"]) ids.push((await ask(owner, at, "SendMessage", said(text))).body.result.task.id);
  const first = (await ask(owner, at, "ListTasks", { pageSize: 2, includeArtifacts: true })).body.result;
  expect(first.tasks.map(({ id }: { id: string }) => id)).toEqual([ids[2], ids[1]]);
  expect(first.tasks[0].artifacts[0].parts).toEqual([{ text: "c" }]);
  const { body: rest_ } = await rest(owner, "GET", `${at}/tasks?pageSize=2&pageToken=${first.nextPageToken}`);
  expect(rest_).toMatchObject({ tasks: [{ id: ids[0] }], nextPageToken: "", pageSize: 2, totalSize: 3 });
  expect(first.totalSize).toBe(3);
  expect(rest_.tasks[0]).not.toContainAnyKeys(["artifacts", "history"]);
  const done = await ask(owner, at, "ListTasks", { status: "TASK_STATE_FAILED" });
  expect(done.body.result).toMatchObject({ tasks: [], totalSize: 0 });
  const since = { statusTimestampAfter: "2026-01-01T00:00:00Z" };
  for (const wrong of [
    { pageSize: 0 },
    { status: "TASK_STATE_NONE" },
    { pageToken: "x" },
    { historyLength: -1 },
    since,
  ])
    expect((await ask(owner, at, "ListTasks", wrong)).body.error.data[0].reason).toBe("INVALID_PARAMS");
  for (const id of [theirs.id, "run_\ud800", { toString: 1 }, "", ".", "..", "%2e%2e"])
    expect((await ask(owner, at, "GetTask", { id })).body.error.data[0].reason).toBe("TASK_NOT_FOUND");
  const noText = { toString: 1 };
  for (const wrong of [{ pageSize: noText }, { status: noText }, { pageToken: noText }, { contextId: noText }])
    expect((await ask(owner, at, "ListTasks", wrong)).body.error.data[0].reason).toBe("INVALID_PARAMS");
});

describe("notifications", () => {
  const waits = async () => {
    const { owner, at } = await asking("output");
    return { owner, at, task: (await ask(owner, at, "SendMessage", said("Go."))).body.result.task };
  };

  test("notify an address of a task's updates, with the client's token, and again after a failure", async () => {
    await using receiver = startWebhookReceiver();
    const { owner, at } = await asking("output");
    const taskPushNotificationConfig = {
      id: "mine",
      url: receiver.url,
      token: "t0ken",
      authentication: { scheme: "Bearer", credentials: "cr3dentials" },
    };
    const sent = { ...said("Go."), configuration: { taskPushNotificationConfig } };
    const { task } = (await ask(owner, at, "SendMessage", sent)).body.result;
    await server.deliverWebhooks();
    const [first] = await receiver.heard(1);
    expect(JSON.parse(first!.body).task).toMatchObject({ id: task.id, status: { state: "TASK_STATE_INPUT_REQUIRED" } });
    expect(first!.headers).toMatchObject({
      "x-a2a-notification-token": "t0ken",
      authorization: "Bearer cr3dentials",
      "webhook-id": expect.any(String),
    });
    // There is no webhook secret to verify a signature.
    expect(first!.headers).not.toHaveProperty("webhook-signature");
    receiver.answerWith(() => new Response("Not now.", { status: 503 }));
    await ask(owner, at, "SendMessage", said("Now.", { taskId: task.id }));
    await server.deliverWebhooks();
    const [, second] = await receiver.heard(2);
    expect(JSON.parse(second!.body).task).toMatchObject({
      status: { state: "TASK_STATE_COMPLETED" },
      artifacts: [{ parts: [{ text: "Done." }] }],
    });
    const waiting = server.db.sqlite
      .query<{ n: number }, [string]>(
        "SELECT count(*) AS n FROM webhook_deliveries WHERE run_id = ? AND next_at_ms IS NOT NULL",
      )
      .get(task.id);
    expect(waiting?.n).toBe(1);
    // The client's credentials are stored nowhere in clear text.
    const attempts = JSON.stringify(server.db.sqlite.query("SELECT * FROM webhook_attempts").all());
    for (const secret of ["t0ken", "cr3dentials"]) expect(attempts).not.toContain(secret);
    expect((await owner.get("/v1/webhooks")).body.data).toEqual([]);
  });

  test("for a task that is already over report its end", async () => {
    await using receiver = startWebhookReceiver();
    const { owner, at } = await opened();
    const { task } = (await ask(owner, at, "SendMessage", said("Hello"))).body.result;
    await ask(owner, at, "CreateTaskPushNotificationConfig", { taskId: task.id, url: receiver.url });
    await server.deliverWebhooks();
    expect(JSON.parse((await receiver.heard(1))[0]!.body).task.artifacts[0].parts).toEqual([{ text: "Hello" }]);
  });

  test.each(["JSONRPC", "HTTP+JSON"])("are made, shown, listed, changed and deleted by %s", async (binding) => {
    const { owner, at, task } = await waits();
    const path = `/tasks/${task.id}/pushNotificationConfigs`;
    const all = {
      JSONRPC: (method: string, params: object) =>
        ask(owner, at, `${method}TaskPushNotificationConfig${method === "List" ? "s" : ""}`, {
          taskId: task.id,
          ...params,
        }),
      "HTTP+JSON": (method: string, { id, ...params }: { id?: string }) =>
        method === "Create"
          ? rest(owner, "POST", `${at}${path}`, { id, ...params })
          : rest(owner, method === "Delete" ? "DELETE" : "GET", `${at}${path}${id ? `/${id}` : ""}`),
    };
    const send = async (method: string, params: { id?: string; url?: string; token?: string }) => {
      const { body } = await all[binding as keyof typeof all](method, params);
      return body.result ?? body;
    };
    const made = await send("Create", { url: "http://127.0.0.1:9999/a", token: "t" });
    expect(made).toEqual({ id: expect.any(String), taskId: task.id, url: "http://127.0.0.1:9999/a", token: "t" });
    expect(await send("Get", { id: made.id })).toEqual(made);
    await send("Create", { id: "two", url: "http://127.0.0.1:9999/b" });
    const changed = await send("Create", { id: "two", url: "http://127.0.0.1:9999/c" });
    expect(await send("List", {})).toEqual({ configs: [made, changed], nextPageToken: "" });
    for (const _ of ["once", "again"]) expect(await send("Delete", { id: made.id })).toEqual({});
    expect((await send("Get", { id: made.id })).error).toBeDefined();
    expect((await send("List", {})).configs).toEqual([changed]);
  });

  test.each([
    [{ url: "https://169.254.169.254/latest" }, "INVALID_PARAMS"],
    [{ url: "file:///etc/passwd" }, "INVALID_PARAMS"],
    [{ url: 7 }, "INVALID_PARAMS"],
    [{ url: "https://example.com/", token: "a\r\nx: y" }, "INVALID_PARAMS"],
    [{ url: "https://example.com/", authentication: { scheme: "Bearer", credentials: {} } }, "INVALID_PARAMS"],
    [{ url: "https://example.com/", id: "../x" }, "INVALID_PARAMS"],
  ])("to %j are refused", async (config, reason) => {
    const { owner, at, task } = await waits();
    const { body } = await ask(owner, at, "CreateTaskPushNotificationConfig", { taskId: task.id, ...config });
    expect(body.error.data[0].reason).toBe(reason);
    expect((await ask(owner, at, "ListTaskPushNotificationConfigs", { taskId: task.id })).body.result.configs).toEqual(
      [],
    );
  });

  test("go to at most ten addresses per task, and are deleted with it", async () => {
    const { owner, at, task } = await waits();
    const put = (id: string) =>
      ask(owner, at, "CreateTaskPushNotificationConfig", { taskId: task.id, id, url: "http://127.0.0.1:9999/" });
    for (let n = 0; n < 10; n++) expect((await put(`c${n}`)).body.error).toBeUndefined();
    expect((await put("more")).body.error.data[0].reason).toBe("INVALID_PARAMS");
    await ask(owner, at, "CancelTask", { id: task.id });
    expect((await owner.delete(`/v1/runs/${task.id}`)).status).toBe(200);
    expect(server.db.sqlite.query("SELECT 1 FROM webhooks WHERE run_id = ?").get(task.id)).toBeNull();
  });
});

describe("access", () => {
  test("needs a key, and cannot see agents and tasks of others", async () => {
    const { owner, agent, at } = await opened();
    const { task } = (await ask(owner, at, "SendMessage", said("x"))).body.result;
    const strangers = [
      await server.client({ project: "stranger" }),
      await server.client({ project: "stranger", environment: "live" }),
      {
        key: (await owner.post("/v1/api_keys", { name: "k", scopes: ["admin"], agent_ids: [await otherAgent(owner)] }))
          .body,
      },
    ];
    const never = at.replace(agent.id, "agt_00000000000000000000000000");
    for (const stranger of strangers)
      for (const [method, path] of [
        ["GET", "/.well-known/agent-card.json"],
        ["GET", "/tasks"],
        ["GET", `/tasks/${task.id}`],
        ["POST", `/tasks/${task.id}:cancel`],
        ["GET", `/tasks/${task.id}:subscribe`],
        ["POST", "/message:send"],
        ["POST", "/message:stream"],
      ] as const) {
        const body = method === "POST" ? said("x") : undefined;
        const [theirs, none] = [
          await rest(stranger, method, at + path, body),
          await rest(stranger, method, never + path, body),
        ];
        const shown = ({ body: { request_id: _, ...said } }: Awaited<ReturnType<typeof rest>>) => said;
        expect([path, theirs.status, shown(theirs)]).toEqual([path, 404, shown(none)]);
        expect((await server.send(method, at + path, body)).status).toBe(401);
      }
    await owner.patch(`/v1/agents/${agent.id}`, { doors: { a2a: false } });
    expect((await rest(owner, "GET", `${at}/tasks/${task.id}`)).status).toBe(404);
  });

  const otherAgent = async (owner: Client): Promise<string> =>
    (await owner.post("/v1/agents", { ...agentBody, name: "o" })).body.id;

  test.each([
    [["run"], 200, 200],
    [["read"], 403, 200],
  ] as [Permission[], number, number][])(
    "has with the scope %j what it has in the API",
    async (scopes, sends, reads) => {
      const { owner, at } = await opened();
      const { body: key } = await owner.post("/v1/api_keys", { name: "k", scopes });
      expect((await rest({ key }, "POST", `${at}/message:send`, said("x"))).status).toBe(sends);
      expect((await rest({ key }, "GET", `${at}/tasks`)).status).toBe(reads);
      const { status, body } = await ask({ key }, at, "SendMessage", said("x"));
      expect([status, body.error?.data[0].metadata.code]).toEqual([
        sends,
        sends === 200 ? undefined : "insufficient_scope",
      ]);
    },
  );

  test("pays as in the API", async () => {
    const { owner, at } = await opened();
    await server.projects.update(owner.scope.project_id, { limits: { run_creations_per_minute: 1 } });
    expect((await ask(owner, at, "SendMessage", said("x"))).status).toBe(200);
    const { status, body, headers } = await ask(owner, at, "SendMessage", said("x"));
    expect([status, body.id, body.error.data[0].reason]).toEqual([429, 7, "RESOURCE_EXHAUSTED"]);
    expect(Number(headers.get("retry-after"))).toBeGreaterThan(0);
  });
});

test("a bug of the server is called one, and not a fault of the message", () => {
  const body = { error: { message: "Something went wrong.", code: "internal_error" } };
  const error = toA2aError({ status: 500, body, headers: new Headers() });
  expect([error.rpc().code, error.http().error.code]).toEqual([-32603, 500]);
});

test("requests outside the protocol are refused with its own errors", async () => {
  const { owner, at } = await opened();
  const reasonOf = async (method: string, headers: Record<string, string> = {}) =>
    (await ask(owner, at, method, {}, headers)).body.error.data[0].reason;
  expect(await reasonOf("GetTask", { "a2a-version": "0.3" })).toBe("VERSION_NOT_SUPPORTED");
  for (const method of ["message/send", "sendMessage", "constructor", "ToString"])
    expect(await reasonOf(method)).toBe("METHOD_NOT_FOUND");
  expect((await rest(owner, "GET", `${at}/nothing`)).body.error.details[0].reason).toBe("METHOD_NOT_FOUND");
  for (const body of ["{", "[]", '"x"', "{}"]) {
    const answer = await server.send("POST", at, body, headersOf(owner));
    expect([body, answer.body.error.data[0].reason]).toEqual([body, "INVALID_REQUEST"]);
  }
});

test("a task is returned without reading its tools' outputs", async () => {
  using tool = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => Response.json("said ".repeat(20_000)) });
  const owner = await server.client({ project: crypto.randomUUID() });
  const { body } = await owner.post("/v1/tools", { name: "say", parameters: {}, url: tool.url.href, method: "GET" });
  const calls = Array.from({ length: 8 }, () => ({ tool_calls: [{ name: "say", arguments: {} }] }));
  const { body: agent } = await owner.post("/v1/agents", scripted([...calls, { text: "Done." }], { tools: [body.id] }));
  const at = `/a2a/v1/agents/${agent.id}`;
  const { body: sent } = await ask(owner, at, "SendMessage", said("Go."));
  expect(sent.result.task.status.state).toBe("TASK_STATE_COMPLETED");
  const { body: run } = await owner.get(`/v1/runs/${sent.result.task.id}`);
  const longest = async (params: object): Promise<number> => {
    using parse = spyOn(JSON, "parse");
    const { body } = await ask(owner, at, "GetTask", { id: run.id, ...params });
    expect(body.result.status.state).toBe("TASK_STATE_COMPLETED");
    return Math.max(...parse.mock.calls.map(([text]) => text.length));
  };
  const whole = JSON.stringify(run).length;
  expect(await longest({ historyLength: 0 })).toBeLessThan(whole / 10);
  expect(await longest({})).toBeLessThan(whole / 10);
  const { body: task } = await ask(owner, at, "GetTask", { id: run.id, historyLength: 1 });
  expect(task.result.history.map(({ parts }: { parts: object[] }) => parts)).toEqual([[{ text: "Done." }]]);
});

// A message of 60,000 parts blocked the thread for 40 ms.
test("field names are read in both spellings, except in the client's own data, and other work runs in between", async () => {
  const given = {
    task_id: 1,
    contextId: 2,
    metadata: { a_b: 3 },
    parts: [{ data: { c_d: 4 }, media_type: "x" }, [], null],
  };
  expect(await inCamelCase(given)).toEqual({
    taskId: 1,
    contextId: 2,
    metadata: { a_b: 3 },
    parts: [{ data: { c_d: 4 }, mediaType: "x" }, [], null],
  });
  const parts = Array.from({ length: 60_000 }, () => ({ text: "a" }));
  const { turns, result } = await turnsDuring(() => inCamelCase({ parts }));
  expect(result).toEqual({ parts });
  expect(turns).toBeGreaterThan(100);
});

test("a message to a task at work is in its next model call, once", async () => {
  const { owner, at } = await opened(scripted([{ text: "One two.", delay_ms: 600_000 }, { text: "Done." }]));
  const { task } = (await ask(owner, at, "SendMessage", { ...said("Go."), configuration: { returnImmediately: true } }))
    .body.result;
  expect(task.status.state).toBe("TASK_STATE_WORKING");
  const more = { ...said("More.", { taskId: task.id }), configuration: { returnImmediately: true } };
  const taken = await ask(owner, at, "SendMessage", more);
  const again = await ask(owner, at, "SendMessage", more);
  expect([taken.body.result.task.id, again.body.result.task.id]).toEqual([task.id, task.id]);
  const asked = async (times: number) => {
    const watch = server.watches.join(task.id);
    const events = async () => (await owner.get(`/v1/runs/${task.id}/events`)).body.data as { event: string }[];
    while ((await events()).filter(({ event }) => event === "step.started").length < times) await watch.next(10_000);
    watch.leave();
  };
  await asked(1);
  const body = { role: "user", content: "Now.", interrupt: true };
  expect((await owner.post(`/v1/runs/${task.id}/messages`, body)).status).toBe(200);
  await asked(2);
  await owner.post(`/v1/runs/${task.id}/cancel`, {});
  const { body: run } = await owner.get(`/v1/runs/${task.id}`);
  expect(run.messages.map(({ content }: { content: string }) => content)).toEqual(["Go.", "More.", "Now."]);
});
