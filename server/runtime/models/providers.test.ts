import { afterAll, describe, expect, test } from "bun:test";
import type { Provider } from "../../domain/providers.ts";
import { callsOf, errorOf, outputOf } from "../../testing/model-answers.ts";
import type { ModelEvent, ModelRequest, ModelUsage } from "./model.ts";
import { openModel } from "./registry.ts";

const unknown = { input_tokens: null, output_tokens: null, cached_input_tokens: null, reasoning_tokens: null };
const counted = { input_tokens: 36, output_tokens: 12, cached_input_tokens: 8, reasoning_tokens: 5 };

interface Case {
  provider: Provider;
  fixtures: string;
  usage: ModelUsage;
  /** Usage of `no-usage`. */
  uncounted: ModelUsage;
  badArguments: string;
  reasoning: string;
  /** This provider's body of a 400 for a prompt that is too long. */
  overflow: unknown;
  /** Message for a stream without an end. */
  end: RegExp;
  /** An answer without streaming. */
  whole: unknown;
}

const broken = '{"city": "Par';
const cases: Case[] = [
  {
    provider: "openai",
    fixtures: "openai",
    usage: counted,
    uncounted: unknown,
    badArguments: broken,
    reasoning: "",
    overflow: {
      error: {
        message: "Your input exceeds the context window of this model.",
        type: "invalid_request_error",
        param: "input",
        code: "context_length_exceeded",
      },
    },
    end: /event: response\.completed\n.*\n/,
    whole: {
      id: "resp_1",
      object: "response",
      created_at: 1_764_000_000,
      status: "completed",
      model: "gpt-5-mini",
      output: [
        {
          id: "msg_0",
          type: "message",
          role: "assistant",
          status: "completed",
          content: [{ type: "output_text", annotations: [], text: "In one piece." }],
        },
        { type: "function_call", id: "fc_1", call_id: "call_1", name: "weather", arguments: "{}" },
      ],
      usage: {
        input_tokens: 36,
        input_tokens_details: { cached_tokens: 8 },
        total_tokens: 48,
        output_tokens: 12,
        output_tokens_details: { reasoning_tokens: 5 },
      },
    },
  },
  {
    provider: "anthropic",
    fixtures: "anthropic",
    usage: { ...counted, reasoning_tokens: null, cache_write_5m_tokens: 0 },
    uncounted: { ...unknown, input_tokens: 28, output_tokens: 12 },
    badArguments: broken,
    reasoning: "Two and two is four.",
    overflow: {
      type: "error",
      error: { type: "invalid_request_error", message: "prompt is too long: 208310 tokens > 200000 maximum" },
    },
    end: /event: message_delta\n.*\n\nevent: message_stop\n.*\n/,
    whole: {
      type: "message",
      id: "msg_1",
      role: "assistant",
      model: "claude-sonnet-4-5",
      stop_sequence: null,
      content: [
        { type: "text", text: "In one piece." },
        { type: "tool_use", id: "toolu_01A", name: "weather", input: {} },
      ],
      stop_reason: "tool_use",
      usage: { input_tokens: 28, output_tokens: 12, cache_read_input_tokens: 8, cache_creation_input_tokens: 0 },
    },
  },
  {
    provider: "google",
    fixtures: "google",
    usage: counted,
    uncounted: unknown,
    badArguments: '{"city":42}',
    reasoning: "Two and two is four.",
    overflow: {
      error: {
        code: 400,
        message: "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
        status: "INVALID_ARGUMENT",
      },
    },
    end: /,"finishReason":"STOP"/,
    whole: {
      candidates: [
        {
          content: {
            role: "model",
            parts: [{ text: "In one piece." }, { functionCall: { name: "weather", args: {} } }],
          },
          index: 0,
          finishReason: "STOP",
        },
      ],
      usageMetadata: {
        promptTokenCount: 36,
        candidatesTokenCount: 7,
        cachedContentTokenCount: 8,
        thoughtsTokenCount: 5,
        totalTokenCount: 48,
      },
    },
  },
  {
    provider: "openai_compatible",
    fixtures: "openai-compatible",
    usage: counted,
    uncounted: unknown,
    badArguments: broken,
    reasoning: "Two and two is four.",
    overflow: {
      error: {
        code: 400,
        message: "the request exceeds the available context size, try increasing it",
        type: "exceed_context_size_error",
      },
    },
    end: /data: .*"finish_reason":"stop".*\n/,
    whole: {
      id: "chatcmpl-7",
      object: "chat.completion",
      created: 1_764_000_000,
      model: "qwen3-8b",
      choices: [
        {
          index: 0,
          finish_reason: "tool_calls",
          message: {
            role: "assistant",
            content: "In one piece.",
            tool_calls: [{ id: "call_1", type: "function", function: { name: "weather", arguments: "{}" } }],
          },
        },
      ],
      usage: {
        prompt_tokens: 36,
        completion_tokens: 12,
        total_tokens: 48,
        prompt_tokens_details: { cached_tokens: 8 },
        completion_tokens_details: { reasoning_tokens: 5 },
      },
    },
  },
];

