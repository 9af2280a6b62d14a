import { afterAll, beforeAll, expect, test } from "bun:test";
import { createServer, type Server, type Socket } from "node:net";
import { gzipSync } from "node:zlib";
import { testActor } from "../../testing/test-actor.ts";
import { type TestApp, testApp } from "../../testing/test-app.ts";
import { calls, chunk, delta, done, ending, event, finish, piece, text } from "./__fixtures__/server-answers/chunks.ts";

const key = "sk-test-0123456789";
const megabyte = 1024 * 1024;

/** One connection of a client to a hostile server, after its request has arrived. */
interface Wire {
  body: { model: string; messages: { role: string; content: unknown }[]; tools?: unknown[] };
  /** Number of earlier requests. */
  count: number;
  /** Sends bytes; resolves false once the client is gone. */
  send(data: string | Uint8Array): Promise<boolean>;
  /** Ends the connection, or breaks it. */
  end(): void;
  reset(): void;
}

type Serve = (wire: Wire) => Promise<unknown> | unknown;

interface Played {
  run: {
    status: string;
    output: string | null;
    error: { code: string; message: string } | null;
    usage: { input_tokens: number; output_tokens: number; model_calls: number; estimated: boolean };
    tool_calls: { name: string; status: string; error: { code: string } | null }[];
  };
  requests: number;
  /** Megabytes that the server could send. */
  sent: number;
  /** Names of the tools that were called. */
  called: string[];
}

interface Hostile {
  title: string;
  serve: Serve;
  agent?: object;
  more?: object;
  end: (played: Played) => void;
}

const head = (type = "text/event-stream", status = "200 OK", more = "") =>
  `HTTP/1.1 ${status}\r\ncontent-type: ${type}\r\n${more}connection: close\r\n\r\n`;

/** Sends a stream of events, and ends. */
const says =
  (...chunks: string[]): Serve =>
  async ({ send, end }) => {
    await send(head() + chunks.join(""));
    end();
  };

/** Sends a response with a JSON body. */
const responds =
  (status: string, body: unknown, more = ""): Serve =>
  async ({ send, end }) => {
    await send(head("application/json", status, more) + (typeof body === "string" ? body : JSON.stringify(body)));
    end();
  };

/** Sends pieces until the client is gone, or there were as many. */
const floods =
  (first: string, next: string | Uint8Array, count = Number.POSITIVE_INFINITY, last = ""): Serve =>
  async ({ send, end }) => {
    await send(first);
    for (let index = 0; index < count; index++) if (!(await send(next))) return;
    await send(last);
    end();
  };

/** Sends a piece at each turn of the event loop: enough to keep a connection alive. */
const drips =
  (first: string, next: string): Serve =>
  async ({ send }) => {
    await send(first);
    while (await send(next)) await Bun.sleep(5);
  };

const completes =
  (output: string, more: (played: Played) => void = () => {}) =>
  (played: Played): void => {
    expect([played.run.status, played.run.output]).toEqual(["completed", output]);
    more(played);
  };

const fails =
  (code: string, says: string | RegExp, more: (played: Played) => void = () => {}) =>
  (played: Played): void => {
    expect([played.run.status, played.run.error?.code]).toEqual(["failed", code]);
    expect(played.run.error?.message).toMatch(says);
    expect(played.called).toEqual([]);
    expect(played.requests).toBeLessThanOrEqual(8);
    more(played);
  };

const isOnce = ({ requests }: Played) => expect(requests).toBe(1);
const isBounded = ({ sent }: Played) => expect(sent).toBeLessThan(100);
const isBoundedEach = ({ sent, requests }: Played) => expect(sent / requests).toBeLessThan(50);
const isEstimated = ({ run, requests }: Played) => {
  expect([run.usage.estimated, requests]).toEqual([true, 1]);
  expect(run.usage.output_tokens).toBeLessThan(100);
};

const long = "x".repeat(65_536);
const look = (args: string, fields: object = { index: 0, id: "a" }) => calls(piece(fields, "look", args));
const counts = (usage: unknown): Serve => says(text("Hello."), finish("stop"), chunk({ choices: [], usage }), done);
/** Answers with a call first, and then with a text that ends the run. */
const then =
  (...first: string[]): Serve =>
  (wire) =>
    (wire.body.messages.some(({ role }) => role === "tool") ? says(text("So."), ...ending()) : says(...first))(wire);
