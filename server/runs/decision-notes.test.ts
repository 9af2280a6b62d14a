import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { AuditEntry } from "../domain/api-types/audit.ts";
import { type ConsoleVisitor, visitorOf } from "../testing/console-visitor.ts";
import { connectMcp } from "../testing/mcp-client.ts";
import { httpTool, runFixture } from "../testing/run-fixture.ts";
import { type Client, testApp } from "../testing/test-app.ts";

const server = testApp({ dashboard: true });
afterAll(() => server[Symbol.asyncDispose]());
let member: ConsoleVisitor;
beforeAll(async () => {
  member = await visitorOf(server, "member");
});

/** Calls of a run that need a decision. */
interface Asked {
  owner: Client;
  agent_id: string;
  run_id: string;
  call_id: string;
}
type Word = "approve" | "reject";

const args = { to: "ada", amount: 7 };
const hashOf = (text: string) => new Bun.CryptoHasher("sha256").update(text).digest("hex");

async function agentOf(more: object = {}): Promise<{ owner: Client; agent_id: string }> {
  const owner = await server.client({ project: crypto.randomUUID() });
  const kind = { type: "code", source: "() => 7", approval: "always" };
  const { body: tool } = await owner.post("/v1/tools", { name: "transfer", ...kind, ...more });
  const script = [{ tool_calls: [{ name: "transfer", arguments: args }] }, { text: "Done." }];
  const { body: agent } = await owner.post("/v1/agents", {
    name: "Teller",
    instructions: "",
    model: "test/script",
    model_settings: { script },
    tools: [tool.id],
    doors: { mcp: true, a2a: true },
  });
  expect(agent.error).toBeUndefined();
  return { owner, agent_id: agent.id };
}

async function waiting(more: object = {}, start: object = {}): Promise<Asked> {
  const { owner, agent_id } = await agentOf(more);
  return await begun(owner, agent_id, start);
}

async function begun(owner: Client, agent_id: string, start: object = {}): Promise<Asked> {
  const { body: run } = await owner.post("/v1/runs?wait=60", { agent_id, input: "Go.", ...start });
  expect(run.status).toBe("requires_action");
  const [call] = run.required_action.submit_tool_outputs.tool_calls;
  return { owner, agent_id, run_id: run.id, call_id: call.tool_call_id };
}

const submission = ({ run_id }: Asked) => `/runs/${run_id}/submit_tool_outputs`;
const decisionOf = ({ call_id }: Asked, decision: Word, more: object = {}) => ({
  tool_outputs: [{ tool_call_id: call_id, decision, ...more }],
});

async function entries(owner: Client): Promise<AuditEntry[]> {
  const { body } = await owner.get("/v1/audit_log?limit=100");
  return body.data.filter(({ action }: AuditEntry) => /^(tool_call|run)\./.test(action));
}

const events = (text: string) =>
  text.split("\n").flatMap((line) => (line.startsWith("data: {") ? [JSON.parse(line.slice(6))] : []));

const mcp = (owner: Client, address: string, elicit?: () => object) =>
  connectMcp({
    url: `http://localhost${address}`,
    fetch(url, init = {}) {
      const headers = new Headers(init.headers);
      headers.set("authorization", `Bearer ${owner.key.secret}`);
      return server.app.handle(new Request(String(url), { ...init, headers }));
    },
    ...(elicit && { elicit }),
  });

const callOf = async (owner: Client): Promise<{ run_id: string; call_id: string }> => {
  const [run] = (await owner.get("/v1/runs")).body.data;
  return { run_id: run.id, call_id: (await owner.get(`/v1/runs/${run.id}`)).body.tool_calls[0].id };
};

interface Decided {
  asked: Asked;
  /** The author that the log must name, and the client token, if any. */
  actor: { type: string; id: string };
  client_token?: string;
}

