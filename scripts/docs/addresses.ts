import { type Page, pageOf } from "./pages.ts";

/** Routes of the server beside the API and the dashboard. */
const addresses: Record<string, string> = {
  "GET /healthz": "200 while the process works. For the supervisor that restarts it.",
  "GET /readyz": "200 when the server takes requests, else 503. For the load balancer.",
  "GET /metrics": "[Metrics](../operate/monitoring.md#metrics) in Prometheus' text format.",
  "GET /docs": "This documentation. `/docs/<page>.md` is a page as Markdown.",
  "GET /docs/*": "A page of the documentation, and what belongs to it.",
  "GET /docs/openapi.json": "The API in OpenAPI 3.1.",
  "GET /docs/errors": "Leads to the [errors](errors/index.md).",
  "GET /embed.js": "The script of [the chat](../guides/chat-on-a-page.md) that pages embed.",
  "GET /chat/:agent_id": "The [chat page](../guides/chat-page.md) of an agent that has one.",
  "POST /chat/:agent_id/token": "Returns a token for a visitor of that page.",
  "GET /chat.js": "The script of chat pages.",
  "GET /chat.css": "Their styles.",
  "GET /llms.txt": "The list of these pages, for language models.",
  "GET /llms-full.txt": "All of these pages as one text, for language models.",
  "GET /streams/v1/runs/:id": "A run in the protocol [Durable Streams](../connect/durable-streams.md).",
  "POST /callbacks/:token":
    "Where the receiver of a webhook tool's call sends the result. The address itself is the permission.",
  "GET /oauth/callback":
    "Where an authorization server sends a user back who [consented](../guides/oauth.md). It works once.",
  "GET /oauth/consent/:token":
    "The page that a [user](../guides/act-as-the-user.md) sees before a consent. The address itself is the permission.",
  "POST /oauth/consent/:token": "Its button: leads to the service, and ties the consent to this browser.",
  "POST /triggers/:id": "Where another system sends its events to a [trigger](../guides/triggers.md). Each is signed.",
  "POST /a2a/v1/agents/:id": "A call of JSON-RPC by an [A2A client](../connect/a2a.md).",
  "GET /a2a/v1/agents/:id/.well-known/agent-card.json": "The agent's card.",
  "GET /a2a/v1/agents/:id/*": "The same by HTTP: `/tasks`, `/tasks/{id}`, `/tasks/{id}:subscribe`.",
  "POST /a2a/v1/agents/:id/*": "`/message:send`, `/message:stream`, `/tasks/{id}:cancel`.",
  "DELETE /a2a/v1/agents/:id/*":
    "A task is no longer told of at an address: `/tasks/{id}/pushNotificationConfigs/{id}`.",
  "POST /mcp": "A message of an [MCP client](../connect/mcp.md): agents as tools.",
  "GET /mcp": "Goes on with a stream of an MCP client, behind `Last-Event-ID`.",
  "DELETE /mcp": "Ends a session of an MCP client.",
  "POST /mcp/admin": "A message of an MCP client that manages this server. The key needs the scope `admin`.",
  "GET /mcp/admin": "The same as for `/mcp`; no tool of it streams.",
  "DELETE /mcp/admin": "Ends such a session.",
  "POST /openai/v1/responses": "A run of an agent, in the form of a [response](../connect/openai-responses.md).",
  "GET /openai/v1/responses/:id": "The response, or its events: `?stream=true&starting_after=…`.",
  "DELETE /openai/v1/responses/:id": "Deletes it with its run.",
  "POST /openai/v1/responses/:id/cancel": "Cancels it.",
  "GET /openai/v1/responses/:id/input_items": "What it was asked.",
  "POST /openai/v1/conversations": "Makes a conversation, which is a thread.",
  "GET /openai/v1/conversations/:id": "One of them.",
  "POST /openai/v1/conversations/:id": "Changes its metadata.",
  "DELETE /openai/v1/conversations/:id": "Deletes it.",
  "GET /openai/v1/conversations/:id/items": "What was said in it.",
  "POST /openai/v1/conversations/:id/items": "Adds what was said elsewhere.",
  "GET /openai/v1/conversations/:id/items/:item": "One of the items.",
  "GET /openai/v1/models": "Agents as models, for [OpenAI's clients](../connect/openai.md).",
  "GET /openai/v1/models/*": "One of them, by its id or name.",
  "POST /openai/v1/chat/completions": "A run of an agent, in the form of a chat completion.",
  "POST /ag-ui/v1/agents/:id": "A request of an [AG-UI client](../connect/ag-ui.md), answered by a stream.",
  "POST /ui/v1/agents/:id/chat": "Messages of [`useChat`](../connect/ai-sdk-ui.md), answered by a stream.",
  "GET /ui/v1/agents/:id/chat/:chat": "What was said in a chat.",
  "GET /ui/v1/agents/:id/chat/:chat/stream": "Goes on with the stream of a chat. 204 where nothing runs.",
  "DELETE /ui/v1/agents/:id/chat/:chat/stream": "Ends the run of a chat.",
  "POST /openai/v1/embeddings": "Vectors of [texts](../connect/openai-files.md).",
  "GET /openai/v1/files": "Files of the API, in the form of [OpenAI's](../connect/openai-files.md).",
  "POST /openai/v1/files": "Uploads one.",
  "GET /openai/v1/files/:id": "One of them.",
  "DELETE /openai/v1/files/:id": "Deletes it.",
  "GET /openai/v1/files/:id/content": "Its content.",
  "GET /openai/v1/vector_stores": "Memory stores, as [vector stores](../connect/openai-files.md).",
  "POST /openai/v1/vector_stores": "Makes one.",
  "GET /openai/v1/vector_stores/:id": "One of them.",
  "POST /openai/v1/vector_stores/:id": "Changes it.",
  "DELETE /openai/v1/vector_stores/:id": "Deletes it.",
  "POST /openai/v1/vector_stores/:id/search": "Searches it.",
  "GET /openai/v1/vector_stores/:id/files": "The files in it.",
  "POST /openai/v1/vector_stores/:id/files": "Adds one.",
  "GET /openai/v1/vector_stores/:id/files/:file_id": "One of them.",
  "DELETE /openai/v1/vector_stores/:id/files/:file_id": "Takes it out of the store.",
  "GET /openai/v1/vector_stores/:id/files/:file_id/content": "What it says, in chunks.",
  "POST /openai/v1/vector_stores/:id/file_batches": "Adds several files at once.",
  "GET /openai/v1/vector_stores/:id/file_batches/:batch": "How far they are.",
  "GET /openai/v1/vector_stores/:id/file_batches/:batch/files": "The files of a batch.",
  "GET /.well-known/oauth-protected-resource": "What MCP clients need to know of keys.",
  "GET /.well-known/oauth-protected-resource/mcp": "The same.",
  "GET /.well-known/oauth-protected-resource/mcp/admin": "The same for `/mcp/admin`.",
};

/** Returns the page of the routes outside of `/v1`. */
export function addressesPage(): Page {
  const rows = Object.entries(addresses).map(([address, meaning]) => `| \`${address}\` | ${meaning} |`);
  return pageOf(
    "reference/addresses",
    `# Other addresses

What the server has beside the [API](api/index.md) and the dashboard. Those of a door take an API key; the others need none.

| Address | Meaning |
|---|---|
${rows.join("\n")}

The dashboard is at \`/dashboard\`. What is below \`/console\` belongs to it and may change at any time.
`,
  );
}
