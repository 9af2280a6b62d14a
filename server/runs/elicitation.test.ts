import { afterAll, beforeAll, expect, test } from "bun:test";
import { removeProxyEnvironment } from "../lib/proxy.ts";
import { startMcpServer } from "../testing/mcp-server.ts";
import { settledRun } from "../testing/settled-run.ts";
import { type Client, type TestApp, type TestAppOptions, testApp } from "../testing/test-app.ts";

removeProxyEnvironment();

let mcp: ReturnType<typeof startMcpServer>;
const stdioCommand = JSON.stringify([process.execPath, new URL("../testing/mcp-server.ts", import.meta.url).pathname]);
beforeAll(() => {
  mcp = startMcpServer();
  process.env.RUNNEL_MCP_TESTS_COMMAND = stdioCommand;
});
afterAll(async () => {
  delete process.env.RUNNEL_MCP_TESTS_COMMAND;
  await mcp[Symbol.asyncDispose]();
});

interface SetUp extends TestAppOptions {
  server_url?: string;
  tool?: object;
  run?: object;
}

async function agentOf(client: Client, calls: readonly [string, object][], { server_url = mcp.url, tool = {} }: SetUp) {
  await client
    .get("/v1/tools")
    .then(({ body }) => Promise.all(body.data.map(({ id }: { id: string }) => client.delete(`/v1/tools/${id}`))));
  const made = await client.post("/v1/tools", { name: "s", type: "mcp", server_url, ...tool });
  const tool_calls = calls.map(([name, args]) => ({ name: `s_${name}`, arguments: args }));
  const { body } = await client.post("/v1/agents", {
    name: "a",
    instructions: "Go.",
    tools: [made.body.id],
    model: "test/script",
    model_settings: { script: [{ tool_calls }, { text: "Done." }] },
  });
  return body.id as string;
}

/** Starts a run of a script with these calls, and returns it at rest. */
async function start(app: TestApp, calls: readonly [string, object][], options: SetUp = {}) {
  const client = await app.client();
  const agent_id = await agentOf(client, calls, options);
  const { body: run } = await client.post("/v1/runs?wait=30", { agent_id, input: "Go", ...options.run });
  const openCalls = () => run.required_action?.submit_tool_outputs.tool_calls ?? [];
  const answer = (elicitation: object, tool_call_id = openCalls()[0]?.tool_call_id, by = client) =>
    by.post(`/v1/runs/${run.id}/submit_tool_outputs`, { tool_outputs: [{ tool_call_id, elicitation }] });
  const rest = () => settledRun(app, client, run.id);
  return { client, run, calls: openCalls(), answer, rest };
}

const accept = { action: "accept", content: { name: "Ada" } };

test.each([
  ["HTTP", undefined],
  ["stdio", "stdio:tests"],
])("over %s, a question of the server makes the run wait, and its answer lets the same call go on", async (_, at) => {
  await using app = testApp({ environment: { RUNNEL_MCP_TESTS_COMMAND: stdioCommand } });
  const { client, run, calls, answer, rest } = await start(app, [["elicit", {}]], { server_url: at });
  expect(run.status).toBe("requires_action");
  expect(calls).toEqual([
    {
      tool_call_id: expect.any(String),
      tool_id: expect.any(String),
      name: "s_elicit",
      arguments: {},
      needs: "elicitation",
      elicitation: {
        id: expect.stringMatching(/^elc_/),
        mode: "form",
        message: "Who are you?",
        requested_schema: expect.objectContaining({ required: ["name"] }),
      },
      expires_at: expect.any(String),
    },
  ]);
  expect(run.tool_calls[0].status).toBe("awaiting_elicitation");
  expect((await client.get("/v1/approvals")).body.data).toMatchObject([{ needs: "elicitation" }]);
  expect((await answer(accept)).status).toBe(200);
  const after = await rest();
  expect(after).toMatchObject({ status: "completed", output: "Done." });
  expect(after.tool_calls).toMatchObject([{ status: "completed", output: JSON.stringify(accept), error: null }]);
  expect((await client.get("/v1/approvals")).body.data).toEqual([]);
});