const brief = { timeout_ms: 3000 };
const schema = { output_schema: { type: "object", properties: { a: { type: "string" } }, required: ["a"] } };

const servers: Hostile[] = [
  // Without end.
  {
    title: "sends 100 MB in one line",
    serve: floods(`${head()}data: {"choices":[{"delta":{"content":"`, long, 1600),
    end: fails("model_error", "MB in one piece", isBoundedEach),
  },
  {
    title: "sends 100 MB as one JSON text",
    serve: floods(`${head("application/json")}{"choices":[{"message":{"content":"`, long, 1600),
    end: fails("model_error", "MB in one piece", isBoundedEach),
  },
  {
    title: "sends 100 MB with a refusal",
    serve: floods(head("application/json", "400 Bad Request"), long, 1600),
    end: fails("model_error", "HTTP 400", isOnce),
  },
  {
    title: "sends 400 MB of blank lines, compressed",
    serve: async ({ send, end }) => {
      await send(head("text/event-stream", "200 OK", "content-encoding: gzip\r\n"));
      await send(gzipSync("\n".repeat(400 * megabyte)));
      end();
    },
    end: fails("model_error", "more than 256 MB", isOnce),
  },
  {
    title: "never ends its text",
    serve: floods(head(), text(long)),
    end: fails("model_error", "longer than", (played) => {
      isOnce(played);
      isBounded(played);
    }),
  },
  {
    title: "never ends its reasoning",
    serve: floods(head(), delta({ reasoning_content: long })),
    end: fails("model_error", "longer than", isBounded),
  },
  {
    title: "never ends its reasoning in tags",
    serve: floods(head() + text("<think>"), text(long)),
    end: fails("model_error", "longer than", isBounded),
  },
  {
    title: "never ends the arguments of a call",
    serve: floods(head() + look('{"city":"'), calls(piece({ index: 0 }, undefined, long))),
    end: fails("model_error", "longer than", (played) => {
      isOnce(played);
      isBounded(played);
    }),
  },
  {
    title: "sends the name of a call again and again",
    serve: floods(head(), calls(piece({ index: 0, id: "a" }, long, ""))),
    end: fails("model_error", "more than 256 MB", isOnce),
  },
  {
    title: "sends white space in place of a text, without end",
    serve: floods(head(), text(" ".repeat(65_536))),
    end: fails("model_error", "longer than", isBounded),
  },
  {
    title: "asks for 5,000 calls at once",
    serve: says(
      ...Array.from({ length: 5000 }, (_, index) => look("{}", { index, id: `c${index}` })),
      ...ending("tool_calls"),
    ),
    end: fails("model_error", "more than 1000 tool calls", isOnce),
  },
  {
    title: "keeps the connection alive with comments alone",
    serve: drips(head(), ": ping\n\n"),
    more: brief,
    end: fails("run_timeout", /./, isOnce),
  },
  {
    title: "keeps the connection alive with empty deltas",
    serve: drips(head(), text("")),
    more: brief,
    end: fails("run_timeout", /./, isOnce),
  },
  { title: "never answers", serve: () => {}, more: brief, end: fails("run_timeout", /./, isOnce) },
  {
    title: "goes on after [DONE]",
    serve: floods(head() + text("Hello.") + ending().join(""), text(long)),
    end: completes("Hello.", isOnce),
  },
  {
    title: "asks for the same tool for ever",
    serve: says(look("{}"), ...ending("tool_calls")),
    agent: { max_turns: 5 },
    end: ({ run, requests, called }) => {
      expect([run.error?.code, requests, called.length]).toEqual(["max_turns_exceeded", 5, 5]);
    },
  },

  // Broken connections and HTTP.
  { title: "closes the connection without an answer", serve: ({ end }) => end(), end: fails("model_error", /./) },
  {
    title: "breaks the connection within a text",
    serve: async ({ send, reset, count, ...rest }) => {
      if (count > 0) return says(text("Hello again."), ...ending())({ send, reset, count, ...rest });
      await send(head() + text("Hel"));
      reset();
    },
    end: completes("Hello again."),
  },
  {
    title: "breaks the connection within a call",
    serve: async ({ send, end, count, ...rest }) => {
      if (count > 0) return says(text("So."), ...ending())({ send, end, count, ...rest });
      await send(head() + look("{}"));
      end();
    },
    end: completes("So.", ({ called }) => expect(called).toEqual([])),
  },
  {
    title: "sends chunks of a wrong length",
    serve: async ({ send, end }) => {
      await send(`${head("text/event-stream", "200 OK", "transfer-encoding: chunked\r\n")}zz\r\noops\r\n`);
      end();
    },
    end: fails("model_error", /./),
  },
  {
    title: "sends 204",
    serve: responds("204 No Content", ""),
    end: fails("model_incomplete", "before it was complete"),
  },
  {
    title: "redirects the request, with the key",
    serve: responds("302 Found", "", "location: http://127.0.0.1:1/v1/chat/completions\r\n"),
    end: fails("model_error", "HTTP 302", isOnce),
  },
  {
    title: "sends a web page",
    serve: responds("200 OK", "<!doctype html><title>Welcome</title>"),
    end: fails("model_error", "web page", isOnce),
  },
  { title: "claims to be compressed", serve: says("not compressed"), end: fails("model_incomplete", /./) },

  // Payloads.
  {
    title: "nests 200,000 lists",
    serve: says(`data: ${"[".repeat(200_000)}\n\n`),
    end: fails("model_error", "cannot be read"),
  },
  {
    title: "sends fields called __proto__ and constructor",
    serve: says(
      `data: {"__proto__":{"choices":[{"delta":{"content":"bad"}}]},"constructor":{"prototype":{"choices":1}}}\n\n`,
      text("Hello."),
      ...ending(),
    ),
    end: completes("Hello.", () => expect(({} as { choices?: unknown }).choices).toBeUndefined()),
  },
  {
    title: "sends bytes that are no text",
    serve: async ({ send, end }) => {
      await send(head());
      await send(
        Buffer.concat([
          Buffer.from('data: {"choices":[{"delta":{"content":"'),
          Buffer.from([0xff, 0xfe]),
          Buffer.from('"}}]}\n\n'),
        ]),
      );
      await send(ending().join(""));
      end();
    },
    end: completes("\ufffd\ufffd", isOnce),
  },
  {
    title: "sends half of a surrogate pair",
    serve: says('data: {"choices":[{"delta":{"content":"a\\ud83d"}}]}\n\n', ...ending()),
    end: completes("a\ufffd", isOnce),
  },
  {
    title: "sends values of wrong types in every field",
    serve: says(
      event({
        choices: [{ index: {}, delta: { content: 7, reasoning: [], tool_calls: "x", refusal: {} }, finish_reason: [] }],
      }),
      event({ choices: "none", usage: "free" }),
      event([1, 2]),
      event(7),
      event({
        choices: [{ delta: { tool_calls: [null, 7, { function: "x" }, { index: -1e9, function: { name: {} } }] } }],
      }),
      text("Hello."),
      ...ending(),
    ),
    end: completes("Hello.", isOnce),
  },
  {
    title: "sends 100,000 choices in a chunk",
    serve: says(
      event({
        choices: Array.from({ length: 100_000 }, (_, index) => ({
          index,
          delta: { content: index === 0 ? "Hello." : "No." },
        })),
      }),
      ...ending(),
    ),
    end: completes("Hello.", isOnce),
  },
  {
    title: "sends its whole answer twice",
    serve: says(text("Hello."), ...ending(), text("Hello."), ...ending()),
    end: completes("Hello.", isOnce),
  },
  {
    title: "ends with two contradicting reasons",
    serve: then(look("{}"), finish("length"), finish("tool_calls"), done),
    end: completes("So.", ({ called }) => expect(called).toEqual([])),
  },
  {
    title: "changes the name of a tool in mid-stream",
    serve: says(look('{"a'), calls(piece({ index: 0, id: "a" }, "wipe", '":1}')), ...ending("tool_calls")),
    end: fails("model_error", 'changed the name of a tool call from "look" to "wipe"'),
  },
  {
    title: "asks for a tool that does not exist",
    serve: then(calls(piece({ index: 0, id: "a" }, "../../wipe", "{}")), ...ending("tool_calls")),
    end: completes("So.", ({ called }) => expect(called).toEqual([])),
  },
  {
    title: "sends 900 KB of arguments",
    serve: then(look(`{"city":"${"x".repeat(900_000)}"}`), ...ending("tool_calls")),
    end: completes("So.", ({ called, run }) => {
      expect(called).toEqual([]);
      expect(run.tool_calls[0]?.error?.code).toBe("invalid_arguments");
    }),
  },
  {
    title: "sends arguments in 50,000 pieces, each with id and name",
    serve: then(
      ...Array.from({ length: 50_000 }, (_, index) =>
        look(index === 0 ? '{"city":"' : "}", { index: 0, id: `c${index}` }),
      ),
      look('"}'),
      ...ending("tool_calls"),
    ),
    end: completes("So.", ({ called }) => expect(called.length).toBeLessThanOrEqual(1)),
  },

  // Errors.
  {
    title: "fails after each text",
    serve: says(text("Hel"), event({ error: { message: "Boom." } })),
    end: fails("model_error", "Boom.", ({ run, requests }) => expect([run.output, requests]).toEqual(["Hel", 4])),
  },
  {
    title: "limits the rate for ever",
    serve: responds("429 Too Many Requests", { error: { message: "Slow down." } }, "retry-after: 0\r\n"),
    end: fails("model_rate_limited", "Slow down.", ({ requests }) => expect(requests).toBe(4)),
  },
  {
    title: "asks to wait for years",
    serve: responds("429 Too Many Requests", { error: { message: "Slow down." } }, "retry-after: 999999999\r\n"),
    more: brief,
    end: fails("model_rate_limited", /./, isOnce),
  },
  {
    title: "cannot read any answer of its model",
    serve: responds("400 Bad Request", {
      error: { message: "Failed.", code: "tool_use_failed", failed_generation: "<x" },
    }),
    end: fails("model_error", "could not read the model's answer"),
  },
  {
    title: "refuses every format of an output",
    serve: responds("400 Bad Request", { error: { message: "response_format is not supported" } }),
    agent: schema,
    end: fails("model_error", "HTTP 400", ({ requests }) => expect(requests).toBe(3)),
  },
  {
    title: "says that every prompt is too long",
    serve: responds("400 Bad Request", { error: { message: "maximum context length is 1" } }),
    end: fails("context_length_exceeded", "maximum context length", isOnce),
  },
  {
    title: "echoes the key in a refusal",
    serve: responds("401 Unauthorized", { error: { message: `Incorrect API key: ${key}` } }),
    end: fails("model_not_available", "credentials", ({ run }) =>
      expect(run.error?.message).not.toContain("0123456789"),
    ),
  },
  {
    title: "echoes the key in its text",
    serve: says(text("The key is sk-te"), text("st-0123456789."), ...ending()),
    end: ({ run }) => {
      expect(run.status).toBe("completed");
      expect(run.output).not.toContain("0123456789");
    },
  },

  // Usage.
  {
    title: "claims negative usage",
    serve: counts({ prompt_tokens: -5, completion_tokens: -7 }),
    end: completes("Hello.", isEstimated),
  },
  {
    title: "claims usage in words",
    serve: counts({ prompt_tokens: "NaN", completion_tokens: "few" }),
    end: completes("Hello.", isEstimated),
  },
  {
    title: "claims more usage than any model can have",
    serve: counts({ prompt_tokens: 1e15, completion_tokens: 1e308 }),
    more: { budget: { max_total_tokens: 100_000 } },
    end: completes("Hello.", isEstimated),
  },
  {
    title: "claims that its text had no tokens",
    serve: counts({ prompt_tokens: 0, completion_tokens: 0 }),
    end: completes("Hello.", isEstimated),
  },
  {
    title: "ignores the maximum length that a budget allows",
    serve: floods(head(), text(long)),
    more: { budget: { max_total_tokens: 1000 } },
    end: fails("model_error", "longer than", ({ run }) => {
      expect(run.usage.input_tokens + run.usage.output_tokens).toBeLessThanOrEqual(1000);
    }),
  },
  { title: "sends a list as usage", serve: counts([20, 5]), end: completes("Hello.", isEstimated) },
  {
    title: "sends digits as usage",
    serve: counts({ prompt_tokens: "20", completion_tokens: "5" }),
    end: completes("Hello.", ({ run }) =>
      expect(run.usage).toMatchObject({ input_tokens: 20, output_tokens: 5, estimated: false }),
    ),
  },
];