type Answer = (request: Request) => Response | Promise<Response>;

/** One real server for all tests: each test uses a path of its own, so that tests are independent. */
const answers = new Map<string, Answer>();
const server = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  fetch: (request) =>
    answers.get(new URL(request.url).pathname.split("/")[1] ?? "")?.(request) ?? new Response("", { status: 500 }),
});
afterAll(() => server.stop(true));

const key = "sk-test-0123456789abcdef";
const request: ModelRequest = {
  messages: [
    { role: "system", content: "Be brief." },
    { role: "user", content: "What is the weather?" },
  ],
  tools: [
    {
      name: "weather",
      description: "Tells the weather.",
      parameters: { type: "object", properties: { city: { type: "string" } } },
    },
  ],
  settings: {},
};

function connect({ provider }: Case, answer: Answer, fetch?: typeof globalThis.fetch) {
  const path = crypto.randomUUID();
  answers.set(path, answer);
  return openModel(
    { name: provider, provider, base_url: `${server.url}${path}/v1`, api_key: key },
    "some-model",
    fetch,
  );
}

async function ask(
  each: Case,
  answer: Answer,
  fetch?: typeof globalThis.fetch,
  asked = request,
): Promise<ModelEvent[]> {
  const model = await connect(each, answer, fetch);
  return Array.fromAsync(model.stream(asked, new AbortController().signal));
}

const events = { headers: { "content-type": "text/event-stream" } };
const file = (each: Case, name: string) =>
  Bun.file(`${import.meta.dir}/__fixtures__/${each.fixtures}-${name}.chunks.txt`);
const replay =
  (each: Case, name: string): Answer =>
  () =>
    new Response(file(each, name), events);
const json =
  (body: unknown, init: ResponseInit): Answer =>
  () =>
    Response.json(body, init);

const chunkwise = (bytes: Uint8Array) =>
  new TextDecoder()
    .decode(bytes)
    .split(/(?<=\n\n)/)
    .map((text) => new TextEncoder().encode(text));
const bytewise = (bytes: Uint8Array) => [...bytes].map((byte) => Uint8Array.of(byte));

/** True if a request asks for a stream; Google has it in the path. */
async function isStreamed(incoming: Request): Promise<boolean> {
  const body = (await incoming.json()) as { stream?: boolean };
  return body.stream === true || incoming.url.includes("streamGenerateContent");
}

/** A fetch that delivers responses in these pieces, one per read. */
function inPieces(cut: (bytes: Uint8Array) => Uint8Array[]) {
  const cutting = async (...args: Parameters<typeof globalThis.fetch>) => {
    const pieces = cut(await (await fetch(...args)).bytes());
    const pull = (controller: ReadableStreamDefaultController) => {
      const piece = pieces.shift();
      if (piece) controller.enqueue(piece);
      else controller.close();
    };
    return new Response(new ReadableStream({ pull }, { highWaterMark: 0 }), events);
  };
  return cutting as typeof globalThis.fetch;
}

/** Sends the first half of a text answer; then the stream ends, or stays open. */
function half(each: Case, then: "end" | "wait"): Answer {
  return async () => {
    const bytes = await file(each, "text").bytes();
    const start = (controller: ReadableStreamDefaultController) => {
      controller.enqueue(bytes.slice(0, bytes.length / 2));
      if (then === "end") controller.close();
    };
    return new Response(new ReadableStream({ start }), events);
  };
}

