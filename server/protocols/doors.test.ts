import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { newId } from "../domain/ids.ts";
import { type ClientScope, clientScopes, type Permission, permissions } from "../domain/scope.ts";
import type { RequiredPermission } from "../http/operation.ts";
import { changedTables, createRows } from "../testing/rows.ts";
import { testActor } from "../testing/test-actor.ts";
import { type Client, testApp } from "../testing/test-app.ts";
import { createOperations } from "./a2a/operations.ts";
import { restPlaces } from "./a2a/server.ts";
import { agentMethods } from "./mcp/agent-methods.ts";
import { eventId } from "./mcp/event-id.ts";
import { adminMethods } from "./mcp/module.ts";
import { conversationId, itemOfMessage, responseId } from "./openai/item-ids.ts";

// Access to every route of every protocol, and to each method of routes that have several. Each row of the table
// describes one; the first test fails if one is missing.

const server = testApp();
afterAll(() => server[Symbol.asyncDispose]());

/** Things that an address may name. */
interface Things {
  agent: string;
  /** The agent's name as an MCP tool. */
  tool: string;
  /** A run that waits for the output of a call. */
  run: string;
  call: string;
  thread: string;
  store: string;
  /** A file in no store: reading it would take a process. */
  file: string;
  /** AI SDK client's id of a chat with a waiting run. */
  chat: string;
  /** An MCP session. */
  session: string;
}
type Name = keyof Things;

/** A request without its credentials. */
interface Sent {
  path: string;
  body?: unknown;
  headers?: Record<string, string>;
}

interface Row {
  /** Permission that a key needs; null: the route needs no key. */
  needs: RequiredPermission | null;
  /** Scopes that a client token needs, all of them; null: no token is accepted. */
  client: readonly ClientScope[] | null;
  /** Things that it names: those of others must look as if they never existed. */
  names: readonly Name[];
  send(things: Things): Sent;
  /** True if it names things in a list, whose refusal does not tell them apart. */
  isList?: true;
}

const row = (needs: Row["needs"], client: Row["client"], names: readonly Name[], send: Row["send"]): Row => ({
  needs,
  client,
  names,
  send,
});

// --- The protocols --------------------------------------------------------------------------------------------------

const meta = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientCapabilities": {},
};

/** A message that needs no session. */
function mcp(method: string, params: Record<string, unknown> = {}, path = "/mcp"): Sent {
  const name = params.name ?? params.uri;
  return {
    path,
    body: { jsonrpc: "2.0", id: 1, method, params: { ...params, _meta: meta } },
    headers: {
      "mcp-protocol-version": "2026-07-28",
      "mcp-method": method,
      ...(name !== undefined && { "mcp-name": String(name) }),
    },
  };
}

const inSession = ({ session }: Things, body: object): Sent => ({
  path: "/mcp",
  body,
  headers: { "mcp-session-id": session },
});

const initialize = (path = "/mcp"): Sent => {
  const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "t", version: "1" } };
  return { path, body: { jsonrpc: "2.0", id: 0, method: "initialize", params } };
};

const admins = (names: readonly Name[], method: string, send: (things: Things) => Sent) =>
  [`POST /mcp/admin ${method}`, row("admin", null, names, send)] as const;

const mcpRows: Record<string, Row> = {
  "GET /.well-known/oauth-protected-resource": row(null, [], [], () => ({
    path: "/.well-known/oauth-protected-resource",
  })),
  "GET /.well-known/oauth-protected-resource/mcp": row(null, [], [], () => ({
    path: "/.well-known/oauth-protected-resource/mcp",
  })),
  "GET /.well-known/oauth-protected-resource/mcp/admin": row(null, [], [], () => ({
    path: "/.well-known/oauth-protected-resource/mcp/admin",
  })),
  "POST /mcp initialize": row("read_or_run", [], [], () => initialize()),
  "POST /mcp server/discover": row("read_or_run", [], [], () => mcp("server/discover")),
  "POST /mcp ping": row("read_or_run", [], ["session"], (things) =>
    inSession(things, { jsonrpc: "2.0", id: 1, method: "ping" }),
  ),
  "POST /mcp response": row("run", ["read", "submit"], ["run", "session"], (things) =>
    inSession(things, {
      jsonrpc: "2.0",
      id: `${things.run}/${things.call}`,
      result: { action: "accept", content: { output: "x" } },
    }),
  ),
  "POST /mcp notifications/cancelled": row("read_or_run", ["read"], ["session"], (things) =>
    inSession(things, { jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 77 } }),
  ),
  "POST /mcp tools/list": row("read_or_run", [], [], () => mcp("tools/list")),
  "POST /mcp tools/call": row("run", ["run"], ["tool"], ({ tool: name }) =>
    mcp("tools/call", { name, arguments: { input: "x" } }),
  ),
  "POST /mcp tools/call again": row("read_or_run", ["read"], ["tool", "run"], ({ tool: name, run }) =>
    mcp("tools/call", { name, arguments: { input: "x" }, requestState: run }),
  ),
  "POST /mcp tools/call with an answer": row("run", ["read", "submit"], ["tool", "run"], ({ tool: name, run, call }) =>
    mcp("tools/call", {
      name,
      arguments: { input: "x" },
      requestState: run,
      inputResponses: { [call]: { action: "accept", content: { output: "x" } } },
    }),
  ),
  "POST /mcp tools/call search_memory": row("read_or_run", [], ["store"], ({ store: memory_id }) =>
    mcp("tools/call", { name: "search_memory", arguments: { memory_id, query: "x" } }),
  ),
  "POST /mcp resources/list": row("read_or_run", [], [], () => mcp("resources/list")),
  "POST /mcp resources/templates/list": row("read_or_run", [], [], () => mcp("resources/templates/list")),
  "POST /mcp resources/read": row("read_or_run", [], ["store"], ({ store }) =>
    mcp("resources/read", { uri: `runnel://memory/${store}` }),
  ),
  "POST /mcp prompts/list": row("read_or_run", [], [], () => mcp("prompts/list")),
  "POST /mcp prompts/get": row("read_or_run", [], ["tool"], ({ tool: name }) =>
    mcp("prompts/get", { name, arguments: { input: "x" } }),
  ),
  "GET /mcp": row("read_or_run", ["read"], ["run", "session"], ({ run, session }) => ({
    path: "/mcp",
    headers: { "mcp-session-id": session, "last-event-id": eventId({ run_id: run, id: 1, progressToken: null }, 1) },
  })),
  "DELETE /mcp": row("read_or_run", [], ["session"], ({ session }) => ({
    path: "/mcp",
    headers: { "mcp-session-id": session },
  })),
  ...Object.fromEntries([
    admins([], "initialize", () => initialize("/mcp/admin")),
    admins([], "server/discover", () => mcp("server/discover", {}, "/mcp/admin")),
    admins([], "tools/list", () => mcp("tools/list", {}, "/mcp/admin")),
    admins(["run"], "tools/call", ({ run: id }) =>
      mcp("tools/call", { name: "runs_retrieve", arguments: { id } }, "/mcp/admin"),
    ),
  ]),
  "GET /mcp/admin": row("admin", null, [], () => ({ path: "/mcp/admin" })),
  "DELETE /mcp/admin": row("admin", null, ["session"], ({ session }) => ({
    path: "/mcp/admin",
    headers: { "mcp-session-id": session },
  })),
};