/** Every route for decisions: the API's own, and every protocol that accepts them. */
const ways: Record<string, (word: Word) => Promise<Decided>> = {
  async "an API key"(word) {
    const asked = await waiting();
    const { status } = await asked.owner.post(`/v1${submission(asked)}`, decisionOf(asked, word));
    expect(status).toBe(200);
    return { asked, actor: { type: "api_key", id: asked.owner.key.id } };
  },
  async "a person at the dashboard"(word) {
    const asked = await waiting();
    const { project_id, environment } = asked.owner.scope;
    const path = `/${project_id}/${environment}${submission(asked)}`;
    expect((await member.send("POST", path, decisionOf(asked, word))).status).toBe(200);
    return { asked, actor: { type: "user", id: member.id } };
  },
  async "a client token"(word) {
    const { owner, agent_id } = await agentOf();
    const made = { agent_id, scopes: ["run", "read", "submit"], expires_in_seconds: 600 };
    const { body: token } = await owner.post("/v1/client_tokens", made);
    const asked = await begun(owner, agent_id, { user_id: token.user_id });
    const authorization = `Bearer ${token.token}`;
    const sent = await server.send("POST", `/v1${submission(asked)}`, decisionOf(asked, word), { authorization });
    expect(sent.status).toBe(200);
    return { asked, actor: { type: "api_key", id: owner.key.id }, client_token: token.id };
  },
  async "a member on a chat page"(word) {
    const { owner, agent_id } = await agentOf();
    await owner.put(`/v1/agents/${agent_id}/chat_page`, { access: "members" });
    const { body } = await server.send("POST", `/chat/${agent_id}/token`, {}, { cookie: member.cookie });
    const asked = await begun(owner, agent_id, { user_id: `${member.id}/${agent_id}` });
    const authorization = `Bearer ${body.token}`;
    const sent = await server.send("POST", `/v1${submission(asked)}`, decisionOf(asked, word), { authorization });
    expect([sent.status, sent.body.error ?? null]).toEqual([200, null]);
    return { asked, actor: { type: "user", id: member.id }, client_token: expect.stringMatching(/^ctk_/) };
  },
  async "AG-UI"(word) {
    const { owner, agent_id } = await agentOf();
    const at = `/ag-ui/v1/agents/${agent_id}`;
    const body = { threadId: "t", runId: "r", messages: [], tools: [], context: [], state: {}, protocolVersion: "1.0" };
    const messages = [{ id: "m", role: "user", content: "Go." }];
    const [interrupt] = events((await owner.post(at, { ...body, messages })).body).at(-1).outcome.interrupts;
    const answer = { interruptId: interrupt.id, status: "resolved", payload: { approved: word === "approve" } };
    expect((await owner.post(at, { ...body, runId: "r2", resume: [answer] })).status).toBe(200);
    return { asked: { owner, agent_id, ...(await callOf(owner)) }, actor: { type: "api_key", id: owner.key.id } };
  },
  async "AI SDK UI"(word) {
    const { owner, agent_id } = await agentOf();
    const at = `/ui/v1/agents/${agent_id}/chat`;
    const chat = { id: "chat", trigger: "submit-message" };
    const says = { id: "m", role: "user", parts: [{ type: "text", text: "Go." }] };
    const parts = events((await owner.post(at, { ...chat, messages: [says] })).body);
    const { toolCallId, approvalId } = parts.find(({ type }) => type === "tool-approval-request");
    const approval = { id: approvalId, approved: word === "approve" };
    const part = { type: "tool-transfer", toolCallId, state: "approval-responded", providerExecuted: true, approval };
    const said = { id: parts[0].messageId, role: "assistant", parts: [{ type: "step-start" }, part] };
    expect((await owner.post(at, { ...chat, messages: [says, said] })).status).toBe(200);
    return { asked: { owner, agent_id, ...(await callOf(owner)) }, actor: { type: "api_key", id: owner.key.id } };
  },
  async A2A(word) {
    const { owner, agent_id } = await agentOf();
    const headers = { authorization: `Bearer ${owner.key.secret}`, "a2a-version": "1.0" };
    const say = async (text: string, more: object = {}) => {
      const message = { messageId: `m-${text}`, role: "ROLE_USER", parts: [{ text }], ...more };
      const asked = { jsonrpc: "2.0", id: 7, method: "SendMessage", params: { message } };
      return (await server.send("POST", `/a2a/v1/agents/${agent_id}`, asked, headers)).body.result.task;
    };
    const task = await say("Go.");
    expect((await say(word, { taskId: task.id })).status.state).toBe("TASK_STATE_COMPLETED");
    return { asked: { owner, agent_id, ...(await callOf(owner)) }, actor: { type: "api_key", id: owner.key.id } };
  },
  async "MCP, by a form"(word) {
    const { owner, agent_id } = await agentOf();
    await using it = await mcp(owner, "/mcp", () => ({ action: "accept", content: { decision: word } }));
    await it.client.callTool({ name: "Teller", arguments: { input: "Go." } });
    return { asked: { owner, agent_id, ...(await callOf(owner)) }, actor: { type: "api_key", id: owner.key.id } };
  },
  async "MCP, by the tools of admins"(word) {
    const asked = await waiting();
    await using it = await mcp(asked.owner, "/mcp/admin");
    const given = { id: asked.run_id, ...decisionOf(asked, word) };
    const { isError } = await it.client.callTool({ name: "runs_submit_tool_outputs", arguments: given });
    expect(isError).toBeFalsy();
    return { asked, actor: { type: "api_key", id: asked.owner.key.id } };
  },
};