describe.each(cases)("$provider", (each) => {
  test("streams a text delta by delta and ends with done", async () => {
    const all = await ask(each, replay(each, "text"), inPieces(chunkwise));
    const deltas = all.flatMap((event) => (event.type === "delta" ? [event.text] : []));
    expect(deltas).toEqual(["Hello", ", ", "world", "."]);
    expect(all.at(-1)).toEqual({ type: "done", finish: "stop", usage: each.usage });
  });

  test("numbers a tool call after the text before it", async () => {
    const all = await ask(each, replay(each, "tool-call"));
    expect(outputOf(all)).toBe("Let me look.");
    expect(callsOf(all)).toEqual([[1, "weather", '{"city":"Paris"}']]);
    expect(all.at(-1)).toMatchObject({ type: "done", finish: "tool_calls" });
  });

  test("keeps parallel tool calls separate and in order", async () => {
    const all = await ask(each, replay(each, "parallel-tool-calls"));
    expect(callsOf(all)).toEqual([
      [0, "weather", '{"city":"Paris"}'],
      [1, "weather", '{"city":"Oslo"}'],
    ]);
  });

  test("passes invalid arguments on as the model wrote them", async () => {
    expect(callsOf(await ask(each, replay(each, "bad-arguments")))).toEqual([[0, "weather", each.badArguments]]);
  });

  test("reports a missing count as unknown, not as zero", async () => {
    expect((await ask(each, replay(each, "no-usage"))).at(-1)).toMatchObject({ type: "done", usage: each.uncounted });
  });

  test("accepts an empty answer", async () => {
    expect(await ask(each, replay(each, "empty"))).toEqual([{ type: "done", finish: "stop", usage: each.usage }]);
  });

  test("assembles characters whose bytes arrive one by one", async () => {
    const all = await ask(each, replay(each, "unicode"), inPieces(bytewise));
    expect(outputOf(all)).toBe("Grüße, 世界 🌍👩‍🚀!");
  });

  test("separates reasoning from the answer", async () => {
    const all = await ask(each, replay(each, "reasoning"));
    expect([outputOf(all, "reasoning"), outputOf(all)]).toEqual([each.reasoning, "Four."]);
  });

  test("ends with a retryable error when the provider fails after some text", async () => {
    const all = await ask(each, replay(each, "error"));
    expect(outputOf(all)).toBe("Hel");
    expect(errorOf(all)).toMatchObject({ code: "model_error", retryable: true, aborted: false });
    expect(all.filter((event) => event.type === "error" || event.type === "done")).toHaveLength(1);
  });

  test("ends with a retryable error when the stream stops without a finish", async () => {
    const all = await ask(each, half(each, "end"));
    expect(outputOf(all)).toStartWith("Hel");
    expect(errorOf(all)).toMatchObject({ code: "model_incomplete", retryable: true, aborted: false });
  });

  test("treats a text without a finish reason as incomplete", async () => {
    const text = await file(each, "text").text();
    const cut = text.replace(each.end, "");
    expect(cut).not.toBe(text);
    const all = await ask(each, () => new Response(cut, events));
    expect(outputOf(all)).toBe("Hello, world.");
    expect(errorOf(all)).toMatchObject({ code: "model_incomplete", retryable: true });
  });

  test.each(["", "data: [DONE]\n\n"])("repeats an empty stream once without streaming (%j)", async (empty) => {
    const asked: boolean[] = [];
    const all = await ask(each, async (incoming) => {
      asked.push(await isStreamed(incoming));
      return asked.at(-1) ? new Response(empty, events) : Response.json(each.whole);
    });
    expect(asked).toEqual([true, false]);
    expect(outputOf(all)).toBe("In one piece.");
    expect(callsOf(all)).toEqual([[1, "weather", "{}"]]);
    expect(all.at(-1)).toEqual({ type: "done", finish: "tool_calls", usage: each.usage });
  });

  test("reports the reason of an empty stream, or that there was no answer", async () => {
    const about = (answer: () => Response) =>
      ask(each, async (incoming) => ((await isStreamed(incoming)) ? new Response("", events) : answer()));
    const message = "GPU lost";
    const told = errorOf(
      await about(() => Response.json({ error: { message, type: "server_error" } }, { status: 500 })),
    );
    expect(told).toMatchObject({ code: "model_error", retryable: true });
    expect(told.message).toContain("GPU lost");
    const still = errorOf(await about(() => new Response("", events)));
    expect(still).toMatchObject({ retryable: true, aborted: false });
  });

  test("requests JSON in another way if a server does not support schemas, and remembers that", async () => {
    const asked: string[] = [];
    const model = await connect(each, async (incoming) => {
      const body = await incoming.text();
      asked.push(body);
      if (!body.includes("told_by_prompt") || asked.length <= 2) {
        const error = { message: "This response_format type is unavailable now", type: "invalid_request_error" };
        return Response.json({ type: "error", error }, { status: 400 });
      }
      return new Response(file(each, "text"), events);
    });
    const output_schema = { type: "object", properties: { told_by_prompt: { type: "string" } } };
    const stream = () => Array.fromAsync(model.stream({ ...request, output_schema }, new AbortController().signal));
    expect(outputOf(await stream())).toBe("Hello, world.");
    expect(asked).toHaveLength(3);
    expect(asked.map((body) => body.includes("It must fit this JSON Schema"))).toEqual([false, true, true]);
    expect(outputOf(await stream())).toBe("Hello, world.");
    expect(asked).toHaveLength(4);
    expect(asked[3]).toBe(asked[2]!);
    const other = { ...request, output_schema: { type: "object" } };
    await Array.fromAsync(model.stream(other, new AbortController().signal));
    expect(asked[4]).not.toContain("It must fit"); // The refusal of one schema does not apply to another.
  });

  test("treats a refusal of the format as an ordinary error if no format was requested", async () => {
    let calls = 0;
    const all = await ask(each, () => {
      calls++;
      return Response.json({ error: { message: "response_format is not supported" } }, { status: 400 });
    });
    expect([errorOf(all).code, errorOf(all).retryable, calls]).toEqual(["model_error", false, 1]);
  });

  test("ends with a retryable error when the connection breaks", async () => {
    const bytes = await file(each, "text").bytes();
    const head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: 99999\r\n\r\n";
    const data = (socket: Bun.Socket) => {
      socket.write(head);
      socket.write(bytes.slice(0, bytes.length / 2));
      socket.end();
    };
    using broken = Bun.listen({ port: 0, hostname: "127.0.0.1", socket: { data } });
    const base_url = `http://127.0.0.1:${broken.port}/v1`;
    const model = await openModel({ name: "x", provider: each.provider, base_url, api_key: key }, "some-model");
    const all = await Array.fromAsync(model.stream(request, new AbortController().signal));
    expect(errorOf(all)).toMatchObject({ code: "model_incomplete", retryable: true, aborted: false });
  });

  test("does not treat a server as unreachable if it accepts a request and closes the connection", async () => {
    let asked = 0;
    const data = (socket: Bun.Socket) => {
      asked++;
      socket.end();
    };
    using rude = Bun.listen({ port: 0, hostname: "127.0.0.1", socket: { data } });
    const base_url = `http://127.0.0.1:${rude.port}/v1`;
    const model = await openModel({ name: "x", provider: each.provider, base_url, api_key: key }, "some-model");
    const error = errorOf(await Array.fromAsync(model.stream(request, new AbortController().signal)));
    expect(error).toMatchObject({ code: "model_error", retryable: true });
    expect([error.request, error.unready]).toEqual(["sent", undefined]);
    expect(asked).toBeGreaterThan(0);
  });

  test("ends with a retryable error when a chunk is not JSON", async () => {
    const all = await ask(each, () => new Response("data: {not json\n\n", events));
    expect(errorOf(all)).toMatchObject({ code: "model_error", retryable: true });
    expect(errorOf(all).message).not.toContain("not json");
  });

  test("closes the provider's request when the caller aborts", async () => {
    const closed = Promise.withResolvers<void>();
    const held = half(each, "wait");
    const model = await connect(each, (incoming) => {
      incoming.signal.addEventListener("abort", () => closed.resolve());
      return held(incoming);
    });
    const controller = new AbortController();
    const all: ModelEvent[] = [];
    for await (const event of model.stream(request, controller.signal)) {
      all.push(event);
      controller.abort(new Error("cancelled by the user"));
    }
    await closed.promise;
    expect(all).toHaveLength(2);
    expect(errorOf(all)).toMatchObject({ aborted: true, retryable: false });
  });

  test("closes the provider's request when the reader stops early", async () => {
    const closed = Promise.withResolvers<void>();
    const held = half(each, "wait");
    const model = await connect(each, (incoming) => {
      incoming.signal.addEventListener("abort", () => closed.resolve());
      return held(incoming);
    });
    for await (const _ of model.stream(request, new AbortController().signal)) break;
    await closed.promise;
  });

  test("sends nothing if it is aborted before it starts", async () => {
    let calls = 0;
    const model = await connect(each, () => {
      calls++;
      return new Response();
    });
    const all = await Array.fromAsync(model.stream(request, AbortSignal.abort()));
    expect(errorOf(all).aborted).toBe(true);
    expect([all.length, calls]).toEqual([1, 0]);
  });

  test("returns a 429 and its Retry-After to the loop, and does not retry by itself", async () => {
    let calls = 0;
    const all = await ask(each, () => {
      calls++;
      const error = { message: "Slow down.", type: "rate_limit_error", code: 429, status: "RESOURCE_EXHAUSTED" };
      return Response.json({ type: "error", error }, { status: 429, headers: { "retry-after": "2" } });
    });
    expect(errorOf(all)).toMatchObject({ code: "model_rate_limited", retryable: true, retry_after_ms: 2000 });
    expect(calls).toBe(1);
  });

  test("retries a 500", async () => {
    expect(errorOf(await ask(each, json({ error: { message: "Oh." } }, { status: 500 })))).toMatchObject({
      code: "model_error",
      retryable: true,
    });
  });

  test("recognizes a conversation that is too long", async () => {
    const error = errorOf(await ask(each, json(each.overflow, { status: 400 })));
    expect(error).toMatchObject({ code: "context_length_exceeded", retryable: false });
  });

  test("does not retry a refused key, and does not show it", async () => {
    const answer = json({ error: { message: `Incorrect API key provided: ${key}` } }, { status: 401 });
    const error = errorOf(await ask(each, answer));
    expect(error).toMatchObject({ code: "model_not_available", retryable: false });
    expect(error.message).not.toContain(key);
  });

  test("does not retry a model that does not exist", async () => {
    const error = errorOf(await ask(each, json({ error: { message: "No such model." } }, { status: 404 })));
    expect(error).toMatchObject({ code: "model_not_available", retryable: false });
  });

  test("does not follow a redirect with its key", async () => {
    let followed = false;
    const elsewhere = crypto.randomUUID();
    answers.set(elsewhere, () => {
      followed = true;
      return new Response();
    });
    const error = errorOf(await ask(each, () => Response.redirect(`${server.url}${elsewhere}`, 307)));
    expect([error.retryable, followed]).toEqual([false, false]);
  });

  test("retries an unreachable server", async () => {
    const gone = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response() });
    const base_url = `http://user:hunter2@127.0.0.1:${gone.port}/v1`;
    await gone.stop(true);
    const model = await openModel({ name: "x", provider: each.provider, base_url, api_key: key }, "some-model");
    const error = errorOf(await Array.fromAsync(model.stream(request, new AbortController().signal)));
    expect(error).toMatchObject({
      code: "model_error",
      retryable: true,
      request: "not_sent",
      message: "The model's server cannot be reached.",
    });
  });

  test("sends back the provider's metadata, under our own call ids", async () => {
    const parts = assemble([
      ...(await ask(each, replay(each, "reasoning"))),
      ...(await ask(each, replay(each, "tool-call"))),
    ]);
    const messages: ModelRequest["messages"] = [
      ...request.messages,
      { role: "assistant", parts },
      { role: "tool", call_id: "call_ours", tool: "weather", output: "rain", is_error: false },
    ];
    let sent = "";
    await ask(
      each,
      async (incoming) => {
        sent = await incoming.text();
        return new Response(file(each, "text"), events);
      },
      undefined,
      { ...request, messages },
    );
    const wanted = JSON.stringify(parts).match(/EqQBCgIYsigned|CsIBsigned|gAAAAABencrypted/g) ?? [];
    for (const signature of wanted) expect(sent).toContain(signature);
    expect(wanted.length > 0).toBe(each.provider !== "openai_compatible");
    expect(sent).not.toMatch(/toolu_01A|call_a1/);
    if (each.provider !== "google") expect(sent.match(/call_ours/g)).toHaveLength(2);
    expect(sent).toContain("rain");
  });

  test("sends back arguments that were not JSON", async () => {
    const call = { type: "tool_call" as const, id: "call_ours", name: "weather", arguments: broken };
    const messages: ModelRequest["messages"] = [
      ...request.messages,
      { role: "assistant", parts: [call] },
      { role: "tool", call_id: "call_ours", tool: "weather", output: "not JSON", is_error: true },
    ];
    let sent = "";
    const all = await ask(
      each,
      async (incoming) => {
        sent = await incoming.text();
        return new Response(file(each, "text"), events);
      },
      undefined,
      { ...request, messages },
    );
    expect(outputOf(all)).toBe("Hello, world.");
    expect(sent).toContain("unreadable_arguments");
  });
});

