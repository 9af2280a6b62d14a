import { expect } from "bun:test";
import type { ModelEvent, ModelRequest } from "../../runtime/models/model.ts";
import { openModel } from "../../runtime/models/registry.ts";
import { converse } from "../model-conversation.ts";
import type { Answer, MatrixEntry } from "./entry.ts";

/** Checks one behaviour of a provider over HTTP. Throws if it fails; returns the bodies of the requests. */
type Check = (entry: MatrixEntry) => Promise<string[]>;

interface Behaviour {
  /** Heading of its column. */
  name: string;
  /** Guarantee in plain words. */
  title: string;
  /** False if the provider's API has no such thing. */
  isOffered?(entry: MatrixEntry): boolean;
  check: Check;
}

const look = (city: string) => ({ name: "look", args: { city } });

const request: ModelRequest = {
  messages: [
    { role: "system", content: "Be brief." },
    { role: "user", content: "What is the weather?" },
  ],
  tools: [],
  settings: {},
};
const withTools: ModelRequest = {
  ...request,
  tools: [
    {
      name: "look",
      description: "Looks.",
      parameters: { type: "object", properties: { city: { type: "string" } } },
    },
  ],
};

/** Starts a server with these responses, one after the other, and opens the entry's model there. */
async function serve(
  { provider, model: name, connection: more }: MatrixEntry,
  responses: ((incoming: Request) => Response)[],
) {
  const bodies: string[] = [];
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    idleTimeout: 0,
    async fetch(incoming) {
      bodies.push(await incoming.text());
      return responses[bodies.length - 1]?.(incoming) ?? new Response("No such answer.", { status: 418 });
    },
  });
  const connection = { name: provider, provider, api_key: "sk-test-0123456789", ...more };
  const model = await openModel({ ...connection, base_url: `http://127.0.0.1:${server.port}/v1` }, name);
  return { model, bodies, [Symbol.asyncDispose]: () => server.stop(true) };
}

type Body = ReturnType<MatrixEntry["stream"]>;

const typeOf = (body: Body): string =>
  typeof body === "string" ? "text/event-stream" : "application/vnd.amazon.eventstream";

const stream = (body: Body) => () =>
  new Response(typeof body === "string" ? body : Buffer.concat(body), { headers: { "content-type": typeOf(body) } });

/** Returns each event of a body. */
const eventsIn = (body: Body): Uint8Array[] =>
  typeof body === "string" ? body.split(/(?<=\n\n)/).map((event) => Buffer.from(event)) : body;

/** Has a conversation with these answers. */
async function talk(entry: MatrixEntry, answers: Answer[], asked: ModelRequest) {
  await using server = await serve(
    entry,
    answers.map((answer) => stream(entry.stream(answer))),
  );
  const ended = await converse(server.model, asked);
  expect(ended.error).toBeNull();
  expect(server.bodies).toHaveLength(answers.length);
  return { ...ended, bodies: server.bodies };
}

/** Makes one call and returns its events. */
async function eventsOf(entry: MatrixEntry, response: () => Response, asked = request) {
  await using server = await serve(entry, [response]);
  const all = await Array.fromAsync(server.model.stream(asked, new AbortController().signal));
  return { all, last: all.at(-1), bodies: server.bodies };
}

const refused =
  ({ status, headers = {}, body }: MatrixEntry["overflow"]) =>
  () =>
    Response.json(body, { status, headers });

const stop: Answer = { text: "Hello, world.", finish: "stop" };

async function expectFinish(entry: MatrixEntry, answer: Answer, settings: ModelRequest["settings"] = {}) {
  const { last, bodies } = await eventsOf(entry, stream(entry.stream(answer)), { ...request, settings });
  expect(last).toMatchObject({ type: "done", finish: answer.finish });
  return bodies;
}

async function expectError(entry: MatrixEntry, response: MatrixEntry["overflow"], error: object) {
  const { last, bodies } = await eventsOf(entry, refused(response));
  expect(last).toMatchObject({ type: "error", error });
  return bodies;
}