const words = [
  ["approve", "tool_call.approved"],
  ["reject", "tool_call.rejected"],
] as const;

test.each(Object.keys(ways).flatMap((way) => words.map((word) => [way, ...word] as const)))(
  "the audit log records the author, tool and arguments of each decision: by %s, %s",
  async (way, word, action) => {
    const { asked, actor, client_token } = await ways[way]!(word);
    const { owner, agent_id, run_id, call_id } = asked;
    const noted = await entries(owner);
    expect(noted).toMatchObject([
      {
        action,
        actor,
        target: { type: "tool_call", id: call_id },
        project_id: owner.scope.project_id,
        environment: owner.scope.environment,
        request_id: expect.stringMatching(/^req_/),
      },
    ]);
    expect(noted[0]!.details).toEqual({
      run_id,
      agent_id,
      tool: "transfer",
      arguments_sha256: hashOf('{"amount":7,"to":"ada"}'),
      ...(client_token && { client_token }),
    });
  },
);

describe("a decision", () => {
  test("with other arguments is recorded with both hashes, and without any text from users", async () => {
    const asked = await waiting({ parameters: { type: "object", properties: { to: { type: "string" } } } });
    const edited = { reason: "canary reason", arguments: { to: "canary" } };
    const { status } = await asked.owner.post(`/v1${submission(asked)}`, decisionOf(asked, "approve", edited));
    expect(status).toBe(200);
    const [entry] = await entries(asked.owner);
    expect(entry!.details).toMatchObject({
      arguments_sha256: hashOf('{"to":"canary"}'),
      proposed_arguments_sha256: hashOf('{"amount":7,"to":"ada"}'),
    });
    expect(JSON.stringify(entry)).not.toContain("canary");
  });

  test("that is repeated, also with its key, is recorded once; one that is refused is not recorded", async () => {
    const asked = await waiting();
    const send = (word: Word, headers = {}) =>
      server.send("POST", `/v1${submission(asked)}`, decisionOf(asked, word), {
        authorization: `Bearer ${asked.owner.key.secret}`,
        ...headers,
      });
    for (const headers of [{ "idempotency-key": "a" }, { "idempotency-key": "a" }, {}])
      expect((await send("approve", headers)).status).toBe(200);
    expect((await send("reject")).status).toBe(409);
    expect((await entries(asked.owner)).map(({ action }) => action)).toEqual(["tool_call.approved"]);
  });

  test("and its entry are one transaction", async () => {
    const asked = await waiting();
    server.db.sqlite.run(
      "CREATE TRIGGER refuse BEFORE INSERT ON audit_log WHEN NEW.action LIKE 'tool_call.%' BEGIN SELECT raise(ABORT, 'no'); END",
    );
    try {
      expect((await asked.owner.post(`/v1${submission(asked)}`, decisionOf(asked, "approve"))).status).toBe(500);
    } finally {
      server.db.sqlite.run("DROP TRIGGER refuse");
    }
    expect((await asked.owner.get(`/v1/runs/${asked.run_id}`)).body.status).toBe("requires_action");
    expect(await entries(asked.owner)).toEqual([]);
  });

  test("on a descendant's call is recorded with that run and its agent", async () => {
    const { owner, agent_id: below } = await agentOf();
    const { body: tool } = await owner.post("/v1/tools", { name: "ask", type: "agent", agent_id: below });
    const script = [{ tool_calls: [{ name: "ask", arguments: { input: "Go." } }] }, { text: "Done." }];
    const above = { name: "a", instructions: "", model: "test/script", model_settings: { script }, tools: [tool.id] };
    const { body: agent } = await owner.post("/v1/agents", above);
    const asked = await begun(owner, agent.id);
    expect((await owner.post(`/v1${submission(asked)}`, decisionOf(asked, "approve"))).status).toBe(200);
    const [entry] = await entries(owner);
    expect(entry!.details).toMatchObject({ agent_id: below, tool: "transfer" });
    expect(entry!.details.run_id).not.toBe(asked.run_id);
  });

  test("of one kind is recorded apart from an output of another", async () => {
    const asked = await waiting({ type: "client", source: undefined });
    const { project_id, environment } = asked.owner.scope;
    const path = `/${project_id}/${environment}${submission(asked)}`;
    expect((await member.send("POST", path, decisionOf(asked, "approve"))).status).toBe(200);
    const output = { tool_outputs: [{ tool_call_id: asked.call_id, output: 7 }] };
    expect((await member.send("POST", path, output)).status).toBe(200);
    const noted = (await entries(asked.owner)).map(({ action, actor }) => [action, actor.id]);
    expect(noted.toReversed()).toEqual([
      ["tool_call.approved", member.id],
      ["run.answered", member.id],
    ]);
  });
});

