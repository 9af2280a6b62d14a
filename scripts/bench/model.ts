interface ModelRequest {
  model: string;
  messages: { role: string }[];
  stream?: boolean;
}

/**
 * The benchmark's model and tool, deterministic and as cheap as possible. `t<tokens>-d<ms>` streams this many tokens,
 * one every so many milliseconds on a schedule without drift; with `-tool` it first calls the offered tool. A request
 * without `stream` gets the text at once, as JSON. `POST /tool` responds like an HTTP tool, `GET /pipe/<model>` sends
 * the model's own bytes without a JSON request. It prints its address.
 */
const server = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  idleTimeout: 0,
  routes: {
    "/tool": () => Response.json({ ok: true }),
    "/v1/chat/completions": async (request) => {
      const { model, messages, stream } = (await request.json()) as ModelRequest;
      if (!stream) return wholeAnswer(model);
      return answer(
        model,
        messages.some(({ role }) => role === "tool"),
      );
    },
    "/pipe/:model": ({ params }) => answer(params.model, false),
  },
});
console.log(JSON.stringify({ url: `http://127.0.0.1:${server.port}` }));

const encoder = new TextEncoder();
const headers = { "content-type": "text/event-stream" };
const prepared = new Map<string, Uint8Array<ArrayBuffer>[]>();

/** Returns the text of a model at once, whatever its delay. */
function wholeAnswer(model: string): Response {
  const tokens = Number(/t(\d+)-/.exec(model)?.[1] ?? 1);
  const content = Array.from({ length: tokens }, (_, index) => word(index)).join("");
  const choices = [{ index: 0, message: { role: "assistant", content }, finish_reason: "stop" }];
  return Response.json({ ...shape, object: "chat.completion", choices, usage: usageOf(tokens) });
}

function answer(model: string, toolWasRead: boolean): Response {
  const [, tokens = "1", delay = "0", tool] = /t(\d+)-d(\d+)(-tool)?/.exec(model) ?? [];
  const call = tool !== undefined && !toolWasRead;
  const key = `${tokens}${call}`;
  const chunks = prepared.get(key) ?? (call ? callChunks() : textChunks(Number(tokens)));
  prepared.set(key, chunks);
  return new Response(Number(delay) === 0 ? Buffer.concat(chunks) : paced(chunks, Number(delay)), { headers });
}

function paced(chunks: readonly Uint8Array[], delay_ms: number): ReadableStream<Uint8Array> {
  let open = true;
  return new ReadableStream({
    async start(controller) {
      const begun = performance.now();
      for (const [index, bytes] of chunks.entries()) {
        const wait = begun + index * delay_ms - performance.now();
        if (wait > 0.5) await Bun.sleep(wait);
        if (!open) return;
        controller.enqueue(bytes);
      }
      controller.close();
    },
    cancel() {
      open = false;
    },
  });
}

const words = "one two three four five six seven eight".split(" ");
const word = (index: number) => ` ${words[index % words.length]}`;

function textChunks(tokens: number): Uint8Array<ArrayBuffer>[] {
  const deltas = Array.from({ length: tokens }, (_, index) => ({ content: word(index) }));
  return [...deltas.map((delta) => chunk(delta)), chunk({}, "stop"), ...closing(tokens)];
}

function callChunks(): Uint8Array<ArrayBuffer>[] {
  const call = { index: 0, id: "call_1", type: "function", function: { name: "bench_tool", arguments: "{}" } };
  return [chunk({ role: "assistant", tool_calls: [call] }), chunk({}, "tool_calls"), ...closing(8)];
}

const frame = (value: unknown) => encoder.encode(`data: ${JSON.stringify(value)}\n\n`);
const usageOf = (tokens: number) => ({ prompt_tokens: 20, completion_tokens: tokens, total_tokens: 20 + tokens });
const shape = { id: "chatcmpl-1", object: "chat.completion.chunk", created: 1_700_000_000, model: "bench" };
const chunk = (delta: object, finish_reason: string | null = null) =>
  frame({ ...shape, choices: [{ index: 0, delta, finish_reason }] });

function closing(tokens: number): Uint8Array<ArrayBuffer>[] {
  return [frame({ ...shape, choices: [], usage: usageOf(tokens) }), encoder.encode("data: [DONE]\n\n")];
}
