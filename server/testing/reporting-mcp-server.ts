interface Params {
  protocolVersion?: string;
  arguments?: Record<string, unknown>;
  _meta?: { progressToken?: unknown };
}

interface Message {
  id?: number;
  method: string;
  params?: Params;
}

interface Call {
  id: number;
  token: unknown;
  arguments: Record<string, unknown>;
  /** Sends a notification on the response stream of the call. */
  notify(method: string, params: object): void;
  progress(progress: unknown, more?: object): void;
  finish(text: string): void;
}

/** Starts an MCP server with one tool, `work`, whose calls the test drives. `next` resolves with the next call. */
export function startReportingServer() {
  const arrived: Call[] = [];
  let waiting: PromiseWithResolvers<void> = Promise.withResolvers();

  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    idleTimeout: 0,
    async fetch(request) {
      if (request.method !== "POST") return new Response(null, { status: 405 });
      const { id, method, params } = (await request.json()) as Message;
      if (id === undefined) return new Response(null, { status: 202 });
      const answer = (result: object) => Response.json({ jsonrpc: "2.0", id, result });
      if (method === "initialize") {
        const capabilities = { tools: {}, logging: {} };
        return answer({
          protocolVersion: params?.protocolVersion,
          capabilities,
          serverInfo: { name: "reports", version: "1" },
        });
      }
      if (method === "tools/list") return answer({ tools: [{ name: "work", inputSchema: { type: "object" } }] });
      return streamed(id, params ?? {});
    },
  });

  function streamed(id: number, params: Params): Response {
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        const send = (message: object) =>
          controller.enqueue(new TextEncoder().encode(`data: ${JSON.stringify({ jsonrpc: "2.0", ...message })}\n\n`));
        const token = params._meta?.progressToken;
        const notify: Call["notify"] = (method, params) => send({ method, params });
        arrived.push({
          id,
          token,
          arguments: params.arguments ?? {},
          notify,
          progress: (progress, more = {}) =>
            notify("notifications/progress", { progressToken: token, progress, ...more }),
          finish(text) {
            send({ id, result: { content: [{ type: "text", text }] } });
            controller.close();
          },
        });
        waiting.resolve();
      },
    });
    return new Response(body, { headers: { "content-type": "text/event-stream" } });
  }

  return {
    url: `http://127.0.0.1:${server.port}/`,
    async next(): Promise<Call> {
      for (;;) {
        const call = arrived.shift();
        if (call) return call;
        await waiting.promise;
        waiting = Promise.withResolvers();
      }
    },
    [Symbol.asyncDispose]: () => server.stop(true),
  };
}