const endOfHead = "\r\n\r\n";

/** Starts a hostile server, which reads each request before it acts. */
async function start(serve: Serve) {
  const stats = { requests: 0, sent: 0 };
  const sockets = new Set<Socket>();
  const server: Server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => {});
    const gone = new Promise<false>((resolve) => socket.once("close", () => resolve(false)));
    let request = "";
    let isActing = false;
    socket.on("data", (bytes) => {
      request += bytes.toString();
      const at = request.indexOf(endOfHead);
      const length = Number(/content-length: (\d+)/i.exec(request)?.[1] ?? 0);
      if (isActing || at === -1 || Buffer.byteLength(request.slice(at + endOfHead.length)) < length) return;
      isActing = true;
      const send = (data: string | Uint8Array): Promise<boolean> => {
        if (socket.destroyed) return Promise.resolve(false);
        stats.sent += data.length / megabyte;
        const written = new Promise<boolean>((resolve) => socket.write(data, () => resolve(!socket.destroyed)));
        return Promise.race([written, gone]);
      };
      const body = JSON.parse(request.slice(at + endOfHead.length));
      void serve({
        body,
        count: stats.requests++,
        send,
        end: () => socket.end(),
        reset: () => socket.resetAndDestroy(),
      });
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const stop = () => {
    for (const socket of sockets) socket.destroy();
    server.close();
  };
  return { stats, stop, port: (server.address() as { port: number }).port };
}

let app: TestApp;
/** Names of the called tools, by project. */
const called = new Map<string, string[]>();
const target = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  fetch(request) {
    const [, project = "", tool = ""] = new URL(request.url).pathname.split("/");
    called.get(project)?.push(tool);
    return Response.json({ ok: true });
  },
});

