import { afterAll, describe, expect, test } from "bun:test";
import { type Client, testApp } from "../testing/test-app.ts";

// Number of thread messages that an agent's runs read, by every way to give a thread.

const server = testApp();
afterAll(() => server[Symbol.asyncDispose]());

interface Conversation {
  client: Client;
  agent: string;
  thread: string;
}
type Say = (conversation: Conversation, text: string) => Promise<unknown>;

const bearer = ({ key }: Client) => ({ authorization: `Bearer ${key.secret}` });
const message = () => ({ id: crypto.randomUUID(), role: "user" });

const doors: Record<string, Say> = {
  "POST /v1/runs": ({ client, agent, thread }, input) =>
    client.post("/v1/runs?wait=60", { agent_id: agent, thread_id: thread, input }),
  "a client token, as chats have it": async ({ client, agent, thread }, input) => {
    const body = { agent_id: agent, thread_id: thread, scopes: ["run", "read"], expires_in_seconds: 60 };
    const { token } = (await client.post("/v1/client_tokens", body)).body;
    const headers = { authorization: `Bearer ${token}` };
    return server.send("POST", "/v1/runs?wait=60", { agent_id: agent, thread_id: thread, input }, headers);
  },
  "AI SDK UI": ({ client, agent }, text) =>
    client.post(`/ui/v1/agents/${agent}/chat`, {
      id: "chat",
      messages: [{ ...message(), parts: [{ type: "text", text }] }],
    }),
  "AG-UI": ({ client, agent }, content) =>
    client.post(`/ag-ui/v1/agents/${agent}`, {
      threadId: "t",
      runId: "r",
      tools: [],
      context: [],
      state: {},
      protocolVersion: "1.0",
      messages: [{ ...message(), content }],
    }),
  A2A: ({ client, agent, thread }, text) =>
    server.send(
      "POST",
      `/a2a/v1/agents/${agent}`,
      {
        jsonrpc: "2.0",
        id: 1,
        method: "SendMessage",
        params: { message: { messageId: text, role: "ROLE_USER", parts: [{ text }], contextId: thread } },
      },
      { ...bearer(client), "a2a-version": "1.0" },
    ),
  MCP: ({ client, thread }, input) =>
    server.send(
      "POST",
      "/mcp",
      {
        jsonrpc: "2.0",
        id: 1,
        method: "tools/call",
        params: {
          name: "Desk",
          arguments: { input, thread_id: thread },
          _meta: {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {},
          },
        },
      },
      {
        ...bearer(client),
        "mcp-protocol-version": "2026-07-28",
        "mcp-method": "tools/call",
        "mcp-name": "Desk",
      },
    ),
};

/** Returns the number of thread messages of each run, first run first. */
async function told(say: Say, more: object): Promise<number[]> {
  const client = await server.client({ project: crypto.randomUUID() });
  const body = { name: "Desk", instructions: "", model: "test/echo", doors: { mcp: true, a2a: true }, ...more };
  const { id: agent } = (await client.post("/v1/agents", body)).body;
  const { id: thread } = (await client.post("/v1/threads", { user_id: "ada" })).body;
  for (const text of ["One", "Two"]) await say({ client, agent, thread }, text);
  const { data: runs } = (await client.get("/v1/runs?order=asc")).body;
  const traces = await Promise.all(runs.map(({ id }: { id: string }) => client.get(`/v1/traces/${id}`)));
  expect(new Set(runs.map(({ thread_id }: { thread_id: string | null }) => thread_id)).size).toBe(1);
  expect(runs[0].thread_id).not.toBeNull();
  return traces.map(({ body }) => body.history_messages);
}

describe.each(Object.entries(doors))("by %s", (_, say) => {
  test("an agent without memory settings reads the earlier messages of its thread", async () => {
    expect(await told(say, {})).toEqual([0, 2]);
    expect(await told(say, { memory: {} })).toEqual([0, 2]);
    expect(await told(say, { memory: { history: { max_messages: 1 } } })).toEqual([0, 0]);
  });

  test("an agent that is to read no thread, or has no memory at all, reads its input alone", async () => {
    expect(await told(say, { memory: { history: { mode: "none" } } })).toEqual([0, 0]);
    expect(await told(say, { memory: null })).toEqual([0, 0]);
  });
});

test("a run without a thread gets no history, and one may read more or less than its agent's others", async () => {
  const client = await server.client({ project: crypto.randomUUID() });
  const body = { name: "Desk", instructions: "", model: "test/echo" };
  const [reads, empty] = await Promise.all(
    [{}, { memory: null }].map(async (more) => (await client.post("/v1/agents", { ...body, ...more })).body),
  );
  expect(reads.memory).toMatchObject({ stores: [], history: { mode: "thread", max_messages: 50 } });
  expect(empty.memory).toBeNull();
  const { id: thread_id } = (await client.post("/v1/threads", {})).body;
  const run = async ({ id }: { id: string }, more: object) => {
    const { body } = await client.post("/v1/runs?wait=60", { agent_id: id, input: "Hi", ...more });
    return (await client.get(`/v1/traces/${body.id}`)).body.history_messages;
  };
  expect(await run(reads, { thread_id })).toBe(0);
  expect(await run(reads, {})).toBe(0);
  expect(await run(empty, { thread_id })).toBe(0);
  expect(await run(empty, { thread_id, overrides: { history: { max_messages: 9 } } })).toBe(0);
  expect(await run(empty, { thread_id, overrides: { history: { mode: "thread" } } })).toBe(6);
  expect(await run(reads, { thread_id, overrides: { history: { max_messages: 2 } } })).toBe(2);
  expect(await run(reads, { thread_id, overrides: { history: { mode: "none" } } })).toBe(0);
});