/** Converts events to the parts that a run records, with our own id on every call. */
test.each([
  [null, { type: "error", error: { code: "model_error", retryable: true } }],
  [{ reason: "max_output_tokens" }, { type: "done", finish: "length" }],
  [{ reason: "time_limit" }, { type: "done", finish: "length" }],
])("a whole answer of OpenAI that says it is incomplete (%j) is not treated as complete", async (why, end) => {
  const whole = { ...(cases[0]!.whole as object), status: "incomplete", incomplete_details: why };
  const answers = [new Response("", { headers: { "content-type": "text/event-stream" } }), Response.json(whole)];
  using server = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => answers.shift()! });
  const connection = { name: "openai", provider: "openai", base_url: `${server.url}v1`, api_key: "k" } as const;
  const model = await openModel(connection, "gpt-5-mini");
  const request: ModelRequest = { messages: [{ role: "user", content: "Hi" }], tools: [], settings: {} };
  const events = await Array.fromAsync(model.stream(request, new AbortController().signal));
  expect(events.at(-1)).toMatchObject(end);
});

test("an unreachable Ollama is retried like any unreachable server", async () => {
  const gone = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response() });
  const base_url = `http://127.0.0.1:${gone.port}/v1`;
  await gone.stop(true);
  const model = await openModel({ name: "ollama", provider: "ollama", base_url, api_key: null }, "some-model");
  const all = await Array.fromAsync(model.stream(request, new AbortController().signal));
  expect(all).toHaveLength(1);
  expect(errorOf(all)).toMatchObject({ code: "model_not_available", retryable: true, request: "not_sent" });
  expect(errorOf(all).message).toContain(`There is no Ollama at ${new URL(base_url).host}`);
});

