import type { Json } from "./harness.ts";

/** A request that the model received. */
interface ModelRequest {
  model: string;
  messages: Json[];
  /** Resolves when the client disconnects before the response is complete. */
  aborted: Promise<void>;
}

export type ModelServer = ReturnType<typeof startModelServer>;

const words = "a stream that is small holds the word run and carries every leaf it is given down to the sea".split(" ");

/** Returns the text of the model `words-<count>-<ms>`. */
export const wordsOf = (count: number): string =>
  Array.from({ length: count }, (_, index) => words[index % words.length]).join(" ");

/**
 * Starts an OpenAI-compatible model on loopback. Its name chooses its behaviour: `words-<count>-<ms>` writes words, up
 * to its maximum of tokens, with a pause before each; `half-<count>-<ms>` calls each of its tools in turn and then
 * writes words, the second half of them once released; `tools-<count>` calls the first tool this many times at once,
 * and writes after reading the results; `until-<count>` calls the first tool up to that request; `turns-<ms>` calls
 * each of its tools in turn, one per request; `tells-<ms>` does so too in each run of a thread, the last three at once,
 * and writes a unique text before; the rest fail or lie, as the table says.
 */
export function startModelServer() {
  const requests: ModelRequest[] = [];
  let gate = closedGate();
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    idleTimeout: 0,
    async fetch(request) {
      if (request.method === "GET") return new Response(null, { status: 404 }); // It lists no models.
      const body: Json = await request.json();
      const { promise: aborted, resolve } = Promise.withResolvers<void>();
      requests.push({ model: body.model, messages: body.messages, aborted });
      return answer(body, resolve, requests.length, gate);
    },
  });
  return {
    url: `http://127.0.0.1:${server.port}/v1`,
    requests,
    /** Lets `half-<count>-<ms>` write its second half, now and from now on. */
    release(): void {
      gate.isOpen = true;
      gate.open();
    },
    /** Makes it wait again. */
    hold(): void {
      gate = closedGate();
    },
    count: (model: string): number => requests.filter((request) => request.model === model).length,
    async [Symbol.asyncDispose]() {
      await server.stop(true);
    },
  };
}

const failures: Record<string, (onAbort: () => void) => Response | Promise<Response>> = {
  "fails-500": () => Response.json({ error: { message: "It broke.", type: "server_error" } }, { status: 500 }),
  "fails-429": () =>
    Response.json(
      { error: { message: "Slower.", type: "rate_limit" } },
      { status: 429, headers: { "retry-after": "0" } },
    ),
  "fails-401": () => Response.json({ error: { message: "Bad key sk-secret.", type: "auth" } }, { status: 401 }),
  "lies-html": () => new Response("<html><h1>Welcome</h1></html>", { headers: { "content-type": "text/html" } }),
  "lies-garbage": () => sse(["data: {not json\n\n", "data: \u0000\u0001\n\n", "data: [DONE]\n\n"]),
  "lies-empty": () => sse([]),
  "cuts-off": (onAbort) => sse([chunk({ content: "It begins" }), new Error("cut")], 0, onAbort),
  "never-answers": (onAbort) => sse([], Number.POSITIVE_INFINITY, onAbort),
};

function answer(
  { model, messages, tools = [], max_tokens = Number.POSITIVE_INFINITY }: Json,
  onAbort: () => void,
  number: number,
  gate: Gate,
): Response | Promise<Response> {
  const failure = failures[model];
  if (failure) return failure(onAbort);
  const [kind, first = "1", second = "0"] = model.split("-");
  const results = messages.filter(({ role }: Json) => role === "tool").length;
  if (kind === "words") return sse(saying(wordsOf(Math.min(Number(first), max_tokens))), Number(second), onAbort);
  if (kind === "half" && results >= tools.length)
    return sse(inHalves(saying(wordsOf(Number(first))), gate.opened), gate.isOpen ? 0 : Number(second), onAbort);
  if (kind === "tools" && results === 0)
    return sse(calling(Array(Number(first)).fill(tools[0].function.name)), 0, onAbort);
  if ((kind === "turns" || kind === "half") && results < tools.length)
    return sse(calling([tools[results].function.name]), kind === "half" ? 0 : Number(first), onAbort);
  if (kind === "until" && tools.length > 0 && number < Number(first)) return sse(calling([tools[0].function.name]));
  if (kind === "tells")
    return sse(telling(`${number}: ${wordsOf(6)}`, next(tools, resultsOfRun(messages))), Number(first), onAbort);
  return sse(saying(`I read ${results} results.`), 0, onAbort);
}