test.each(["decline", "cancel"])("the server is told that the user chose to %s", async (action) => {
  await using app = testApp();
  const { answer, rest } = await start(app, [["elicit", {}]]);
  await answer({ action });
  expect((await rest()).tool_calls).toMatchObject([{ status: "completed", output: JSON.stringify({ action }) }]);
});

test("an address is shown with the question, and only consent is sent back", async () => {
  await using app = testApp();
  const url = "https://example.com/pay?order=7";
  const { calls, answer, rest } = await start(app, [["elicit", { mode: "url", url, elicitationId: "7" }]]);
  expect(calls).toMatchObject([{ elicitation: { mode: "url", url, message: "Who are you?" } }]);
  expect((await answer(accept)).body.error).toMatchObject({ param: "tool_outputs[0].elicitation.content" });
  await answer({ action: "accept" });
  expect((await rest()).tool_calls).toMatchObject([{ output: '{"action":"accept"}' }]);
});

test("a call that the server refuses until the user has opened an address is made again after it", async () => {
  await using app = testApp();
  const { calls, answer, rest } = await start(app, [["sign_in", {}]]);
  const elicitation = { mode: "url", url: "https://example.com/sign-in", before_call: true };
  expect(calls).toMatchObject([{ needs: "elicitation", elicitation }]);
  await answer({ action: "accept" });
  expect((await rest()).tool_calls).toMatchObject([{ status: "completed", output: "signed in" }]);
  const declined = await start(app, [["sign_in", {}]]);
  await declined.answer({ action: "decline" });
  expect((await declined.rest()).tool_calls).toMatchObject([{ error: { code: "elicitation_declined" } }]);
});

test("a server asks several times in one call", async () => {
  await using app = testApp();
  const { run, calls, answer, client, rest } = await start(app, [["elicit_twice", {}]]);
  const first = { id: calls[0].elicitation.id, action: "accept", content: { name: "one" } };
  await answer(first);
  const between = await rest();
  expect(between.required_action.submit_tool_outputs.tool_calls).toMatchObject([
    { elicitation: { message: "Second?" } },
  ]);
  // A repeated answer is none to the second question.
  expect((await answer(first)).status).toBe(200);
  expect((await answer({ ...first, content: { name: "other" } })).body.error.code).toBe("tool_call_already_resolved");
  await answer({ action: "accept", content: { name: "two" } });
  expect((await rest()).tool_calls).toMatchObject([{ status: "completed", output: "one two" }]);
  const { body } = await client.get(`/v1/runs/${run.id}/events?limit=100`);
  const decided = body.data.filter(({ event }: { event: string }) => event === "tool.decided");
  expect(decided.map(({ data }: { data: object }) => data)).toMatchObject([
    { decision: "answer", elicitation: { action: "accept", content: { name: "one" } } },
    { decision: "answer", elicitation: { action: "accept", content: { name: "two" } } },
  ]);
});

test.each<[string, object, string]>([
  ["without a required field", { elicitation: { action: "accept", content: {} } }, ".elicitation.content"],
  ["without a content", { elicitation: { action: "accept" } }, ".elicitation.content"],
  ["of another type", { elicitation: { action: "accept", content: { name: 1 } } }, ".elicitation.content"],
  ["with a content that is declined", { elicitation: { ...accept, action: "decline" } }, ".elicitation.content"],
  ["of no action", { elicitation: { content: { name: "Ada" } } }, ".elicitation.action"],
  ["with an output", { output: "Ada" }, ".elicitation"],
  ["with a decision", { decision: "approve" }, ".elicitation"],
])("an answer %s is refused with its place, and the run still waits", async (_, answer, place) => {
  await using app = testApp();
  const { client, run, calls } = await start(app, [["elicit", {}]]);
  const tool_outputs = [{ tool_call_id: calls[0].tool_call_id, ...answer }];
  const { status, body } = await client.post(`/v1/runs/${run.id}/submit_tool_outputs`, { tool_outputs });
  expect([status, body.error.param]).toEqual([400, `tool_outputs[0]${place}`]);
  expect((await client.get(`/v1/runs/${run.id}`)).body.status).toBe("requires_action");
});