function assemble(all: ModelEvent[]) {
  const parts: Extract<ModelRequest["messages"][number], { role: "assistant" }>["parts"] = [];
  let first = 0;
  for (const event of all) {
    if (event.type === "done") first = parts.length;
    if (event.type === "tool_call") {
      parts[first + event.part] = { ...event, id: "call_ours" };
    } else if (event.type === "delta") {
      const part = parts[first + event.part];
      const type = event.kind === "output" ? "text" : "reasoning";
      if (part && part.type !== "tool_call") part.text += event.text;
      else parts[first + event.part] = { type, text: event.text };
    } else if (event.type === "metadata") {
      const part = parts[first + event.part];
      if (part) part.metadata = event.metadata;
    }
  }
  return parts;
}

const [openai, anthropic, google, compatible] = cases as [Case, Case, Case, Case];

test("a surrogate pair split over two deltas is sent in one", async () => {
  const all = await ask(compatible, replay(compatible, "split-pair"), inPieces(chunkwise));
  expect(all.filter((event) => event.type === "delta").map((event) => event.text)).toEqual(["a", "🌍b"]);
});

/** Returns the events of these chunks of a chat completion, which arrive at once. */
async function chat(...chunks: object[]): Promise<ModelEvent[]> {
  const end = { choices: [{ delta: {}, finish_reason: "stop" }] };
  const text = [...chunks, end].map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join("");
  return ask(compatible, () => new Response(`${text}data: [DONE]\n\n`, events));
}
const says = (delta: object) => ({ choices: [{ delta }] });
const done = { type: "done", finish: "stop", usage: unknown } as const;