/** Counts the results since the newest input of a run, which begins with "run". */
function resultsOfRun(messages: Json[]): number {
  const at = messages.findLastIndex(({ role, content }) => role === "user" && String(content).startsWith("run "));
  return messages.slice(Math.max(0, at)).filter(({ role }) => role === "tool").length;
}

/** Returns the tools to call after this many results: one by one, and the last three together. */
function next(tools: Json[], results: number): string[] {
  const single = tools.length - 3;
  const wanted = results < single ? tools.slice(results, results + 1) : results === single ? tools.slice(-3) : [];
  return wanted.map((tool) => tool.function.name);
}

/** Words, and then the calls, if any. The text is unique per attempt of a turn. */
function telling(text: string, names: string[]): string[] {
  if (names.length === 0) return saying(text);
  return [...saying(text).slice(0, -3), ...calling(names).slice(0, 1), ...closing("tool_calls", 8)];
}

interface Gate {
  isOpen: boolean;
  open(): void;
  opened: Promise<void>;
}

function closedGate(): Gate {
  const { promise: opened, resolve: open } = Promise.withResolvers<void>();
  return { isOpen: false, open, opened };
}

const inHalves = (pieces: string[], between: Promise<void>) => [
  ...pieces.slice(0, pieces.length / 2),
  between,
  ...pieces.slice(pieces.length / 2),
];

function saying(text: string): string[] {
  const parts = text.split(/(?<= )/).map((content) => chunk({ content }));
  return [chunk({ role: "assistant", content: "" }), ...parts, ...closing("stop", parts.length)];
}

function calling(names: string[]): string[] {
  const calls = names.map((name, index) => ({
    index,
    id: `call_${index}`,
    type: "function",
    function: { name, arguments: JSON.stringify(name.startsWith("transfer_to_") ? {} : { city: `Oslo ${index}` }) },
  }));
  return [chunk({ role: "assistant", content: null, tool_calls: calls }), ...closing("tool_calls", 8)];
}

const closing = (reason: string, tokens: number): string[] => {
  const usage = { prompt_tokens: 20, completion_tokens: tokens, total_tokens: 20 + tokens };
  return [chunk({}, reason), `data: ${JSON.stringify({ ...shape, choices: [], usage })}\n\n`, "data: [DONE]\n\n"];
};

const shape = { id: "chatcmpl-1", object: "chat.completion.chunk", created: 1_700_000_000, model: "stub" };
const chunk = (delta: object, finish_reason: string | null = null): string =>
  `data: ${JSON.stringify({ ...shape, choices: [{ index: 0, delta, finish_reason }] })}\n\n`;

/** Sends the pieces with a pause before each; a promise among them is awaited, an error cuts the connection. */
function sse(pieces: (string | Error | Promise<void>)[], pause_ms = 0, onAbort = () => {}): Response {
  let open = true;
  const body = async function* () {
    if (pause_ms === Number.POSITIVE_INFINITY) await new Promise(() => {});
    for (const next of pieces) {
      const piece = await next;
      if (pause_ms > 0) await Bun.sleep(pause_ms);
      if (!open) return;
      if (piece instanceof Error) throw piece;
      if (piece) yield piece;
    }
  };
  const encoder = new TextEncoder();
  const stream = new ReadableStream<Uint8Array>({
    async start(controller) {
      try {
        for await (const piece of body()) controller.enqueue(encoder.encode(piece));
        if (open) controller.close();
      } catch (error) {
        controller.error(error);
      }
    },
    cancel() {
      open = false;
      onAbort();
    },
  });
  return new Response(stream, { headers: { "content-type": "text/event-stream" } });
}