/** An address without a server. */
const receiver = "http://127.0.0.1:9999/";

const a2aMessage = (text: string, more: object = {}) => ({
  message: { messageId: crypto.randomUUID(), role: "ROLE_USER", parts: [{ text }], ...more },
});

/** Permission, names and body of each operation of the protocol. */
const a2aOperations: Record<string, Row & { params(things: Things): object }> = Object.fromEntries(
  (
    [
      [
        "SendMessage",
        "run",
        ["run", "read"],
        ["agent", "thread"],
        ({ thread: contextId }) => a2aMessage("x", { contextId }),
      ],
      [
        "SendMessage to a task",
        "run",
        ["read", "submit"],
        ["agent", "run"],
        ({ run: taskId }) => a2aMessage("x", { taskId }),
      ],
      [
        "SendStreamingMessage",
        "run",
        ["run"],
        ["agent", "thread"],
        ({ thread: contextId }) => a2aMessage("x", { contextId }),
      ],
      ["GetTask", "read_or_run", ["read"], ["agent", "run"], ({ run: id }) => ({ id })],
      [
        "ListTasks",
        "read_or_run",
        ["read"],
        ["agent"],
        () => ({
          contextId: "",
          status: "TASK_STATE_COMPLETED",
          pageToken: "",
          pageSize: 5,
          historyLength: 1,
          includeArtifacts: true,
        }),
      ],
      ["GetExtendedAgentCard", "read_or_run", [], ["agent"], () => ({})],
      ["CancelTask", "run", ["read", "run"], ["agent", "run"], ({ run: id }) => ({ id })],
      ["SubscribeToTask", "read_or_run", ["read"], ["agent", "run"], ({ run: id }) => ({ id })],
      [
        "CreateTaskPushNotificationConfig",
        "run",
        null,
        ["agent", "run"],
        ({ run: taskId }) => ({ taskId, id: "x", url: receiver }),
      ],
      [
        "GetTaskPushNotificationConfig",
        "read_or_run",
        null,
        ["agent", "run"],
        ({ run: taskId }) => ({ taskId, id: "x" }),
      ],
      ["ListTaskPushNotificationConfigs", "read_or_run", null, ["agent", "run"], ({ run: taskId }) => ({ taskId })],
      ["DeleteTaskPushNotificationConfig", "run", null, ["agent", "run"], ({ run: taskId }) => ({ taskId, id: "x" })],
    ] as [string, RequiredPermission, ClientScope[] | null, Name[], (things: Things) => Record<string, unknown>][]
  ).map(([name, needs, client, names, params]) => [
    name,
    { ...row(needs, client, names, () => ({ path: "" })), params },
  ]),
);

const rpcRows = Object.fromEntries(
  Object.entries(a2aOperations).map(([name, { needs, client, names, params }]) => {
    const send = (things: Things): Sent => ({
      path: `/a2a/v1/agents/${things.agent}`,
      body: { jsonrpc: "2.0", id: 1, method: name.split(" ")[0], params: params(things) },
    });
    return [`POST /a2a/v1/agents/:id ${name}`, row(needs, client, names, send)];
  }),
);

/** Paths by operation; a row lists only its specials. */
const restPaths: Record<string, [method: string, path: (things: Things) => string]> = {
  SendMessage: ["POST", () => "/message:send"],
  "SendMessage to a task": ["POST", () => "/message:send"],
  SendStreamingMessage: ["POST", () => "/message:stream"],
  ListTasks: ["GET", () => "/tasks"],
  GetTask: ["GET", ({ run }) => `/tasks/${run}`],
  CancelTask: ["POST", ({ run }) => `/tasks/${run}:cancel`],
  SubscribeToTask: ["GET", ({ run }) => `/tasks/${run}:subscribe`],
  "SubscribeToTask by POST": ["POST", ({ run }) => `/tasks/${run}:subscribe`],
  CreateTaskPushNotificationConfig: ["POST", ({ run }) => `/tasks/${run}/pushNotificationConfigs`],
  ListTaskPushNotificationConfigs: ["GET", ({ run }) => `/tasks/${run}/pushNotificationConfigs`],
  GetTaskPushNotificationConfig: ["GET", ({ run }) => `/tasks/${run}/pushNotificationConfigs/x`],
  DeleteTaskPushNotificationConfig: ["DELETE", ({ run }) => `/tasks/${run}/pushNotificationConfigs/x`],
  GetExtendedAgentCard: ["GET", () => "/extendedAgentCard"],
};

