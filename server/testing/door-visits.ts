import { expect } from "bun:test";
import { newId } from "../domain/ids.ts";
import { initialize, type Name, type Sent, type Things, table, uiChat, userSays } from "./door-rows.ts";
import type { Client, TestApp } from "./test-app.ts";

export const unlimited = {
  reads_per_minute: 0,
  writes_per_minute: 0,
  run_creations_per_minute: 0,
  runs_in_progress: 1e6,
};

export const never: Things = {
  agent: newId("agent"),
  tool: "tneverwas",
  run: newId("run"),
  call: newId("tool_call"),
  thread: newId("thread"),
  store: newId("memory"),
  file: newId("file"),
  chat: crypto.randomUUID(),
  session: crypto.randomUUID(),
};
const everything = Object.keys(never) as Name[];

export async function made(client: Client, path: string, body: object) {
  const answer = await client.post(path, body);
  expect([answer.status, answer.body.error ?? null]).toEqual([201, null]);
  return answer.body;
}

export interface Answer {
  status: number;
  headers: Headers;
  text: string;
}

/** Checks that a response is an error in its protocol's format. */
export function expectDialect(name: string, { status, text }: Answer): void {
  const body = JSON.parse(text);
  const [, path = ""] = name.split(" ");
  const said = { name, status, body };
  if (path.startsWith("/mcp") || path === "/a2a/v1/agents/:id")
    expect(said).toMatchObject({
      body: { jsonrpc: "2.0", error: { code: expect.any(Number), message: expect.any(String) } },
    });
  else if (path.startsWith("/a2a/"))
    expect(said).toMatchObject({
      body: { error: { code: status, status: expect.any(String), message: expect.any(String) } },
    });
  else expect(said).toMatchObject({ body: { error: { type: expect.any(String), message: expect.any(String) } } });
}

/** Requests of clients to the doors of a server, and the things that they name. */
export function createVisits(server: TestApp) {
  /** Creates an agent that all protocols reach, and the named things. The live environment has no test models. */
  async function thingsOf(client: Client, user_id = "ada", names: readonly Name[] = everything): Promise<Things> {
    const name = `t${crypto.randomUUID().replaceAll("-", "")}`;
    const isTest = client.scope.environment === "test";
    const { id: store } = await made(client, "/v1/memory", { name: "m", kind: "vector" });
    const { id: tool } = await made(client, "/v1/tools", { name });
    const script = [{ tool_calls: [{ name, arguments: {} }] }, { text: "Done." }];
    const model = isTest ? { model: "test/script", model_settings: { script } } : { model: "openai/gpt-5" };
    const { id: agent } = await made(client, "/v1/agents", {
      name,
      instructions: "",
      ...model,
      tools: [tool],
      memory: { stores: [{ memory_id: store }] },
      doors: { mcp: true, a2a: true },
    });
    const things: Things = { ...never, agent, tool: name, store, chat: crypto.randomUUID() };
    if (names.includes("file"))
      things.file = (await made(client, "/v1/files", { filename: "a.txt", text: name, purpose: "attachment" })).id;
    if (names.includes("thread")) things.thread = (await made(client, "/v1/threads", { user_id })).id;
    if (names.includes("session")) things.session = await open(client.key.secret);
    if (isTest && names.includes("chat")) {
      const said = uiChat(things, userSays("x"));
      expect((await client.post(said.path, { ...(said.body as object), user_id })).status).toBe(200);
    }
    if (isTest && names.some((name) => name === "run" || name === "call")) {
      const run = await made(client, "/v1/runs?wait=60", { agent_id: agent, input: "x", user_id });
      things.run = run.id;
      things.call = run.required_action.submit_tool_outputs.tool_calls[0].tool_call_id;
    }
    return things;
  }

  /** Streams are not read, because a refusal is no stream. */
  async function ask(secret: string | null, method: string, { path, body, headers = {} }: Sent): Promise<Answer> {
    const request = new Request(`http://localhost${path}`, {
      method,
      headers: {
        ...(secret !== null && { authorization: `Bearer ${secret}` }),
        ...(body !== undefined && !(body instanceof FormData) && { "content-type": "application/json" }),
        accept: "application/json, text/event-stream",
        ...headers,
      },
      body: body === undefined ? null : body instanceof FormData ? body : JSON.stringify(body),
    });
    const response = await server.app.handle(request);
    if (response.headers.get("content-type")?.startsWith("text/event-stream")) {
      await response.body?.cancel();
      return { status: response.status, headers: response.headers, text: "" };
    }
    return { status: response.status, headers: response.headers, text: await response.text() };
  }

  const open = async (secret: string, path = "/mcp"): Promise<string> =>
    (await ask(secret, "POST", initialize(path))).headers.get("mcp-session-id") ?? never.session;

  /** Sends the request of a row, in a session of the caller. */
  async function knock(secret: string | null, name: string, things: Things): Promise<Answer> {
    const { names, send } = table[name]!;
    const [method, path] = name.split(" ") as [string, string];
    const isOwn = names.includes("session") && secret !== null && things.session !== never.session;
    const session = isOwn ? await open(secret, path) : things.session;
    return ask(secret, method, send({ ...things, session }));
  }

  return { thingsOf, ask, open, knock };
}