test("text that arrives at once is one delta for every stretch of one kind", async () => {
  const all = await chat(
    says({ reasoning: "Let " }),
    says({ reasoning: "me." }),
    says({ content: "So" }),
    says({ content: "!" }),
  );
  expect(all).toEqual([
    { type: "delta", part: 0, kind: "reasoning", text: "Let me." },
    { type: "metadata", part: 0, metadata: { chat: { reasoning: "reasoning" } } },
    { type: "delta", part: 1, kind: "output", text: "So!" },
    done,
  ]);
});

test("reasoning in the content is separated from it", async () => {
  const thinking = { type: "thinking", thinking: [{ type: "text", text: "Hm." }, null] };
  const all = await chat(says({ content: [thinking, { type: "text", text: "So." }, null] }));
  expect([outputOf(all, "reasoning"), outputOf(all)]).toEqual(["Hm.", "So."]);
});

test("a response without streaming is accepted", async () => {
  const call = { id: "a", type: "function", function: { name: "weather", arguments: "{}" } };
  const message = { role: "assistant", content: "Let me look.", tool_calls: [call] };
  const usage = { prompt_tokens: 3, completion_tokens: 4 };
  const all = await ask(compatible, json({ choices: [{ message, finish_reason: "tool_calls" }], usage }, {}));
  expect(outputOf(all)).toBe("Let me look.");
  expect(callsOf(all)).toEqual([[1, "weather", "{}"]]);
  expect(all.at(-1)).toMatchObject({ finish: "tool_calls", usage: { input_tokens: 3, output_tokens: 4 } });
});

