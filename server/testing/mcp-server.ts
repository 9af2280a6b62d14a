import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { WebStandardStreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js";
import type { RequestHandlerExtra } from "@modelcontextprotocol/sdk/shared/protocol.js";
import {
  CallToolRequestSchema,
  CreateMessageResultSchema,
  type ElicitRequest,
  ElicitResultSchema,
  ListToolsRequestSchema,
  type ServerNotification,
  type ServerRequest,
  UrlElicitationRequiredError,
} from "@modelcontextprotocol/sdk/types.js";

type Args = Record<string, unknown>;
type Extra = RequestHandlerExtra<ServerRequest, ServerNotification>;

const text = (said: string) => ({ content: [{ type: "text" as const, text: said }] });
const object = { type: "object" as const, properties: {} };
const numbers = {
  type: "object" as const,
  properties: { a: { type: "number" }, b: { type: "number" } },
  required: ["a", "b"],
  additionalProperties: false,
};

const nameSchema = {
  type: "object" as const,
  properties: { name: { type: "string" as const, title: "Name", minLength: 1 } },
  required: ["name"],
};

/** Internal state of the server that tests observe. */
interface Seen {
  /** HTTP method and path of requests; the method of messages. */
  requests: string[];
  /** Resolves when a call of `wait` begins, and when the client cancels it. */
  waiting: PromiseWithResolvers<void>;
  cancelled: PromiseWithResolvers<void>;
}

const newSeen = (): Seen => ({
  requests: [],
  waiting: Promise.withResolvers<void>(),
  cancelled: Promise.withResolvers<void>(),
});

/** Server on the official SDK: two pages of tools, one for each kind of answer. */
function createTools(seen: Seen): Server {
  const server = new Server(
    { name: "tests", version: "1" },
    { capabilities: { tools: { listChanged: true }, logging: {} } },
  );
  let count = 0;
  const run: Record<string, (args: Args, extra: Extra) => Promise<object> | object> = {
    add: ({ a, b }) => ({ ...text(String(Number(a) + Number(b))), structuredContent: { sum: Number(a) + Number(b) } }),
    say: async ({ what, after_ms }) => {
      await Bun.sleep(Number(after_ms ?? 0));
      return text(String(what));
    },
    count: () => text(String(++count)),
    fail: () => ({ ...text("no such file"), isError: true }),
    see: () => ({
      content: [
        { type: "image", mimeType: "image/png", data: Buffer.alloc(12_288).toString("base64") },
        { type: "resource", resource: { uri: "file:///a.txt", text: "inside" } },
      ],
    }),
    wait: (_, { signal }) => {
      seen.waiting.resolve();
      signal.addEventListener("abort", () => seen.cancelled.resolve());
      return new Promise(() => {});
    },
    environment: () => text(Object.keys(process.env).sort().join(" ")),
    pid: () => text(String(process.pid)),
    die: () => process.exit(1),
    elicit: async (args, { sendRequest }) => {
      const { message = "Who are you?", requestedSchema = nameSchema, timeout = 60_000, ...more } = args;
      const params = { message, ...(more.mode !== "url" && { requestedSchema }), ...more } as ElicitRequest["params"];
      const answer = await sendRequest({ method: "elicitation/create", params }, ElicitResultSchema, {
        timeout: Number(timeout),
      });
      return text(JSON.stringify(answer));
    },
    elicit_twice: async (_, { sendRequest }) => {
      const answers: string[] = [];
      for (const message of ["First?", "Second?"]) {
        const params = { message, requestedSchema: nameSchema };
        const { content } = await sendRequest({ method: "elicitation/create", params }, ElicitResultSchema);
        answers.push(String(content?.name));
      }
      return text(answers.join(" "));
    },
    sign_in: () => {
      if (++count > 1) return text("signed in");
      const url = "https://example.com/sign-in";
      throw new UrlElicitationRequiredError([{ mode: "url", elicitationId: "1", message: "Sign in.", url }]);
    },
    progress: async ({ steps, step_ms }, { sendNotification, _meta }) => {
      for (let progress = 1; progress <= Number(steps); progress++) {
        await Bun.sleep(Number(step_ms));
        const params = { progressToken: _meta!.progressToken!, progress, total: Number(steps), message: "Working" };
        await sendNotification({ method: "notifications/progress", params });
      }
      return text("done");
    },
    change_list: async (_, { sendNotification }) => {
      await sendNotification({ method: "notifications/tools/list_changed" });
      return text("changed");
    },
    capabilities: () => text(JSON.stringify(server.getClientCapabilities())),
    ask: async (_, { sendRequest }) => {
      const params = {
        messages: [{ role: "user" as const, content: { type: "text" as const, text: "?" } }],
        maxTokens: 9,
      };
      const asked = sendRequest({ method: "sampling/createMessage", params }, CreateMessageResultSchema);
      return text(
        await asked.then(
          () => "answered",
          (error: Error) => error.message,
        ),
      );
    },
  };
  const names = Object.keys(run);
  server.setRequestHandler(ListToolsRequestSchema, ({ params }) => {
    seen.requests.push("tools/list");
    const page = params?.cursor === "2" ? names.slice(4) : names.slice(0, 4);
    const tools = page.map((name) => ({
      name,
      description: `The tool ${name}.`,
      inputSchema: name === "add" ? numbers : object,
      ...(name === "add" && { annotations: { readOnlyHint: true } }),
    }));
    return params?.cursor === "2" ? { tools } : { tools, nextCursor: "2" };
  });
  server.setRequestHandler(CallToolRequestSchema, async ({ params }, extra) => {
    const tool = run[params.name];
    if (!tool) throw new Error(`There is no ${params.name}.`);
    return tool(params.arguments ?? {}, extra);
  });
  return server;
}

interface McpServerOptions {
  stateful?: boolean;
  json?: boolean;
}

/** Starts the server with Streamable HTTP on loopback, with or without sessions, answering with streams or JSON. */
export function startMcpServer({ stateful = true, json = false }: McpServerOptions = {}) {
  const seen = newSeen();
  const sessions = new Map<string, WebStandardStreamableHTTPServerTransport>();

  async function newTransport() {
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: stateful ? () => crypto.randomUUID() : undefined,
      enableJsonResponse: json,
      onsessioninitialized: (id) => void sessions.set(id, transport),
    });
    await createTools(seen).connect(transport);
    return transport;
  }

  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    idleTimeout: 0,
    async fetch(request) {
      seen.requests.push(`${request.method} ${new URL(request.url).pathname}`);
      if (new URL(request.url).pathname === "/moved")
        return new Response(null, { status: 307, headers: { location: "/mcp" } });
      const id = request.headers.get("mcp-session-id");
      const known = id === null ? await newTransport() : sessions.get(id);
      if (!known) return Response.json({ error: "no such session" }, { status: 404 });
      const answer = await known.handleRequest(request);
      if (request.method === "DELETE") sessions.delete(id!);
      return answer;
    },
  });

  return {
    url: `http://127.0.0.1:${server.port}/mcp`,
    moved: `http://127.0.0.1:${server.port}/moved`,
    seen,
    sessions,
    [Symbol.asyncDispose]: () => server.stop(true),
  };
}

if (import.meta.main) {
  process.stderr.write("ready\n");
  await createTools(newSeen()).connect(new StdioServerTransport());
}