test.each([
  [{ decision: "approve" }, "tool_call.approved"],
  [{ decision: "reject" }, "tool_call.rejected"],
  [{ output: "It was paid." }, "tool_call.resolved"],
] as const)("a resolution of a call with unknown outcome is recorded: %j", async (answer, action) => {
  let requests = 0;
  const receiver = Bun.listen({
    hostname: "127.0.0.1",
    port: 0,
    socket: {
      data(socket) {
        if (++requests > 1) socket.end("HTTP/1.1 200 OK\r\ncontent-length: 4\r\nconnection: close\r\n\r\ntrue");
        else socket.terminate();
      },
    },
  });
  try {
    using fixture = runFixture();
    const script = [{ tool_calls: [{ name: "pay", arguments: { amount: 7 } }] }, { text: "Done." }];
    const tools = [httpTool("pay", `http://127.0.0.1:${receiver.port}/`)];
    const { id } = await fixture.start(script, { tools });
    const run = await fixture.settled(id);
    const [call] = run.required_action!.submit_tool_outputs.tool_calls;
    expect(call!.needs).toBe("reconcile");
    await fixture.service.submit(fixture.author, id, [{ tool_call_id: call!.tool_call_id, ...answer }]);
    await fixture.settled(id);
    const noted = fixture.db.sqlite.query("SELECT action, target_id, details FROM audit_log").all();
    expect(noted).toEqual([
      { action, target_id: call!.tool_call_id, details: expect.stringContaining('"outcome_unknown":true') },
    ]);
  } finally {
    receiver.stop(true);
  }
});