/** The matrix: each behaviour is checked for each provider. */
export const behaviours: Behaviour[] = [
  {
    name: "Text",
    title: "streams a text in order and ends",
    async check(entry) {
      const { text, bodies } = await talk(entry, [stop], request);
      expect(text).toBe("Hello, world.");
      return bodies;
    },
  },
  {
    name: "Tools",
    title: "calls a tool and reads its result",
    async check(entry) {
      const answers: Answer[] = [{ text: "Let me look.", calls: [look("Oslo")], finish: "tool_calls" }, stop];
      const { bodies, messages } = await talk(entry, answers, withTools);
      expect(messages[3]).toMatchObject({ role: "tool", tool: "look", output: "Sunny." });
      expect(bodies[1]).toContain("Sunny.");
      return bodies;
    },
  },
  {
    name: "Bad names",
    title: "reads a tool's name that it made up, mended",
    async check(entry) {
      const made = { name: "multi_tool_use.parallel", args: { tool_uses: [] } };
      const { bodies } = await talk(entry, [{ calls: [made], finish: "tool_calls" }, stop], withTools);
      expect(bodies[1]).toContain('"multi_tool_use_parallel"');
      expect(bodies[1]).not.toContain('"multi_tool_use.parallel"');
      return bodies;
    },
  },
  {
    name: "Parallel tools",
    title: "keeps the calls of one answer apart",
    async check(entry) {
      const answers: Answer[] = [{ calls: [look("Oslo"), look("Bergen")], finish: "tool_calls" }, stop];
      const { messages, bodies } = await talk(entry, answers, withTools);
      expect(messages[2]).toMatchObject({
        parts: [{ arguments: '{"city":"Oslo"}' }, { arguments: '{"city":"Bergen"}' }],
      });
      return bodies;
    },
  },
  {
    name: "Reasoning with tools",
    title: "reasons between tool calls over three turns, and gets its reasoning back",
    isOffered: ({ has_reasoning }) => has_reasoning,
    async check(entry) {
      const thinks = (reasoning: string, city: string): Answer => ({
        reasoning,
        calls: [look(city)],
        finish: "tool_calls",
      });
      const answers = [
        thinks("First thought.", "Oslo"),
        thinks("Second thought.", "Bergen"),
        { ...stop, reasoning: "Last." },
      ];
      const { text, bodies } = await talk(entry, answers, withTools);
      expect(text).toBe("Hello, world.");
      expect(bodies[2]).toContain("First thought.");
      expect(bodies[2]).toContain("Second thought.");
      return bodies;
    },
  },
  {
    name: "Structured output",
    title: "is asked for JSON in its own way",
    async check(entry) {
      const output_schema = { type: "object", properties: { topic: { type: "string" } }, required: ["topic"] };
      const output = { topic: "weather" };
      const answer = entry.structured?.(output) ?? { text: JSON.stringify(output), finish: "stop" };
      const { text, bodies } = await talk(entry, [answer], { ...request, output_schema });
      expect(JSON.parse(text)).toEqual(output);
      expect(bodies[0]).toContain("topic");
      return bodies;
    },
  },
  {
    name: "Stop",
    title: "gets the stop sequences",
    isOffered: ({ stop_field }) => stop_field !== null,
    async check(entry) {
      const bodies = await expectFinish(entry, stop, { stop: ["END"] });
      expect(bodies[0]).toContain(`"${entry.stop_field}":["END"]`);
      return bodies;
    },
  },
  {
    name: "Cut answer",
    title: "says that an answer reached its limit",
    check: (entry) => expectFinish(entry, { text: "The beginning", finish: "length" }, { max_output_tokens: 50 }),
  },
  {
    name: "Refusal",
    title: "says that a filter ended an answer",
    check: (entry) => expectFinish(entry, { text: "I", finish: "content_filter" }),
  },
  {
    name: "Overflow",
    title: "says that a conversation is too long",
    check: (entry) => expectError(entry, entry.overflow, { code: "context_length_exceeded", retryable: false }),
  },
  {
    name: "Rate limit",
    title: "is asked again after its rate limit, when it wants",
    check(entry) {
      const { retry_after_ms } = entry;
      return expectError(entry, entry.rate_limit, { code: "model_rate_limited", retryable: true, retry_after_ms });
    },
  },
  {
    name: "Outage",
    title: "is asked again after an outage",
    check: (entry) => expectError(entry, entry.outage, { code: "model_error", retryable: true }),
  },
  { name: "Cancel", title: "loses its connection when the run is cancelled", check: checkCancel },
  {
    name: "Usage",
    title: "counts tokens as it reports them",
    async check(entry) {
      const { last, bodies } = await eventsOf(entry, stream(entry.stream(stop)));
      expect(last).toEqual({ type: "done", finish: "stop", usage: entry.usage });
      return bodies;
    },
  },
];

async function checkCancel(entry: MatrixEntry): Promise<string[]> {
  const closed = Promise.withResolvers<void>();
  const body = entry.stream({ text: "Hello, world, and more.", finish: "stop" });
  const events = eventsIn(body);
  const last = events.findIndex((event) => Buffer.from(event).includes("more"));
  const begun = events.slice(0, last);
  const start = (controller: ReadableStreamDefaultController) => controller.enqueue(Buffer.concat(begun));
  const held = (incoming: Request) => {
    incoming.signal.addEventListener("abort", () => closed.resolve());
    return new Response(new ReadableStream({ start }), { headers: { "content-type": typeOf(body) } });
  };
  await using server = await serve(entry, [held]);
  const abort = new AbortController();
  const all: ModelEvent[] = [];
  for await (const event of server.model.stream(request, abort.signal)) {
    all.push(event);
    abort.abort();
  }
  await closed.promise;
  expect(all.at(-1)).toMatchObject({ type: "error", error: { aborted: true } });
  return server.bodies;
}