const restRows = Object.fromEntries(
  Object.entries(restPaths).map(([name, [method, path]]) => {
    const { needs, client, names, params } = a2aOperations[name] ?? a2aOperations[name.split(" ")[0]!]!;
    const send = (things: Things): Sent => ({
      path: `/a2a/v1/agents/${things.agent}${path(things)}`,
      ...(method === "POST" && { body: params(things) }),
    });
    return [`${method} /a2a/v1/agents/:id/* ${name}`, row(needs, client, names, send)];
  }),
);

const a2aRows: Record<string, Row> = {
  ...rpcRows,
  ...restRows,
  "GET /a2a/v1/agents/:id/.well-known/agent-card.json": row("read_or_run", [], ["agent"], ({ agent }) => ({
    path: `/a2a/v1/agents/${agent}/.well-known/agent-card.json`,
  })),
};

const chat = ({ agent: model }: Things, more: object[] = []): Sent => ({
  path: "/openai/v1/chat/completions",
  body: { model, messages: [{ role: "user", content: "x" }, ...more] },
});

const response = ({ agent: model }: Things, more: object = {}): Sent => ({
  path: "/openai/v1/responses",
  body: { model, input: "x", ...more },
});
const responsePath = ({ run: run_id }: Things, more = "") => ({
  path: `/openai/v1/responses/${responseId({ run_id, seq: 0 })}${more}`,
});
const conversationPath = ({ thread }: Things, more = "") => ({
  path: `/openai/v1/conversations/${conversationId(thread)}${more}`,
});
const items = [{ role: "user", content: "x" }];

const openAiRows: Record<string, Row> = {
  "POST /openai/v1/responses": row("run", ["run"], ["agent"], (things) => response(things)),
  "POST /openai/v1/responses behind another": row("run", ["run"], ["agent", "run"], (things) =>
    response(things, { previous_response_id: responseId({ run_id: things.run, seq: 0 }) }),
  ),
  "POST /openai/v1/responses in a conversation": row("run", ["run"], ["agent", "thread"], (things) =>
    response(things, { conversation: conversationId(things.thread) }),
  ),
  "POST /openai/v1/responses with an output": row("run", ["submit"], ["agent", "call"], (things) =>
    response(things, { input: [{ type: "function_call_output", call_id: things.call, output: "x" }] }),
  ),
  "GET /openai/v1/responses/:id": row("read_or_run", ["read"], ["run"], (things) => responsePath(things)),
  "DELETE /openai/v1/responses/:id": row("admin", null, ["run"], (things) => responsePath(things)),
  "POST /openai/v1/responses/:id/cancel": row("run", ["run"], ["run"], (things) => responsePath(things, "/cancel")),
  "GET /openai/v1/responses/:id/input_items": row("read_or_run", ["read"], ["run"], (things) =>
    responsePath(things, "/input_items"),
  ),
  "POST /openai/v1/conversations": row("run", ["run"], [], () => ({ path: "/openai/v1/conversations", body: {} })),
  "GET /openai/v1/conversations/:id": row("read_or_run", ["read"], ["thread"], (things) => conversationPath(things)),
  "POST /openai/v1/conversations/:id": row("run", null, ["thread"], (things) => ({
    ...conversationPath(things),
    body: { metadata: { a: "b" } },
  })),
  "DELETE /openai/v1/conversations/:id": row("run", null, ["thread"], (things) => conversationPath(things)),
  "GET /openai/v1/conversations/:id/items": row("read_or_run", ["read"], ["thread"], (things) =>
    conversationPath(things, "/items"),
  ),
  "POST /openai/v1/conversations/:id/items": row("run", null, ["thread"], (things) => ({
    ...conversationPath(things, "/items"),
    body: { items },
  })),
  "GET /openai/v1/conversations/:id/items/:item": row("read_or_run", ["read"], ["thread"], (things) =>
    conversationPath(things, `/items/${itemOfMessage("msg", newId("message"))}`),
  ),
  "GET /openai/v1/models": row("read_or_run", [], [], () => ({ path: "/openai/v1/models" })),
  "GET /openai/v1/models/*": row("read_or_run", [], ["agent"], ({ agent }) => ({
    path: `/openai/v1/models/${agent}`,
  })),
  "POST /openai/v1/chat/completions": row("run", ["run"], ["agent"], (things) => chat(things)),
  "POST /openai/v1/chat/completions with an output": row("run", ["submit"], ["agent", "call"], (things) =>
    chat(things, [
      {
        role: "assistant",
        content: null,
        tool_calls: [{ id: things.call, type: "function", function: { name: "ask", arguments: "{}" } }],
      },
      { role: "tool", tool_call_id: things.call, content: "x" },
    ]),
  ),
};

const streamRows: Record<string, Row> = {
  "GET /streams/v1/runs/:id": row("read_or_run", ["read"], ["run"], ({ run }) => ({ path: `/streams/v1/runs/${run}` })),
};

const stores = "/openai/v1/vector_stores";
function upload(): FormData {
  const form = new FormData();
  form.set("purpose", "user_data");
  form.set("file", new File(["x"], "a.txt"));
  return form;
}
const batch = newId("memory_entry").replace(/^[a-z]+_/, "vsfb_");
/** Client tokens cannot use files and vector stores. */
const keyRow = (needs: RequiredPermission, names: Row["names"], send: Row["send"]) => row(needs, null, names, send);