async function play({ serve, agent, more }: Hostile, name: string): Promise<Played> {
  called.set(name, []);
  const { stats, stop, port } = await start(serve);
  const base_url = `http://127.0.0.1:${port}/v1`;
  await app.connections.put({ name, provider: "openai_compatible", base_url, api_key: key }, testActor);
  const client = await app.client({ project: name });
  const tools: string[] = [];
  for (const tool of ["look", "wipe"])
    tools.push(
      (await client.post("/v1/tools", { name: tool, type: "http", url: `${target.url}${name}/${tool}` })).body.id,
    );
  const model = `openai_compatible/${name}/m`;
  const { id } = (await client.post("/v1/agents", { name, instructions: "", model, tools, ...agent })).body;
  const { body } = await client.post("/v1/runs?wait=60", { agent_id: id, input: "Go.", ...more });
  stop();
  return { run: body, ...stats, called: called.get(name)! };
}

// Most of their time is pauses between attempts.
const playsAtOnce = 8;
const plays = servers.map(() => Promise.withResolvers<Played>());

beforeAll(async () => {
  app = testApp();
  const waiting = [...servers.entries()];
  const work = async () => {
    for (let next = waiting.shift(); next; next = waiting.shift()) {
      const [index, server] = next;
      const { promise, resolve } = plays[index]!;
      resolve(play(server, `server_${index}`));
      await promise.catch(() => {}); // Its own test reports it.
    }
  };
  await Promise.all(Array.from({ length: playsAtOnce }, work));
}, 120_000);
afterAll(async () => {
  await app[Symbol.asyncDispose]();
  await target.stop(true);
});

test.each(servers.map(({ title, end }, index) => [title, end, index] as const))(
  "a run ends well with a server that %s",
  async (_, end, index) => end(await plays[index]!.promise),
);

test("there are at least forty hostile servers", () => {
  expect(servers.length).toBeGreaterThanOrEqual(40);
});