test("an answer to a question is refused where an approval is asked, and in another project", async () => {
  await using app = testApp();
  const { run, answer } = await start(app, [["elicit", {}]], { tool: { approval: "always" } });
  expect(run.required_action.submit_tool_outputs.tool_calls).toMatchObject([{ needs: "approval" }]);
  expect((await answer(accept)).body.error).toMatchObject({ param: "tool_outputs[0].elicitation" });
  const other = await app.client({ project: "other" });
  expect((await answer(accept, undefined, other)).status).toBe(404);
});

test("an approved call may ask the user too", async () => {
  await using app = testApp();
  const { client, run, calls, answer, rest } = await start(app, [["elicit", {}]], { tool: { approval: "always" } });
  const approved = { tool_call_id: calls[0].tool_call_id, decision: "approve" };
  await client.post(`/v1/runs/${run.id}/submit_tool_outputs`, { tool_outputs: [approved] });
  const asked = await rest();
  expect(asked.required_action.submit_tool_outputs.tool_calls).toMatchObject([{ needs: "elicitation" }]);
  await answer(accept);
  expect(await rest()).toMatchObject({ status: "completed", tool_calls: [{ output: JSON.stringify(accept) }] });
});

test("while one call asks, the others of the same turn end", async () => {
  await using app = testApp();
  const { run, calls, answer, rest } = await start(app, [
    ["elicit", {}],
    ["say", { what: "hi" }],
    ["elicit", { message: "And you?" }],
  ]);
  expect(run.tool_calls.map(({ status }: { status: string }) => status)).toEqual([
    "awaiting_elicitation",
    "completed",
    "awaiting_elicitation",
  ]);
  await answer({ action: "decline" }, calls[1].tool_call_id);
  await answer(accept, calls[0].tool_call_id);
  expect((await rest()).tool_calls.map(({ output }: { output: string }) => output)).toEqual([
    JSON.stringify(accept),
    "hi",
    '{"action":"decline"}',
  ]);
});

test("the time of the call stands while the user is asked", async () => {
  await using app = testApp();
  const { answer, rest } = await start(app, [["elicit", {}]], { tool: { timeout_ms: 1000 } });
  await Bun.sleep(1300); // Longer than the whole call may take.
  await answer(accept);
  expect((await rest()).tool_calls).toMatchObject([{ status: "completed", output: JSON.stringify(accept) }]);
});

test("a server that does not wait so long gets its call's end, and the run goes on without an answer", async () => {
  await using app = testApp();
  const { answer, rest } = await start(app, [["elicit", { timeout: 300 }]]);
  let after = await rest();
  while (after.status === "requires_action") {
    await Bun.sleep(50);
    after = await rest();
  }
  expect(after).toMatchObject({ status: "completed", tool_calls: [{ status: "failed" }] });
  expect((await answer(accept, after.tool_calls[0].tool_call_id)).status).toBe(409);
});

test("a cancelled run ends its call at the server", async () => {
  await using app = testApp();
  await using own = startMcpServer();
  const { client, run } = await start(app, [["elicit", {}]], { server_url: own.url });
  expect(own.sessions.size).toBe(1);
  await client.post(`/v1/runs/${run.id}/cancel`, {});
  while (own.sessions.size > 0) await Bun.sleep(10);
});

test.each<[string, object, object]>([
  [
    "that may have had an effect ends with a clear error",
    {},
    { status: "failed", error: { code: "elicitation_lost" } },
  ],
  [
    "that may be repeated is made again, and gets the answer",
    { on_unknown: "retry" },
    { output: JSON.stringify(accept) },
  ],
])("after the process died, a call %s", async (_, tool, outcome) => {
  const masterKey = crypto.getRandomValues(new Uint8Array(32));
  const first = testApp({ masterKey });
  const { client, run, calls } = await start(first, [["elicit", {}]], { tool });
  await first.stop();
  await using second = testApp({ masterKey, db: first.db });
  const headers = { authorization: `Bearer ${client.key.secret}` };
  const path = `/v1/runs/${run.id}`;
  expect((await second.send("GET", path, undefined, headers)).body.status).toBe("requires_action");
  const tool_outputs = [{ tool_call_id: calls[0].tool_call_id, elicitation: accept }];
  expect((await second.send("POST", `${path}/submit_tool_outputs`, { tool_outputs }, headers)).status).toBe(200);
  const body = await settledRun(second, { get: (at) => second.send("GET", at, undefined, headers) }, run.id);
  expect(body).toMatchObject({ status: "completed", output: "Done.", tool_calls: [outcome] });
});

