import { InMemoryTaskStore } from "@modelcontextprotocol/sdk/experimental/tasks/stores/in-memory.js";
import { McpServer, ResourceTemplate } from "@modelcontextprotocol/sdk/server/mcp.js";
import { WebStandardStreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js";
import { z } from "zod";

const answer = (text: string) => ({ content: [{ type: "text" as const, text }] });

/** Server on the official SDK with resources, a template, prompts, and a tool that is called as a task. */
function createServer(): McpServer {
  const server = new McpServer(
    { name: "features", version: "1" },
    {
      taskStore: new InMemoryTaskStore(),
      capabilities: { tasks: { requests: { tools: { call: {} } }, cancel: {} } },
    },
  );
  server.registerResource(
    "readme",
    "docs://readme",
    { description: "Read me first.", mimeType: "text/plain" },
    (uri) => ({
      contents: [{ uri: uri.href, text: "Hello." }],
    }),
  );
  server.registerResource("picture", "docs://picture", {}, (uri) => ({
    contents: [{ uri: uri.href, mimeType: "image/png", blob: Buffer.alloc(2048, 7).toString("base64") }],
  }));
  server.registerResource("user", new ResourceTemplate("users://{id}", { list: undefined }), {}, (uri, { id }) => ({
    contents: [{ uri: uri.href, text: `User ${id}.` }],
  }));
  server.registerPrompt(
    "review",
    { description: "Reviews code.", argsSchema: { code: z.string(), style: z.string().optional() } },
    ({ code }) => ({
      messages: [{ role: "user", content: { type: "text", text: `Review ${code}` } }],
    }),
  );
  server.registerTool("docs.find", {}, () => answer("found"));
  server.experimental.tasks.registerToolTask(
    "count",
    { inputSchema: { to: z.number() }, execution: { taskSupport: "required" } },
    {
      async createTask({ to }, { taskStore }) {
        const task = await taskStore.createTask({ ttl: 60_000, pollInterval: 100 });
        void Bun.sleep(250).then(() =>
          taskStore.storeTaskResult(task.taskId, to > 0 ? "completed" : "failed", {
            ...answer(String(to)),
            isError: to <= 0,
          }),
        );
        return { task };
      },
      getTask: (_, { taskStore, taskId }) => taskStore.getTask(taskId),
      getTaskResult: async (_, { taskStore, taskId }) =>
        (await taskStore.getTaskResult(taskId)) as ReturnType<typeof answer>,
    },
  );
  return server;
}

/** Starts the server with Streamable HTTP and sessions on loopback. */
export function startFeaturesServer() {
  const transports = new Map<string, WebStandardStreamableHTTPServerTransport>();
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    idleTimeout: 0,
    async fetch(request) {
      const known = transports.get(request.headers.get("mcp-session-id") ?? "");
      if (known) return known.handleRequest(request);
      const transport = new WebStandardStreamableHTTPServerTransport({
        sessionIdGenerator: () => crypto.randomUUID(),
        onsessioninitialized: (id) => void transports.set(id, transport),
      });
      await createServer().connect(transport);
      return transport.handleRequest(request);
    },
  });
  return { url: `http://127.0.0.1:${server.port}/`, [Symbol.asyncDispose]: () => server.stop(true) };
}
