import { newId } from "../domain/ids.ts";
import type { ClientScope } from "../domain/scope.ts";
import type { RequiredPermission } from "../http/operation.ts";
import { eventId } from "../protocols/mcp/event-id.ts";
import { conversationId, itemOfMessage, responseId } from "../protocols/openai/item-ids.ts";

// The table of all doors, for `server/protocols/doors.test.ts`: each route of every protocol, and each method of routes
// that have several.

/** Things that an address may name. */
export interface Things {
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
export type Name = keyof Things;

/** A request without its credentials. */
export interface Sent {
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
export function mcp(method: string, params: Record<string, unknown> = {}, path = "/mcp"): Sent {
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

export const initialize = (path = "/mcp"): Sent => {
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

export const a2aMessage = (text: string, more: object = {}) => ({
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

export const userSays = (text: string) => ({ id: crypto.randomUUID(), role: "user", parts: [{ type: "text", text }] });
export const uiChat = ({ agent, chat: id }: Things, message: object): Sent => ({
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

export const agUi = ({ agent, chat: threadId }: Things, messages: object[]): Sent => ({
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

export const table: Record<string, Row> = {
  ...mcpRows,
  ...a2aRows,
  ...openAiRows,
  ...storeRows,
  ...uiRows,
  ...agUiRows,
  ...streamRows,
};
export const rows = Object.entries(table);