const storeRows: Record<string, Row> = {
  "GET /openai/v1/models/* embedder": row("read_or_run", [], [], () => ({
    path: "/openai/v1/models/runnel/embedder",
  })),
  "POST /openai/v1/embeddings": keyRow("run", [], () => ({
    path: "/openai/v1/embeddings",
    body: { model: "runnel/embedder", input: "x" },
  })),
  "POST /openai/v1/files": row("run", ["upload"], [], () => ({ path: "/openai/v1/files", body: upload() })),
  "GET /openai/v1/files": keyRow("read_or_run", [], () => ({ path: "/openai/v1/files" })),
  "GET /openai/v1/files/:id": keyRow("read_or_run", ["file"], ({ file }) => ({ path: `/openai/v1/files/${file}` })),
  "GET /openai/v1/files/:id/content": row("read_or_run", ["read"], ["file"], ({ file }) => ({
    path: `/openai/v1/files/${file}/content`,
  })),
  "DELETE /openai/v1/files/:id": keyRow("admin", ["file"], ({ file }) => ({ path: `/openai/v1/files/${file}` })),
  "POST /openai/v1/vector_stores": keyRow("admin", [], () => ({ path: stores, body: {} })),
  "POST /openai/v1/vector_stores with a file": keyRow("admin", ["file"], ({ file }) => ({
    path: stores,
    body: { file_ids: [file] },
  })),
  "GET /openai/v1/vector_stores": keyRow("read_or_run", [], () => ({ path: stores })),
  "GET /openai/v1/vector_stores/:id": keyRow("read_or_run", ["store"], ({ store }) => ({ path: `${stores}/${store}` })),
  "POST /openai/v1/vector_stores/:id": keyRow("admin", ["store"], ({ store }) => ({
    path: `${stores}/${store}`,
    body: { name: "taken over" },
  })),
  "DELETE /openai/v1/vector_stores/:id": keyRow("admin", ["store"], ({ store }) => ({ path: `${stores}/${store}` })),
  "POST /openai/v1/vector_stores/:id/search": keyRow("read_or_run", ["store"], ({ store }) => ({
    path: `${stores}/${store}/search`,
    body: { query: "x" },
  })),
  "POST /openai/v1/vector_stores/:id/files": keyRow("run", ["store", "file"], ({ store, file: file_id }) => ({
    path: `${stores}/${store}/files`,
    body: { file_id },
  })),
  "GET /openai/v1/vector_stores/:id/files": keyRow("read_or_run", ["store"], ({ store }) => ({
    path: `${stores}/${store}/files`,
  })),
  "GET /openai/v1/vector_stores/:id/files/:file_id": keyRow("read_or_run", ["store", "file"], ({ store, file }) => ({
    path: `${stores}/${store}/files/${file}`,
  })),
  "GET /openai/v1/vector_stores/:id/files/:file_id/content": keyRow(
    "read_or_run",
    ["store", "file"],
    ({ store, file }) => ({ path: `${stores}/${store}/files/${file}/content` }),
  ),
  // The route first reports that the file is not in the store.
  "DELETE /openai/v1/vector_stores/:id/files/:file_id": keyRow("read_or_run", ["store", "file"], ({ store, file }) => ({
    path: `${stores}/${store}/files/${file}`,
  })),
  "POST /openai/v1/vector_stores/:id/file_batches": keyRow("run", ["store", "file"], ({ store, file }) => ({
    path: `${stores}/${store}/file_batches`,
    body: { file_ids: [file] },
  })),
  "GET /openai/v1/vector_stores/:id/file_batches/:batch": keyRow("read_or_run", ["store"], ({ store }) => ({
    path: `${stores}/${store}/file_batches/${batch}`,
  })),
  "GET /openai/v1/vector_stores/:id/file_batches/:batch/files": keyRow("read_or_run", ["store"], ({ store }) => ({
    path: `${stores}/${store}/file_batches/${batch}/files`,
  })),
};

const userSays = (text: string) => ({ id: crypto.randomUUID(), role: "user", parts: [{ type: "text", text }] });
const uiChat = ({ agent, chat: id }: Things, message: object): Sent => ({
  path: `/ui/v1/agents/${agent}/chat`,
  body: { id, user_id: "ada", messages: [message] },
});
const uiPath = ({ agent, chat }: Things, more = "") => ({
  path: `/ui/v1/agents/${agent}/chat/${chat}${more}?user_id=ada`,
});

const uiRows: Record<string, Row> = {
  "POST /ui/v1/agents/:id/chat": row("run", ["run"], ["agent", "chat"], (things) => uiChat(things, userSays("x"))),
  "POST /ui/v1/agents/:id/chat with an output": row("run", ["submit"], ["agent", "call"], (things) => {
    const part = { type: "dynamic-tool", toolCallId: things.call, state: "output-available", output: "x" };
    return uiChat(things, { id: "none", role: "assistant", parts: [part] });
  }),
  "GET /ui/v1/agents/:id/chat/:chat": row("read_or_run", ["read"], ["agent", "chat"], (things) => uiPath(things)),
  "GET /ui/v1/agents/:id/chat/:chat/stream": row("read_or_run", ["read"], ["agent", "chat"], (things) =>
    uiPath(things, "/stream"),
  ),
  "DELETE /ui/v1/agents/:id/chat/:chat/stream": row("run", ["run"], ["agent", "chat"], (things) =>
    uiPath(things, "/stream"),
  ),
};

const agUi = ({ agent, chat: threadId }: Things, messages: object[]): Sent => ({
  path: `/ag-ui/v1/agents/${agent}`,
  body: { threadId, runId: "r", messages, forwardedProps: { user_id: "ada" } },
});

const agUiRows: Record<string, Row> = {
  "POST /ag-ui/v1/agents/:id with a message": row("run", ["run"], ["agent", "chat"], (things) =>
    agUi(things, [{ id: "m", role: "user", content: "x" }]),
  ),
  "POST /ag-ui/v1/agents/:id with a result": row("run", ["submit"], ["agent", "call"], (things) =>
    agUi(things, [{ id: "m", role: "tool", toolCallId: things.call, content: "x" }]),
  ),
  "POST /ag-ui/v1/agents/:id with nothing new": row("read_or_run", ["read"], ["agent", "chat"], (things) =>
    agUi(things, []),
  ),
};

const table: Record<string, Row> = {
  ...mcpRows,
  ...a2aRows,
  ...openAiRows,
  ...storeRows,
  ...uiRows,
  ...agUiRows,
  ...streamRows,
};
const rows = Object.entries(table);