test("calls without an index are distinguished by their ids, and arguments may be an object", async () => {
  const call = (id: string | null, name: string | null, args: unknown) =>
    says({ tool_calls: [{ id, function: { name, arguments: args } }] });
  const all = await chat(
    call("a", "weather", '{"city":'),
    call(null, null, '"Oslo"}'),
    call("b", "weather", { city: "Rome" }),
  );
  expect(callsOf(all)).toEqual([
    [0, "weather", '{"city":"Oslo"}'],
    [1, "weather", '{"city":"Rome"}'],
  ]);
});

test("an answer that has ended counts, even if its server keeps the connection open", async () => {
  const text = await file(compatible, "text").text();
  const open = () => new Response(new ReadableStream({ start: (controller) => controller.enqueue(text) }), events);
  const all = await ask(compatible, open);
  expect([outputOf(all), all.at(-1)?.type]).toEqual(["Hello, world.", "done"]);
});

test("a call reuses the connection of an earlier one whose server closed its response a moment later", async () => {
  const text = await file(compatible, "text").text();
  const ports = new Set<number>();
  let end = async () => {};
  const model = await connect(compatible, (incoming) => {
    ports.add(server.requestIP(incoming)!.port);
    const { readable, writable } = new TransformStream<string, string>();
    const writer = writable.getWriter();
    void writer.write(text);
    end = () => writer.close();
    return new Response(readable.pipeThrough(new TextEncoderStream()), events);
  });
  let calls = 0;
  while (calls < 30 && ports.size === calls) {
    const all = await Array.fromAsync(model.stream(request, new AbortController().signal));
    expect(all.at(-1)?.type).toBe("done");
    await end();
    calls++;
  }
  expect(ports.size).toBeLessThan(calls);
});

test.each([
  ["without its last blank line", (text: string) => text.trimEnd()],
  ["with carriage returns alone", (text: string) => text.replaceAll("\n", "\r")],
  ["with both", (text: string) => text.replaceAll("\n", "\r\n")],
])("a stream %s is read to its end", async (_, change) => {
  const finish = `data: {"choices":[{"delta":{"content":"So."},"finish_reason":"stop"}]}\n\n`;
  const all = await ask(compatible, () => new Response(change(finish), events));
  expect([outputOf(all), all.at(-1)?.type]).toEqual(["So.", "done"]);
});

test("a line without end is aborted before it fills the memory", async () => {
  let sent = 0;
  const endless = () =>
    new Response(
      new ReadableStream({
        pull(controller) {
          sent += 1_000_000;
          controller.enqueue(`${sent === 1_000_000 ? "data: " : ""}${"x".repeat(1_000_000)}`);
        },
      }),
      events,
    );
  expect(errorOf(await ask(compatible, endless)).retryable).toBe(true);
  expect(sent).toBeLessThan(100_000_000);
});

test("a server's metadata of a call is sent back with it", async () => {
  const extra_content = { google: { thought_signature: "signed" } };
  const all = await chat(
    says({ tool_calls: [{ index: 0, id: "a", function: { name: "weather", arguments: "" }, extra_content }] }),
  );
  const call = all.find((event) => event.type === "tool_call")!;
  const messages = [{ role: "assistant" as const, parts: [{ ...call, id: "call_ours" }] }];
  expect(await bodyFor(compatible, { messages })).toMatchObject({ messages: [{ tool_calls: [{ extra_content }] }] });
});

