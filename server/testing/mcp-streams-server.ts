import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import {
  type EventStore,
  WebStandardStreamableHTTPServerTransport,
} from "@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js";
import { CallToolRequestSchema, type JSONRPCMessage, ListToolsRequestSchema } from "@modelcontextprotocol/sdk/types.js";

/** Keeps the messages of streams, so that the SDK's server replays them after a connection has ended. */
function createEventStore(): EventStore {
  const events: { id: string; stream: string; message: JSONRPCMessage }[] = [];
  return {
    async storeEvent(stream, message) {
      const id = `${stream}_${events.length}`;
      events.push({ id, stream, message });
      return id;
    },
    async getStreamIdForEventId(id) {
      return events.find((event) => event.id === id)?.stream;
    },
    async replayEventsAfter(last, { send }) {
      const at = events.findIndex(({ id }) => id === last);
      const { stream } = events[at]!;
      for (const { id, stream: of, message } of events.slice(at + 1)) if (of === stream) await send(id, message);
      return stream;
    },
  };
}

const requestedSchema = { type: "object" as const, properties: { name: { type: "string" as const } } };
const names = ["ask", "log", "part"];

/**
 * Starts a server on the official SDK that asks and logs on the stream of its session, as the SDK's own guide does, and
 * that ends the connection of a call before it answers.
 */
export function startStreamsServer() {
  const transports = new Map<string, WebStandardStreamableHTTPServerTransport>();
  const requests: string[] = [];
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    idleTimeout: 0,
    async fetch(request) {
      requests.push(`${request.method} ${request.headers.get("last-event-id") === null ? "new" : "rest"}`);
      const known = transports.get(request.headers.get("mcp-session-id") ?? "");
      if (known) return known.handleRequest(request);
      const transport = new WebStandardStreamableHTTPServerTransport({
        sessionIdGenerator: () => crypto.randomUUID(),
        onsessioninitialized: (id) => void transports.set(id, transport),
        eventStore: createEventStore(),
        retryInterval: 100,
      });
      await createServer().connect(transport);
      return transport.handleRequest(request);
    },
  });
  return {
    url: `http://127.0.0.1:${server.port}/`,
    requests,
    [Symbol.asyncDispose]: () => server.stop(true),
  };
}

function createServer(): Server {
  const server = new Server({ name: "streams", version: "1" }, { capabilities: { tools: {}, logging: {} } });
  const text = (said: string) => ({ content: [{ type: "text" as const, text: said }] });
  server.setRequestHandler(ListToolsRequestSchema, () => ({
    tools: names.map((name) => ({ name, inputSchema: { type: "object" } })),
  }));
  server.setRequestHandler(CallToolRequestSchema, async ({ params: { name } }, { closeSSEStream }) => {
    if (name === "ask" || name === "log") {
      if (name === "log") await server.sendLoggingMessage({ level: "info", data: "Said to the session." });
      const answer = await server.elicitInput({ mode: "form", message: "Who?", requestedSchema });
      return text(JSON.stringify(answer.content ?? answer.action));
    }
    closeSSEStream?.();
    await Bun.sleep(250);
    return text("the rest");
  });
  return server;
}
