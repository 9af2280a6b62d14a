/** A request to a model server, as far as tests look at it. */
interface AskedModel {
  model: string;
  messages: { role: string; content?: unknown; tool_calls?: unknown[]; reasoning_content?: string }[];
  max_tokens?: number;
  tools?: unknown[];
}

type Respond = (body: AskedModel, index: number, signal: AbortSignal) => Response | Promise<Response>;

/** Starts an OpenAI-compatible server on loopback, as the connection of this name; its behavior may be changed. */
export function startModelServer(name: string, respond: Respond) {
  const requests: AskedModel[] = [];
  const wait = { notify: Promise.withResolvers<void>() };
  const own = { respond };
  const serve = (port: number) =>
    Bun.serve({
      port,
      hostname: "127.0.0.1",
      idleTimeout: 0,
      async fetch(request) {
        // It has no list of models.
        if (request.method === "GET") return new Response(null, { status: 404 });
        const body = (await request.json()) as AskedModel;
        const index = requests.push(body) - 1;
        wait.notify.resolve();
        wait.notify = Promise.withResolvers();
        return own.respond(body, index, request.signal);
      },
    });
  let server = serve(0);
  const port = server.port ?? 0;
  const variable = `RUNNEL_MODEL_${name.toUpperCase()}`;
  return {
    requests,
    model: `openai_compatible/${name}/m`,
    environment: { [`${variable}_BASE_URL`]: `http://127.0.0.1:${port}/v1`, [`${variable}_API_KEY`]: "none" },
    behave(respond: Respond): void {
      own.respond = respond;
    },
    /** Resolves once the server has had this many requests. */
    async asked(count: number): Promise<void> {
      while (requests.length < count) await wait.notify.promise;
    },
    stop: () => server.stop(true),
    /** Starts the server again at the same address. */
    restart(): void {
      server = serve(port);
    },
    async [Symbol.asyncDispose]() {
      await server.stop(true);
    },
  };
}

const chunk = (delta: object, finish_reason: string | null = null, more: object = {}): string =>
  `data: ${JSON.stringify({
    id: "chatcmpl-1",
    object: "chat.completion.chunk",
    created: 1_700_000_000,
    model: "m",
    choices: [{ index: 0, delta, finish_reason }],
    ...more,
  })}\n\n`;

const usageOf = (prompt_tokens: number, completion_tokens: number) => ({
  usage: { prompt_tokens, completion_tokens, total_tokens: prompt_tokens + completion_tokens },
});

const eventStream = (body: string): Response =>
  new Response(body, { headers: { "content-type": "text/event-stream" } });

/** Answers with a text, of 10 tokens for a prompt of 100. */
export const says = (text: string, finish = "stop"): Response =>
  eventStream(`${chunk({ role: "assistant", content: text })}${chunk({}, finish, usageOf(100, 10))}data: [DONE]\n\n`);

/** Asks for one call of a tool, after some reasoning. */
export const calls = (name: string, args = "{}", reasoning = ""): Response =>
  eventStream(
    [
      ...(reasoning === "" ? [] : [chunk({ reasoning_content: reasoning })]),
      chunk({ tool_calls: [{ index: 0, id: `call_${name}`, type: "function", function: { name, arguments: args } }] }),
      chunk({}, "tool_calls", usageOf(100, 10)),
      "data: [DONE]\n\n",
    ].join(""),
  );

/** Refuses the request with an error of OpenAI's form. */
export const refuses = (status: number, message: string, headers: Record<string, string> = {}, code = ""): Response =>
  Response.json({ error: { message, type: "error", code } }, { status, headers });

/** Begins an answer that ends without a finish reason, as when the server dies. */
export const breaksOff = (...deltas: object[]): Response => eventStream(deltas.map((delta) => chunk(delta)).join(""));

/** Never answers. */
export const hangs = (signal: AbortSignal): Promise<Response> =>
  new Promise((resolve) => signal.addEventListener("abort", () => resolve(new Response()), { once: true }));