// --- Every address is known -----------------------------------------------------------------------------------------

/**
 * Paths that are no protocol: the API, the dashboard, public ones, and chat pages, which need a link (chat.test.ts).
 */
const isNoDoor = (path: string) =>
  /^\/(v1|console|callbacks|triggers|docs|chat)(\/|$)/.test(path) ||
  /^\/(healthz|readyz|metrics|embed\.js|chat\.(js|css)|llms(-full)?\.txt)$/.test(path);

/** Routes with several methods, by their names in the protocol. */
const methodsAt: Record<string, string[]> = {
  "POST /mcp": ["initialize", "server/discover", "ping", "response", "notifications/cancelled"].concat(
    Object.keys(agentMethods({} as never).methods),
  ),
  "POST /mcp/admin": ["initialize", "server/discover", ...Object.keys(adminMethods({} as never).methods)],
  "POST /a2a/v1/agents/:id": Object.keys(createOperations({} as never)).map(
    (name) => name.charAt(0).toUpperCase() + name.slice(1),
  ),
  "GET /a2a/v1/agents/:id/*": restPlaces.filter(([method]) => method === "GET").map(([, , operation]) => operation),
  "DELETE /a2a/v1/agents/:id/*": restPlaces
    .filter(([method]) => method === "DELETE")
    .map(([, , operation]) => operation),
  "POST /a2a/v1/agents/:id/*": restPlaces.filter(([method]) => method === "POST").map(([, , operation]) => operation),
};

test("every address of every door, and every method of each, is in the table, and nothing else is", () => {
  const addresses = server.app.routes
    .filter(({ path }) => !isNoDoor(path))
    .map(({ method, path }) => `${method} ${path.replace(/(.)\/$/, "$1")}`);
  const asked = addresses.flatMap((address) => methodsAt[address]?.map((name) => `${address} ${name}`) ?? [address]);
  const unknown = asked.filter((one) => !rows.some(([name]) => name === one || name.startsWith(`${one} `)));
  expect(unknown).toEqual([]);
  const superfluous = rows.filter(([name]) => !asked.some((one) => name === one || name.startsWith(`${one} `)));
  expect(superfluous.map(([name]) => name)).toEqual([]);
});

// --- Who asks -------------------------------------------------------------------------------------------------------

const unlimited = { reads_per_minute: 0, writes_per_minute: 0, run_creations_per_minute: 0, runs_in_progress: 1e6 };
let owner: Client;
let ownThings: Things;
/** Owner of the things that others request. Only their requests could cause work there. */
let holder: Client;
/** The holder's project, in the live environment. */
let live: Client;
let stranger: Client;
/** The holder's project and environment, bound to another agent. */
let bound: Client;
let boundThings: Things;
/** The owner's keys, by permission. */
const keys = new Map<Permission, Client>();

beforeAll(async () => {
  const manner = { name: "openai", provider: "openai" as const, base_url: null, api_key: "none" };
  await server.connections.put(manner, testActor);
  owner = await server.client({ project: "owner" });
  holder = await server.client({ project: "holder" });
  live = await server.client({ project: "holder", environment: "live" });
  stranger = await server.client({ project: "stranger" });
  for (const { scope } of [owner, holder, stranger])
    await server.projects.update(scope.project_id, { limits: unlimited });
  ownThings = await thingsOf(owner);
  boundThings = await thingsOf(holder);
  bound = await server.client({ project: "holder", agent_ids: [boundThings.agent] });
  for (const scope of permissions) keys.set(scope, await server.client({ project: "owner", scopes: [scope] }));
});

const never: Things = {
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

async function made(client: Client, path: string, body: object) {
  const answer = await client.post(path, body);
  expect([answer.status, answer.body.error ?? null]).toEqual([201, null]);
  return answer.body;
}

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
    things.call = run.required_action.submit_tool_outputs.tool_calls[0].id;
  }
  return things;
}

/** Returns shared things for reads, which change nothing, else new ones. */
const thingsFor = (name: string) => (name.startsWith("GET") ? ownThings : thingsOf(owner, "ada", table[name]!.names));