test("a refusal is shown, and counts as filtered", async () => {
  const all = await chat(says({ refusal: "I may not." }));
  expect([outputOf(all), all.at(-1)]).toEqual(["I may not.", { ...done, finish: "content_filter" }]);
});

test.each([[null], [7], ["text"], [[]], [{ choices: 3 }], [{ choices: [null] }], [says({ content: 5 })]])(
  "an invalid chunk (%j) is harmless",
  async (chunk) => {
    const all = await chat(chunk as object, says({ content: "Well." }));
    expect([outputOf(all), all.at(-1)?.type]).toEqual(["Well.", "done"]);
  },
);

test("a call without a name makes the answer incomplete", async () => {
  const all = await chat(
    says({ content: "Well." }),
    says({ tool_calls: [{ index: 0, function: { arguments: "{}" } }] }),
  );
  expect(callsOf(all)).toEqual([]);
  expect(errorOf(all).retryable).toBe(true);
});

test("an answer that a filter stopped is reported as such", async () => {
  expect((await ask(google, replay(google, "safety"))).at(-1)).toMatchObject({ finish: "content_filter" });
});

async function bodyFor(each: Case, change: Partial<ModelRequest>): Promise<Record<string, unknown>> {
  let body: Record<string, unknown> = {};
  const answer: Answer = async (incoming) => {
    body = (await incoming.json()) as Record<string, unknown>;
    return new Response(file(each, "text"), events);
  };
  await ask(each, answer, undefined, { ...request, ...change });
  return body;
}

test("settings are sent in each provider's format", async () => {
  const settings = { temperature: 0.5, max_output_tokens: 77, parallel_tool_calls: false };
  expect(await bodyFor(openai, { settings })).toMatchObject({
    temperature: 0.5,
    max_output_tokens: 77,
    parallel_tool_calls: false,
    store: false,
  });
  expect(await bodyFor(anthropic, { settings })).toMatchObject({
    temperature: 0.5,
    max_tokens: 77,
    tool_choice: { type: "auto", disable_parallel_tool_use: true },
  });
  expect(await bodyFor(google, { settings })).toMatchObject({
    generationConfig: { temperature: 0.5, maxOutputTokens: 77 },
  });
  expect(await bodyFor(compatible, { settings })).toMatchObject({
    temperature: 0.5,
    max_tokens: 77,
    parallel_tool_calls: false,
    stream_options: { include_usage: true },
  });
});

test("an output schema is sent, and not in strict mode", async () => {
  const output_schema = { type: "object", properties: { ok: { type: "boolean" } } };
  expect(await bodyFor(openai, { output_schema })).toMatchObject({
    text: { format: { type: "json_schema", strict: false } },
  });
  const sent = await bodyFor(compatible, { output_schema });
  expect(sent).toMatchObject({ response_format: { json_schema: { strict: false, schema: output_schema } } });
});

test("the setting for parallel calls is sent only with tools", async () => {
  const body = await bodyFor(openai, { tools: [], settings: { parallel_tool_calls: true } });
  expect(body).not.toHaveProperty("parallel_tool_calls");
});

test("an image is sent in each provider's format, beside the text", async () => {
  const data = "iVBORw0KGgo=";
  const image = { file_id: "file_1", mime_type: "image/png", sha256: "0", data };
  const messages = [{ role: "user" as const, content: "What is it?", images: [image] }];
  const url = `data:image/png;base64,${data}`;
  expect(await bodyFor(openai, { messages })).toMatchObject({
    input: [
      {
        content: [
          { type: "input_text", text: "What is it?" },
          { type: "input_image", image_url: url },
        ],
      },
    ],
  });
  expect(await bodyFor(anthropic, { messages })).toMatchObject({
    messages: [
      {
        content: [
          { type: "text", text: "What is it?" },
          { type: "image", source: { type: "base64", media_type: "image/png", data } },
        ],
      },
    ],
  });
  expect(await bodyFor(google, { messages })).toMatchObject({
    contents: [{ parts: [{ text: "What is it?" }, { inlineData: { mimeType: "image/png", data } }] }],
  });
  expect(await bodyFor(compatible, { messages })).toMatchObject({
    messages: [
      {
        content: [
          { type: "text", text: "What is it?" },
          { type: "image_url", image_url: { url } },
        ],
      },
    ],
  });
});
