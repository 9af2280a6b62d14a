/** Body of a request to an OpenAI-compatible server. */
interface ChatBody {
  model: string;
  messages: { role: string; content: string }[];
  tools?: { function: { name: string } }[];
  max_tokens?: number;
}

/** Answer with its usage: its text or tool calls, and the token counts that it reports. */
export interface ChatAnswer {
  text?: string;
  /** Tools by name, with their arguments if they have any. */
  calls?: (string | { name: string; arguments: object })[];
  prompt_tokens: number;
  completion_tokens: number;
  /** Null: the stream ends without a finish reason. */
  finish?: null;
}

/**
 * Starts an OpenAI-compatible model on loopback, as the connection `stub`, which answers with the test's function;
 * `gone` is aborted when the client disconnects.
 */
export function startChatServer(
  answer: (body: ChatBody, index: number, gone: AbortSignal) => ChatAnswer | Promise<ChatAnswer>,
) {
  const requests: ChatBody[] = [];
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    idleTimeout: 0,
    async fetch(request) {
      if (request.method === "GET") return new Response(null, { status: 404 }); // It lists no models.
      const body = (await request.json()) as ChatBody;
      return stream(await answer(body, requests.push(body) - 1, request.signal));
    },
  });
  return {
    requests,
    environment: {
      RUNNEL_MODEL_STUB_BASE_URL: `http://127.0.0.1:${server.port}/v1`,
      RUNNEL_MODEL_STUB_API_KEY: "none",
    },
    async [Symbol.asyncDispose]() {
      await server.stop(true);
    },
  };
}

function stream({ text = "", calls = [], prompt_tokens, completion_tokens, finish }: ChatAnswer): Response {
  const tool_calls = calls.map((call, index) => ({
    index,
    id: `call_${index}`,
    type: "function",
    function:
      typeof call === "string"
        ? { name: call, arguments: "{}" }
        : { ...call, arguments: JSON.stringify(call.arguments) },
  }));
  const usage = { prompt_tokens, completion_tokens, total_tokens: prompt_tokens + completion_tokens };
  const delta = { role: "assistant", content: text, ...(calls.length > 0 && { tool_calls }) };
  const chunks = [
    { choices: [{ index: 0, delta, finish_reason: null }] },
    {
      choices: [
        { index: 0, delta: {}, finish_reason: finish === null ? null : calls.length > 0 ? "tool_calls" : "stop" },
      ],
    },
    { choices: [], usage },
  ].map((chunk) => `data: ${JSON.stringify({ ...shape, ...chunk })}\n\n`);
  return new Response(`${chunks.join("")}data: [DONE]\n\n`, { headers: { "content-type": "text/event-stream" } });
}

const shape = { id: "chatcmpl-1", object: "chat.completion.chunk", created: 1_700_000_000, model: "stub" };