interface Answer {
  status: number;
  headers: Headers;
  text: string;
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

/** Checks that a response is an error in its protocol's format. */
function expectDialect(name: string, { status, text }: Answer): void {
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

const protectedRows = rows.filter(([, { needs }]) => needs !== null).map(([name]) => name);

describe("a door", () => {
  test.each(rows.filter(([, { needs }]) => needs === null).map(([name]) => name))("at %s is open", async (name) => {
    expect((await knock(null, name, never)).status).toBe(200);
  });

  test.each(protectedRows)("at %s refuses requests without a valid key, in the protocol's own format", async (name) => {
    const { send } = table[name]!;
    const [method = ""] = name.split(" ");
    const { path, body, headers } = send(never);
    for (const authorization of [null, "Bearer garbage"]) {
      const sent = { ...headers, ...(authorization !== null && { authorization }) };
      const answer = await guarded[Math.floor(protectedRows.indexOf(name) / 25)]!.send(method, path, body, sent);
      expect({ authorization, status: answer.status }).toEqual({ authorization, status: 401 });
      expect(answer.headers.get("www-authenticate")).toStartWith("Bearer");
      const text = typeof answer.body === "string" ? answer.body : JSON.stringify(answer.body);
      expectDialect(name, { ...answer, text });
    }
  });

  // Guesses are limited by address, so use one server per group of rows.
  const guarded = Array.from({ length: Math.ceil(protectedRows.length / 25) }, () => testApp());
  afterAll(async () => {
    for (const each of guarded) await each[Symbol.asyncDispose]();
  });

  const admits = (needs: RequiredPermission | null, scope: Permission) =>
    scope === "admin" || needs === scope || (needs === "read_or_run" && ["read", "run"].includes(scope));

  test.each(protectedRows)("at %s admits keys with the scope of the table, and no others", async (name) => {
    const things = await thingsFor(name);
    for (const [scope, { key }] of keys) {
      // Runs of one thread would wait for each other.
      const isIn = table[name]!.names.includes("thread");
      const thread = isIn ? (await made(owner, "/v1/threads", { user_id: "ada" })).id : never.thread;
      const answer = await knock(key.secret, name, { ...things, thread });
      const isRefused = [401, 403].includes(answer.status);
      expect({ scope, isRefused }).toEqual({ scope, isRefused: !admits(table[name]!.needs, scope) });
      expect(answer.status).toBeLessThan(500);
      if (isRefused) expectDialect(name, answer);
    }
  });

  const tokenFor = async (agent_id: string, scopes: readonly ClientScope[], more: object = {}) => {
    const limits = { requests_per_minute: 10_000, run_creations_per_minute: 10_000 };
    return (await made(owner, "/v1/client_tokens", { agent_id, scopes, expires_in: 600, limits, ...more }))
      .token as string;
  };

  test.each(protectedRows)("at %s admits client tokens with the scopes of the table, and no others", async (name) => {
    const { client } = table[name]!;
    const all = [...clientScopes];
    const without = (scope: ClientScope) => all.filter((one) => one !== scope);
    const cases: [ClientScope[], boolean][] =
      client === null
        ? [[all, false]]
        : client.length === 0
          ? all.map((scope) => [[scope], true])
          : [...client.map((scope): [ClientScope[], boolean] => [without(scope), false]), [[...client], true]];
    const things = await thingsFor(name);
    for (const [scopes, isAdmitted] of cases) {
      const answer = await knock(await tokenFor(things.agent, scopes, { user_id: "ada" }), name, things);
      expect({ scopes, isAdmitted: ![401, 403].includes(answer.status), status: answer.status }).toEqual({
        scopes,
        isAdmitted,
        status: answer.status,
      });
      expect(answer.status).toBeLessThan(500);
    }
  });
});

describe("a client token that is over in the middle of a stream", () => {
  const over = "client_token_expired";
  const asked = { messages: [{ role: "user", content: "x" }], stream: true };
  const rpc = (method: string, params: object) => ({ jsonrpc: "2.0", id: 1, method, params });
  /** Request of each stream, and its last event. */
  const streams: [name: string, sent: (agent: string) => Sent, last: object][] = [
    [
      "/openai/v1/chat/completions",
      (model) => ({ path: "/openai/v1/chat/completions", body: { model, ...asked } }),
      { error: { code: over } },
    ],
    [
      "/openai/v1/responses",
      (model) => ({ path: "/openai/v1/responses", body: { model, input: "x", stream: true } }),
      { type: "error", code: over },
    ],
    [
      "/ui/v1",
      (agent) => uiChat({ ...never, agent }, userSays("x")),
      { type: "error", errorText: expect.stringContaining("over") },
    ],
    [
      "/ag-ui/v1",
      (agent) => agUi({ ...never, agent, chat: crypto.randomUUID() }, [{ id: "m", role: "user", content: "x" }]),
      { type: "RUN_ERROR", code: over },
    ],
    [
      "/a2a/v1 by JSON-RPC",
      (agent) => ({ path: `/a2a/v1/agents/${agent}`, body: rpc("SendStreamingMessage", a2aMessage("x")) }),
      { jsonrpc: "2.0", id: 1, error: { code: -32000, data: [{ metadata: { code: over } }] } },
    ],
    [
      "/a2a/v1 by HTTP",
      (agent) => ({ path: `/a2a/v1/agents/${agent}/message:stream`, body: a2aMessage("x") }),
      { error: { code: 401, status: "UNAUTHENTICATED", details: [{ metadata: { code: over } }] } },
    ],
    [
      "/mcp",
      () => mcp("tools/call", { name: "slow", arguments: { input: "x" } }),
      { jsonrpc: "2.0", id: 1, error: { data: { code: over } } },
    ],
  ];

  test("gets the error in the protocol's form, and nothing that it began ends", async () => {
    let time = Date.now();
    await using other = testApp({ now: () => time });
    const keeper = await other.client();
    const agent = await made(keeper, "/v1/agents", {
      name: "slow",
      instructions: "",
      model: "test/script",
      doors: { mcp: true, a2a: true },
      model_settings: { script: [{ delta_ms: 60_000, text: "One two three." }] },
    });
    const scopes = [...clientScopes];
    const limits = { requests_per_minute: 100, run_creations_per_minute: 100 };
    const asked = { agent_id: agent.id, user_id: "ada", scopes, limits, expires_in: 60 };
    const { token } = await made(keeper, "/v1/client_tokens", asked);
    const begin = (name: string, { path, body, headers }: Sent) => {
      const by = { authorization: `Bearer ${token}`, accept: "application/json, text/event-stream" };
      return [name, other.send(body ? "POST" : "GET", path, body, { ...by, ...headers })] as const;
    };
    const begun = streams.map(([name, sent]) => begin(name, sent(agent.id)));
    let runs: { id: string; status: string }[] = [];
    const read = async () => {
      runs = (await keeper.get("/v1/runs")).body.data;
    };
    while (runs.length < streams.length) await read();
    const id = runs[0]!.id;
    begun.push(
      begin("/streams/v1 by SSE", { path: `/streams/v1/runs/${id}?offset=-1&live=sse` }),
      begin("/v1", { path: `/v1/runs/${id}/events`, headers: { accept: "text/event-stream" } }),
    );
    while (runs.some((run) => other.watches.readers(run.id) < (run.id === id ? 3 : 1)))
      await new Promise((resolve) => setImmediate(resolve));
    time += 61_000;
    const last = new Map(streams.map(([name, , last]) => [name, last]));
    for (const [name, answer] of begun) {
      const { status, body } = await answer;
      const said = JSON.parse([...String(body).matchAll(/^data: (.+)$/gm)].at(-1)?.[1] ?? "null");
      expect({ name, status, said }).toMatchObject({
        name,
        status: 200,
        said: last.get(name) ?? { error: { code: over } },
      });
    }
    await read();
    expect(runs.map(({ status }) => status)).toEqual(streams.map(() => "in_progress"));
  });
});

/** A visitor of a chat page, created once, because an address may create 30 a minute. */
let visitor: { things: Things; token: string };
beforeAll(async () => {
  const things = await thingsOf(owner);
  const page = await owner.put(`/v1/agents/${things.agent}/chat_page`, { access: "link" });
  const secret = new URL(page.body.url).hash.slice(1);
  const { status, body } = await server.send("POST", `/chat/${things.agent}/token`, { secret });
  expect(status).toBe(200);
  visitor = { things, token: body.token };
});

test.each(protectedRows)("at %s admits no visitor of a chat page", async (name) => {
  const { things, token } = visitor;
  const answer = await knock(token, name, things);
  expect([401, 403]).toContain(answer.status);
  expectDialect(name, answer);
});

// --- Whose things ---------------------------------------------------------------------------------------------------

/** Returns what a client sees of a response, without its request id, times, and values of the request. */
function seen({ status, headers, text }: Answer, sent: Things): object {
  const ignored = /^(x-request-id|date|x-ratelimit-.*|mcp-session-id)$/;
  const own = Object.values(sent).sort((a, b) => b.length - a.length);
  const told = (text: string) =>
    own
      .reduce((told, one) => told.replaceAll(one, "<sent>"), text)
      .replaceAll(/\b[a-z]+_[0-9a-hjkmnp-tv-z]{26}\b/g, "<id>")
      .replaceAll(/\b[0-9a-f]{8}-[0-9a-f-]{27}\b/g, "<uuid>")
      .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, "<time>");
  const shown = [...headers].filter(([name]) => !ignored.test(name)).map(([name, value]) => [name, told(value)]);
  return { status, headers: shown.sort(), text: told(text) };
}

const allRows = createRows(server.db);
/** All rows of the holder. */
const holdersRows = () => allRows.only(holder.scope);

/** Resolves once the holder has no work left: a chat's run continues after its message, and files are processed. */
async function atRest(): Promise<void> {
  const { project_id, environment } = holder.scope;
  const atWork = server.db.sqlite.query<unknown, [string, string, string, string]>(
    `SELECT 1 FROM runs WHERE project_id = ? AND environment = ? AND status IN ('queued', 'in_progress')
     UNION ALL SELECT 1 FROM files WHERE project_id = ? AND environment = ? AND status NOT IN ('ready', 'failed') LIMIT 1`,
  );
  while (atWork.get(project_id, environment, project_id, environment)) await Bun.sleep(1);
}

const naming = rows.flatMap(([name, { names }]) => names.map((what) => [name, what] as const));

describe("a thing of others", () => {
  let theirs: Things;
  let mine: Things;
  let others: [why: string, client: Client, own: Things][];
  beforeAll(async () => {
    theirs = await thingsOf(holder);
    mine = await thingsOf(holder, "bob");
    others = [
      ["of another project", stranger, await thingsOf(stranger)],
      ["of the other environment", live, await thingsOf(live)],
      ["of an agent that the key may not use", bound, boundThings],
    ];
  });
  // Threads, stores and sessions belong to no agent, and chat ids are separate for each user.
  const ofAgent: readonly Name[] = ["agent", "tool", "run", "call"];

  test.each(naming)(
    "at %s, named as the %s, is answered as one that never was, and is left as it is",
    async (name, what) => {
      // A message to a chat id creates a chat of the caller's own.
      const [taken, absent] =
        what === "chat" ? [(await thingsOf(holder, "ada", [what])).chat, newId("thread")] : [theirs[what], never[what]];
      const isRead = name.startsWith("GET");
      await atRest();
      const before = isRead ? null : holdersRows();
      for (const [why, client, own] of others) {
        if (client === bound && !ofAgent.includes(what)) continue;
        const { secret } = client.key;
        const send = async (value: string) => {
          const things = { ...own, [what]: value };
          // The session under test is sent unchanged; other rows open one of the caller's.
          const answer = await (what === "session"
            ? ask(secret, name.split(" ")[0]!, table[name]!.send(things))
            : knock(secret, name, things));
          return seen(answer, things);
        };
        expect({ why, answer: await send(taken) }).toEqual({ why, answer: await send(absent) });
      }
      // Another key opens sessions to send its requests.
      if (before) expect(changedTables(before, holdersRows()).filter((table) => table !== "mcp_sessions")).toEqual([]);
    },
  );

  const ofToken = naming.filter(
    ([name, what]) => [...ofAgent, "thread"].includes(what) && table[name]!.client !== null,
  );

  test.each(ofToken)(
    "at %s, named as the %s, is not there for a client token that is bound to something else",
    async (name, what) => {
      const limits = { requests_per_minute: 10_000, run_creations_per_minute: 10_000 };
      const asked = {
        agent_id: what === "agent" || what === "tool" ? mine.agent : theirs.agent,
        scopes: [...clientScopes],
        expires_in: 600,
        limits,
      };
      for (const to of [{ user_id: "bob" }, { thread_id: mine.thread }]) {
        const { token } = await made(holder, "/v1/client_tokens", { ...asked, ...to });
        const send = async (value: string) => {
          const things = {
            ...mine,
            agent: asked.agent_id,
            tool: asked.agent_id === mine.agent ? mine.tool : theirs.tool,
            [what]: value,
          };
          return seen(await knock(token, name, things), things);
        };
        expect({ to, answer: await send(theirs[what]) }).toEqual({ to, answer: await send(never[what]) });
      }
      expect((await holder.get(`/v1/runs/${theirs.run}`)).body.status).toBe("requires_action");
    },
  );
});

// --- Nonsense -------------------------------------------------------------------------------------------------------

const spoken = rows
  .map(([name]) => name)
  .filter((name) => name.startsWith("POST ") && name !== "POST /openai/v1/files"); // Its body is not JSON.

/** Values of unexpected types. A lone surrogate cannot be part of an address. */
const odd: unknown[] = [
  null,
  true,
  false,
  0,
  -1,
  1.5,
  1e300,
  Number.MAX_SAFE_INTEGER,
  "",
  " ",
  "x",
  "\u0000",
  "\ud800",
  "../..",
  "%",
  "%ff",
  "a".repeat(20_000),
  "𝕏\n\r\t",
  [],
  [[]],
  {},
  [null],
  { x: 1 },
  ["x", 1],
  { constructor: "x", toString: 1 },
];

/** Returns random integers from 0 to below `below`, the same in each test run. */
function createChance(seed: number) {
  let state = seed;
  return (below: number): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}
type Chance = ReturnType<typeof createChance>;

/** Returns a copy of a value with one change at any depth: a replaced, removed or added value. */
function bent(value: unknown, chance: Chance): unknown {
  const keys = typeof value === "object" && value !== null ? Object.keys(value) : [];
  if (keys.length === 0 || chance(4) === 0) return odd[chance(odd.length)];
  const key = keys[chance(keys.length)]!;
  const copy: Record<string, unknown> = Array.isArray(value) ? ([...value] as never) : { ...(value as object) };
  const kind = chance(6);
  if (kind === 0) delete copy[key];
  else if (kind === 1) copy[`${key}x`] = odd[chance(odd.length)];
  else if (kind === 2) copy[key] = [copy[key], copy[key]];
  else copy[key] = bent(copy[key], chance);
  return copy;
}

/** Checks the response to a nonsensical request: a success, or an error in the protocol's format. */
function expectUnharmed(name: string, sent: unknown, { status, headers, text }: Answer): void {
  const shown = { name, sent: JSON.stringify(sent)?.slice(0, 500), status, text: text.slice(0, 300) };
  expect({ ...shown, isFault: status >= 500 }).toEqual({ ...shown, isFault: false });
  if (text === "" && status < 300) return; // A stream, or a notification that gets no response.
  expect(headers.get("content-type")).toMatch(/^application\/(a2a\+)?json/);
  if (status >= 400 || JSON.parse(text).error) expectDialect(name, { status, headers, text });
}

describe("nonsense", () => {
  test.each(spoken)("at %s is answered, or refused in the words of the door", async (name) => {
    const chance = createChance(spoken.indexOf(name) + 1);
    const { names, send } = table[name]!;
    const things = await thingsOf(owner, "ada", names);
    const [, path = ""] = name.split(" ");
    for (let i = 0; i < 20; i++) {
      // Runs of one thread would wait for each other.
      if (names.includes("thread")) things.thread = (await made(owner, "/v1/threads", { user_id: "ada" })).id;
      if (names.includes("session")) things.session = await open(owner.key.secret, path);
      const sent = send(things);
      const body = Array.from({ length: 1 + chance(2) }).reduce((value) => bent(value, chance), sent.body ?? {});
      const header = Object.keys(sent.headers ?? {})[chance(4)];
      const headers = { ...sent.headers, ...(header && { [header]: ["", "x", "2026-07-28", "%"][chance(4)]! }) };
      expectUnharmed(name, { body, headers }, await ask(owner.key.secret, "POST", { ...sent, body, headers }));
    }
  });

  const request = (body: string) => `{"jsonrpc": "2.0", "id": 1, "method": ${body}}`;
  const bodies: [what: string, body: string | Uint8Array][] = [
    ["nothing", ""],
    ["no JSON", "{"],
    ["bytes that are no text", new Uint8Array([0x22, 0xff, 0xfe, 0x22])],
    ["null", "null"],
    ["a number", "1"],
    ["a text", '"initialize"'],
    ["no message", "{}"],
    ["an empty batch", "[]"],
    ["a batch", `[${request('"ping"')}, ${request('"GetTask"')}]`],
    ["a batch of a thousand", `[${Array(1000).fill(request('"ping"')).join(",")}]`],
    ["another version", '{"jsonrpc": "1.0", "id": 1, "method": "ping"}'],
    ["an id that is an object", '{"jsonrpc": "2.0", "id": {}, "method": "ping"}'],
    ["a method that nobody knows", request('"nobody/knows"')],
    ["a method that every object has", request('"constructor"')],
    ["a method that every object has, as A2A writes names", request('"ToString"')],
    ["a method that is a list", request('["ping"]')],
    ["params that are a text", request('"tools/call", "params": "x"')],
    ["params that are a list", request('"GetTask", "params": [1]')],
    ["a forbidden key", request('"tools/list", "params": {"__proto__": {"x": 1}}')],
    ["a key twice", request('"tools/list", "params": {"x": 1, "x": 2}')],
    ["a number without end", request('"tools/list", "params": {"x": 1e999}')],
    ["what nests deep", request(`"tools/list", "params": {"x": ${"[".repeat(50_000)}${"]".repeat(50_000)}}`)],
    ["what is too long", request(`"tools/list", "params": {"x": "${"x".repeat(2_000_000)}"}`)],
  ];
  const addresses = ["POST /mcp", "POST /mcp/admin", "POST /a2a/v1/agents/:id", "POST /a2a/v1/agents/:id/*"];

  test.each(addresses.flatMap((address) => bodies.map(([what, body]) => [address, what, body] as const)))(
    "at %s, %s is refused in the words of the door",
    async (address, _what, body) => {
      const [, pattern = ""] = address.split(" ");
      const path = pattern.replace(":id", ownThings.agent).replace("*", "message:send");
      const session = await open(owner.key.secret, pattern);
      const response = await server.app.handle(
        new Request(`http://localhost${path}`, {
          method: "POST",
          body,
          headers: {
            authorization: `Bearer ${owner.key.secret}`,
            "content-type": "application/json",
            accept: "application/json, text/event-stream",
            "mcp-session-id": session,
          },
        }),
      );
      const answer = { status: response.status, headers: response.headers, text: await response.text() };
      expect(answer.status).toBeLessThan(500);
      expectDialect(address, answer);
    },
  );
});