test("a replay of a run needs no answer and no server", async () => {
  await using app = testApp();
  const { client, run, answer, rest } = await start(app, [["elicit", {}]]);
  await answer(accept);
  await rest();
  const { status, body } = await client.post(`/v1/runs/${run.id}/replay`, {});
  expect([status, body.status, body.replay.divergences]).toEqual([201, "completed", []]);
});

test("a tool that is tested outside of a run tells its server that nobody answers", async () => {
  await using app = testApp();
  const client = await app.client();
  const { body: tool } = await client.post("/v1/tools", { name: "s", type: "mcp", server_url: mcp.url });
  const tested = await client.post(`/v1/tools/${tool.id}/test`, { name: "capabilities", arguments: {} });
  expect(tested.body).toMatchObject({ output: "{}" });
});

test("a stdio server whose question could be of two runs gets an error, and no user is asked", async () => {
  await using app = testApp({ environment: { RUNNEL_MCP_TESTS_COMMAND: stdioCommand } });
  const { run } = await start(app, [["elicit", {}]], { server_url: "stdio:tests" });
  expect(run.status).toBe("requires_action");
  const other = await start(app, [["elicit", {}]], { server_url: "stdio:tests" });
  expect(other.run).toMatchObject({ status: "completed", tool_calls: [{ status: "failed" }] });
});

/** Starts a run of a visitor of the agent's chat page that asks a question, and returns it at rest. */
async function visit(app: TestApp, run: object = {}) {
  const admin = await app.client();
  const agent_id = await agentOf(admin, [["elicit", {}]], {});
  const { body: page } = await admin.put(`/v1/agents/${agent_id}/chat_page`, { access: "link" });
  const secret = new URL(page.url).hash.slice(1);
  const { body: entered } = await app.send("POST", `/chat/${agent_id}/token`, { secret });
  const ask = (method: string, path: string, body?: unknown) =>
    app.send(method, path, body, { authorization: `Bearer ${entered.token}` });
  const { body } = await ask("POST", "/v1/runs?wait=30", { agent_id, input: "Go", ...run });
  const rest = async (is: string) => {
    for (;;) {
      const { body: now } = await ask("GET", `/v1/runs/${body.id}`);
      if (now.status === is) return now;
      await Bun.sleep(5);
    }
  };
  return { admin, run: body, ask, rest };
}

test("a visitor of a chat page gets no question and cannot answer it, and a member's answer lets the run go on", async () => {
  await using app = testApp({ dashboard: true, publicUrl: "https://runnel.test" });
  const { admin, run, ask, rest } = await visit(app);
  expect(run).toMatchObject({
    status: "requires_action",
    tool_calls: [],
    required_action: { submit_tool_outputs: { tool_calls: [] } },
  });
  expect(JSON.stringify(run)).not.toContain("Who are you?");
  const [waiting] = (await admin.get("/v1/approvals")).body.data;
  const tool_outputs = [{ tool_call_id: waiting.tool_call_id, elicitation: accept }];
  const path = `/v1/runs/${run.id}/submit_tool_outputs`;
  expect((await ask("POST", path, { tool_outputs })).status).toBe(403);
  expect((await admin.post(path, { tool_outputs })).status).toBe(200);
  expect(await rest("completed")).toMatchObject({ output: "Done.", tool_calls: [] });
});

test("a question that is answered by no member fails the visitor's run when its time is over", async () => {
  await using app = testApp({ dashboard: true, publicUrl: "https://runnel.test" });
  const { admin, run, rest } = await visit(app, { action_timeout_ms: 200 });
  expect((await rest("failed")).error).toMatchObject({
    code: "action_expired",
    message: "The run could not be finished.",
  });
  expect((await admin.get(`/v1/runs/${run.id}`)).body.error.message).toContain("not answered in time");
});
