import { expect, jest, test } from "bun:test";
import { created } from "../../domain/__fixtures__/events.ts";
import type { AgentSnapshot } from "../../domain/agent-snapshot.ts";
import type { ConnectionProvider } from "../../domain/providers.ts";
import type { JournalEntry, RunEvent } from "../../domain/run-event.ts";
import { fold } from "../../domain/run-state.ts";
import { sleep } from "../../lib/retry.ts";
import { startProviders } from "../../testing/provider-server.ts";
import { wires } from "../../testing/provider-wire.ts";
import { httpTool } from "../../testing/run-fixture.ts";
import { turnsDuring } from "../../testing/turns.ts";
import {
  type AnswerObserver,
  type Connection,
  type Model,
  type ModelError,
  type ModelEvent,
  type ModelRequest,
  unknownUsage,
} from "../models/model.ts";
import { abortedError, incompleteError } from "../models/model-error.ts";
import { openModel, testConnection } from "../models/registry.ts";
import type { Outlet } from "./message-channel.ts";
import type { Delta } from "./messages.ts";
import { type RunPorts, Superseded } from "./run-context.ts";
import { runLoop } from "./run-loop.ts";

const usage = { input_tokens: 3, output_tokens: 2, cached_input_tokens: 0, reasoning_tokens: 0 };
const says = (text: string): ModelEvent[] => [
  { type: "delta", part: 0, kind: "output", text },
  { type: "done", finish: "stop", usage },
];
const calls = (name: string, args: string): ModelEvent[] => [
  { type: "tool_call", part: 0, name, arguments: args },
  { type: "done", finish: "tool_calls", usage },
];
const fails = (more: Partial<ModelError> = {}, text = ""): ModelEvent[] => [
  ...(text ? says(text).slice(0, 1) : []),
  {
    type: "error",
    error: {
      code: "model_error",
      message: "503",
      retryable: true,
      retry_after_ms: 1,
      aborted: false,
      request: "answered",
      ...more,
    },
    usage: unknownUsage,
  },
];

/**
 * Creates a loop over a model that gives these answers, one per call; `null`: the model is silent until it is aborted.
 */
function loopOf(
  answers: (ModelEvent[] | null)[] | Model,
  agent: Partial<AgentSnapshot> = {},
  sleep: RunPorts["sleep"] = async () => {},
  connection: Connection = testConnection,
) {
  const waits: number[] = [];
  const entries: JournalEntry[] = [];
  const requests: ModelRequest[] = [];
  const deltas: Delta[] = [];
  const abort = new AbortController();
  let heard = (_: RunEvent) => {};
  const append = async (events: RunEvent[]) => {
    const seq = entries.length + 1;
    entries.push(...events.map((event, index) => ({ seq: seq + index, at: 0, event })));
    for (const event of events) heard(event);
    return { seq, at: 0 };
  };
  async function* stream(
    request: ModelRequest,
    signal: AbortSignal,
    observer?: AnswerObserver,
  ): AsyncGenerator<ModelEvent> {
    const index = requests.push(request) - 1;
    if (!Array.isArray(answers)) return yield* answers.stream(request, signal, observer);
    const answer = answers[index]!;
    if (answer) return yield* answer;
    if (!signal.aborted) await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
    yield { type: "error", error: abortedError, usage: unknownUsage };
  }
  const snapshot: AgentSnapshot = {
    id: "agt_1",
    version: 1,
    name: "Agent",
    model: "test/script",
    instructions: "",
    settings: {},
    tools: [httpTool("look", "", { parameters: { type: "object", properties: { city: { type: "string" } } } })],
    max_turns: 3,
    output_schema: null,
    ...agent,
  };
  void append([created({ max_turns: snapshot.max_turns })]);
  const start = {
    drive: 1,
    run_id: "run_1",
    attempt: 1,
    history: [...entries],
    agent: snapshot,
    connection,
    model: "script",
    secrets: {},
    egress: { allow: [], loopback: false },
  };
  const runTool = async () => ({ output: "seen", error: null, attempts: 1 }) as const;
  const none = () => Promise.reject(new Error("Nobody asks for this."));
  const outlet: Outlet = {
    push(message) {
      if (message.do === "delta") deltas.push(message.delta);
    },
    pushLater: (collect) => collect(),
  };
  const ports = {
    append,
    outlet,
    model: { stream },
    runTool,
    keepFile: none,
    startChild: none,
    inPlace: <T>(call: () => Promise<T>) => call(),
    sleep(ms: number, signal: AbortSignal) {
      waits.push(ms);
      return sleep(ms, signal);
    },
    ask: none,
    reserve: async () => null,
    modelNamed: () => Promise.reject(new Error("There is no judge.")),
    now: () => 0,
  };
  return {
    run: async () => {
      await runLoop(start, ports, abort.signal);
      return fold(entries);
    },
    entries,
    requests,
    waits,
    deltas,
    abort,
    onEvent: (hear: typeof heard) => {
      heard = hear;
    },
    events: (type: RunEvent["type"]) => entries.map(({ event }) => event).filter((event) => event.type === type),
  };
}

test("a transient model error is retried, and the journal has its reason, time and cost", async () => {
  const loop = loopOf([fails({}, "Half of "), fails({ code: "model_rate_limited", retry_after_ms: 2 }), says("All.")]);
  const state = await loop.run();
  expect([state.status, state.output]).toEqual(["completed", "All."]);
  expect(loop.events("step.restarted")).toMatchObject([
    {
      attempt: 2,
      discards: 2,
      reason: { code: "model_error", message: "503" },
      delay_ms: 1,
      spent: { estimated: true },
    },
    { attempt: 3, discards: 3, reason: { code: "model_rate_limited" }, delay_ms: 2, spent: { estimated: false } },
  ]);
  expect(loop.deltas.map(({ anchor, text }) => [anchor, text])).toEqual([
    [2, "Half of "],
    [4, "All."],
  ]);
  expect(state.usage).toMatchObject({ model_calls: 3, estimated: true });
});

test("a model call is tried four times, and the output is the text of the last attempt", async () => {
  const loop = loopOf([fails(), fails(), fails(), fails({}, "Half")]);
  const state = await loop.run();
  expect(loop.requests).toHaveLength(4);
  expect(state).toMatchObject({ status: "failed", output: "Half", error: { code: "model_error", retryable: true } });
});

test("an answer that stays incomplete fails the run with model_incomplete, and the text of the last attempt is its output", async () => {
  const cut = (text: string) => fails({ ...incompleteError }, text);
  const loop = loopOf([cut("One"), cut("Two"), cut("Three"), cut("Four")]);
  const state = await loop.run();
  expect(state).toMatchObject({
    status: "failed",
    output: "Four",
    error: { code: "model_incomplete", retryable: true },
  });
  expect(loop.requests).toHaveLength(4);
});

test("the output is the text of an earlier attempt if the later ones say nothing", async () => {
  const loop = loopOf([calls("look", "{}"), fails({}, "Half of it"), fails(), fails(), fails()]);
  const state = await loop.run();
  expect(state).toMatchObject({ status: "failed", output: "Half of it", error: { code: "model_error" } });
  expect(loop.events("run.failed")).toMatchObject([{ output: "Half of it" }]);
});

test("an unreachable server is retried with growing pauses for thirty seconds, then no more", async () => {
  const loop = loopOf(Array.from({ length: 99 }, () => fails({ request: "not_sent", retry_after_ms: null })));
  const state = await loop.run();
  expect(state).toMatchObject({ status: "failed", error: { code: "model_error", retryable: true } });
  expect(loop.waits.reduce((sum, ms) => sum + ms)).toBe(30_000);
  expect(Math.max(...loop.waits)).toBeLessThanOrEqual(4000);
  expect(loop.waits[0]).toBeLessThanOrEqual(500);
  expect(loop.events("step.restarted").map((event) => "delay_ms" in event && event.delay_ms)).toEqual(loop.waits);
});

test("a server that sends Retry-After is asked again at that time", async () => {
  const loop = loopOf(Array.from({ length: 99 }, () => fails({ unready: true, retry_after_ms: 7000 })));
  await loop.run();
  expect(loop.waits).toEqual([7000, 7000, 7000, 7000, 7000]);
});

test.each(["openai", "anthropic", "google", "ollama", "openai_compatible"] as const)(
  "a run of %s continues once its server is reachable again",
  async (provider) => {
    const started = () =>
      Bun.serve({
        port: back.port,
        hostname: "127.0.0.1",
        fetch: () => new Response(Bun.file(recording), { headers: { "content-type": "text/event-stream" } }),
      });
    const back: { port: number; server?: ReturnType<typeof Bun.serve> } = { port: 0 };
    const named = provider === "ollama" ? "openai-compatible" : provider.replace("_", "-");
    const recording = `${import.meta.dir}/../models/__fixtures__/${named}-text.chunks.txt`;
    const first = started();
    back.port = first.port!;
    await first.stop(true);
    let waits = 0;
    const connection = { name: provider, provider, base_url: `http://127.0.0.1:${back.port}/v1`, api_key: "key" };
    const loop = loopOf(await openModel(connection, "some-model"), {}, async () => {
      if (++waits === 6) back.server = started();
    });
    const state = await loop.run();
    await back.server?.stop(true);
    expect([state.status, state.output, waits]).toEqual(["completed", "Hello, world.", 6]);
  },
);

test("an estimate never exceeds the maximum length of the answer", async () => {
  const cut = () => fails({}, "word ".repeat(100));
  const loop = loopOf([cut(), cut(), cut(), cut()], { settings: { max_output_tokens: 16 } });
  expect((await loop.run()).usage).toMatchObject({ output_tokens: 64, model_calls: 4, estimated: true });
  expect(loop.events("step.completed")).toMatchObject([{ answer: { usage: { output_tokens: 16 } } }]);
});

test("a permanent error fails at once and keeps the text so far", async () => {
  const loop = loopOf([fails({ code: "context_length_exceeded", retryable: false }, "Half")]);
  const state = await loop.run();
  expect(loop.requests).toHaveLength(1);
  expect(state).toMatchObject({ output: "Half", error: { code: "context_length_exceeded", step_index: 0 } });
  expect(loop.events("step.completed")).toMatchObject([{ status: "failed", answer: { parts: [{ text: "Half" }] } }]);
});

test("a tool call cut short by an error is neither run nor kept", async () => {
  const loop = loopOf([[...calls("look", "{}").slice(0, 1), ...fails({ retryable: false })]]);
  const state = await loop.run();
  expect([state.status, state.calls, loop.events("tool.requested")]).toEqual(["failed", [], []]);
});

test("an abort ends the pause between attempts at once", async () => {
  const loop = loopOf([fails({ retry_after_ms: 60_000 }), says("Never.")], {}, sleep);
  loop.onEvent(({ type }) => {
    if (type === "step.restarted") setImmediate(() => loop.abort.abort());
  });
  expect(await loop.run().catch((reason) => reason)).toBeInstanceOf(Superseded);
  expect(loop.events("run.completed")).toEqual([]);
});

test("an abort in the middle of an answer ends the loop and appends nothing", async () => {
  const loop = loopOf([null]);
  loop.onEvent(({ type }) => {
    if (type === "step.started") setImmediate(() => loop.abort.abort());
  });
  const error = await loop.run().catch((reason) => reason);
  expect(error).toBeInstanceOf(Superseded);
  expect(loop.entries.map(({ event }) => event.type)).toEqual(["run.created", "step.started"]);
});

test("a model that is silent for five minutes is aborted and asked again", async () => {
  jest.useFakeTimers();
  try {
    const loop = loopOf([null, says("Awake.")]);
    const ended = loop.run();
    for (let turn = 0; turn < 30; turn++) await Promise.resolve();
    jest.advanceTimersByTime(299_999);
    expect(loop.events("step.restarted")).toEqual([]);
    jest.advanceTimersByTime(1);
    for (let turn = 0; turn < 30; turn++) await Promise.resolve();
    expect(loop.events("step.restarted")).toMatchObject([
      { reason: { message: expect.stringContaining("300 seconds") } },
    ]);
    jest.advanceTimersByTime(60_000);
    expect((await ended).output).toBe("Awake.");
  } finally {
    jest.useRealTimers();
  }
});

test("a connection sets how long its provider may be silent", async () => {
  jest.useFakeTimers();
  try {
    const patient = { ...testConnection, idle_timeout_ms: 1_800_000 };
    const loop = loopOf([null, says("Awake.")], {}, async () => {}, patient);
    const ended = loop.run();
    for (let turn = 0; turn < 30; turn++) await Promise.resolve();
    jest.advanceTimersByTime(1_799_999);
    expect(loop.events("step.restarted")).toEqual([]);
    jest.advanceTimersByTime(1);
    expect((await ended).output).toBe("Awake.");
    const message = "The model sent nothing for 1800 seconds.";
    expect(loop.events("step.restarted")).toMatchObject([{ reason: { message } }]);
  } finally {
    jest.useRealTimers();
  }
});

/** Returns the loop of a run whose provider sends each text on demand, and then ends or waits forever. */
async function slow(provider: ConnectionProvider, texts: string[], then: "end" | "wait") {
  const turns = texts.map(() => Promise.withResolvers<void>());
  const gone = Promise.withResolvers<void>();
  async function* say(signal: AbortSignal) {
    signal.addEventListener("abort", () => gone.resolve());
    for (const [index, text] of texts.entries()) {
      await turns[index]!.promise;
      yield text;
    }
    if (then === "wait") await new Promise(() => {});
  }
  const wire = wires[provider];
  const server = startProviders(({ index, request }) =>
    index === 0 ? say(request.signal) : [wire.begin(), wire.text("Awake."), wire.end()],
  );
  const model = await openModel(server.connectionOf(provider), "some-model");
  let heard = Promise.withResolvers<void>();
  const asked = Promise.withResolvers<void>();
  let [told, read] = [0, 0];
  const loop = loopOf({
    stream: (request, signal, observer) =>
      model.stream(request, signal, {
        onByte() {
          observer?.onByte();
          // The response headers are reported separately.
          if (++read > told) heard.resolve();
        },
        onArguments(length) {
          observer?.onArguments(length);
          if (length > 1000) asked.resolve();
        },
      }),
  });
  return {
    loop,
    gone: gone.promise,
    /** Resolves once the loop has received long arguments. */
    asked: asked.promise,
    bodies: server.bodies,
    /** Sends the next text; resolves once the loop has received it. */
    async say(): Promise<void> {
      heard = Promise.withResolvers();
      turns[told++]!.resolve();
      await heard.promise;
    },
    [Symbol.asyncDispose]: server[Symbol.asyncDispose],
  };
}

const longArguments = '{"city":"Rome';

test.each([
  ["openai", "comments"],
  ["anthropic", "comments"],
  ["google", "comments"],
  ["ollama", "comments"],
  ["openai_compatible", "comments"],
  ["openai", "arguments"],
  ["anthropic", "arguments"],
  ["ollama", "arguments"],
  ["openai_compatible", "arguments"],
] as const)("a model of %s that sends nothing but %s for half an hour is alive", async (provider, what) => {
  const wire = wires[provider];
  const args = `${longArguments}${"x".repeat(7)}"}`;
  const between =
    what === "comments"
      ? Array(7).fill(": still working\n\n")
      : [wire.call("look") + wire.args(longArguments), ...Array(7).fill(wire.args("x")), wire.args('"}')];
  const last =
    what === "comments" ? [wire.text("Awake."), wire.end()] : [wire.endCall("look", args), wire.end(toolEnd[provider])];
  jest.useFakeTimers();
  try {
    await using said = await slow(provider, [wire.begin() || ": begun\n\n", ...between, ...last], "end");
    const ended = said.loop.run();
    for (const _ of [0, ...between]) {
      await said.say();
      jest.advanceTimersByTime(299_999);
    }
    for (const _ of last) void said.say();
    expect((await ended).output).toBe("Awake.");
    expect(said.loop.events("step.restarted")).toEqual([]);
    expect(said.bodies).toHaveLength(what === "comments" ? 1 : 2);
  } finally {
    jest.useRealTimers();
  }
});

test.each(["openai", "anthropic", "ollama", "openai_compatible"] as const)(
  "arguments that a model of %s sent before it fell silent are estimated and counted",
  async (provider) => {
    const wire = wires[provider];
    jest.useFakeTimers();
    try {
      const texts = [wire.begin(), wire.call("look"), wire.args(`{"city":"${"x".repeat(4000)}`)];
      await using said = await slow(provider, texts, "wait");
      const ended = said.loop.run();
      for (const _ of texts) await said.say();
      await said.asked;
      jest.advanceTimersByTime(300_000);
      await said.gone;
      expect((await ended).output).toBe("Awake.");
      const [restart] = said.loop.events("step.restarted") as Extract<RunEvent, { type: "step.restarted" }>[];
      expect(restart).toMatchObject({ reason: { code: "model_error" }, spent: { estimated: true } });
      expect(restart!.spent!.usage.output_tokens).toBeGreaterThan(1000);
      expect(restart!.spent!.usage.input_tokens).toBeGreaterThan(0);
      // A timed-out call is not repeated in another way: nothing is reserved for it.
      expect(said.bodies).toHaveLength(2);
    } finally {
      jest.useRealTimers();
    }
  },
);

test.each(["openai", "anthropic", "ollama", "openai_compatible"] as const)(
  "endless arguments of %s are cut off while they arrive, and their call is aborted and counted",
  async (provider) => {
    const wire = wires[provider];
    const gone = Promise.withResolvers<void>();
    let sent = 0;
    async function* endless(signal: AbortSignal) {
      signal.addEventListener("abort", () => gone.resolve());
      yield wire.begin() + wire.call("look") + wire.args('{"city":"');
      for (; sent < 3200 && !signal.aborted; sent++) yield wire.args("x".repeat(65_536));
    }
    await using server = startProviders(({ request }) => endless(request.signal));
    const loop = loopOf(await openModel(server.connectionOf(provider), "some-model"));
    const state = await loop.run();
    await gone.promise;
    expect(state).toMatchObject({ status: "failed", calls: [], error: { code: "model_error", retryable: false } });
    expect(state.error!.message).toContain("longer than 1048576 characters");
    expect(state.usage).toMatchObject({ model_calls: 1, estimated: true });
    expect(state.usage.output_tokens).toBeGreaterThan(262_000);
    expect(sent).toBeLessThan(1600);
  },
);

const toolEnd = {
  openai: undefined,
  anthropic: "tool_use",
  ollama: "tool_calls",
  openai_compatible: "tool_calls",
  google: undefined,
};

// Without pauses the whole answer would be read before a reader could receive or abort it.
test("an answer without pauses yields to other work and can be aborted", async () => {
  const text = Array.from({ length: 5000 }, () => says("a ")[0]!);
  const loop = loopOf([[...text, ...says("End.")]]);
  const { turns, result } = await turnsDuring(loop.run);
  expect(result.output).toBe(`${"a ".repeat(5000)}End.`);
  expect(turns).toBeGreaterThan(50);
});

test("an empty answer completes the run with an empty output", async () => {
  const state = await loopOf([[{ type: "done", finish: "stop", usage }]]).run();
  expect([state.status, state.output]).toEqual(["completed", ""]);
});

test.each([
  ["look", '{"broken": ', "invalid_arguments"],
  ["look", "[1]", "invalid_arguments"],
  ["look", '{"city": 5}', "invalid_arguments"],
  ["look", '{"__proto__": {"a": 1}}', "invalid_arguments"],
  ["look", `{"a":${"[".repeat(100)}${"]".repeat(100)}}`, "invalid_arguments"],
  ["look", `{"city":"${"x".repeat(70_000)}"}`, "invalid_arguments"],
  ["nothing", "{}", "tool_not_found"],
])("a model that calls %s with %.20s gets the error and may correct it", async (name, args, code) => {
  const loop = loopOf([calls(name, args), says("Sorry.")]);
  const state = await loop.run();
  expect([state.status, state.output]).toEqual(["completed", "Sorry."]);
  expect(state.calls).toMatchObject([{ status: "failed", error: { code } }]);
  expect(loop.requests[1]!.messages.at(-1)).toMatchObject({ role: "tool", is_error: true });
});

test("a model that never stops calling tools is stopped after max_turns, once its last call has run", async () => {
  const state = await loopOf(Array.from({ length: 9 }, () => calls("look", "{}"))).run();
  expect(state).toMatchObject({ status: "failed", turns: 3, error: { code: "max_turns_exceeded" } });
  expect(state.calls.map(({ status }) => status)).toEqual(["completed", "completed", "completed"]);
});

test("an output with a schema is validated and returned as JSON", async () => {
  const output_schema = { type: "object", required: ["city"] };
  const fit = await loopOf([says('{"city":"Rome"}')], { output_schema }).run();
  expect(fit).toMatchObject({ status: "completed", output: '{"city":"Rome"}', output_json: { city: "Rome" } });
  for (const text of ['{"town":"Rome"}', "Rome"]) {
    const state = await loopOf([says("Paris"), says(text)], { output_schema }).run();
    expect(state).toMatchObject({ status: "failed", output: text, error: { code: "output_schema_mismatch" } });
  }
});

test("an output that does not fit its schema is returned to the model once, with the error", async () => {
  const output_schema = { type: "object", required: ["city"] };
  const loop = loopOf([says('{"town":"Rome"}'), says('{"city":"Rome"}')], { output_schema });
  expect(await loop.run()).toMatchObject({ status: "completed", output_json: { city: "Rome" }, turns: 2 });
  expect(loop.requests[1]!.messages.slice(-2)).toMatchObject([
    { role: "assistant" },
    { role: "user", content: expect.stringContaining("city") },
  ]);
});

test("an output that does not fit is not returned to the model if no model call is left", async () => {
  const state = await loopOf([says("Rome")], { output_schema: { type: "object" }, max_turns: 1 }).run();
  expect(state).toMatchObject({ status: "failed", error: { code: "output_schema_mismatch" }, turns: 1 });
});

test("invalid arguments are journaled as the model wrote them", async () => {
  const state = await loopOf([calls("look", '{"city": 5}'), says("Sorry.")]).run();
  expect(state.calls[0]!.arguments).toEqual({ city: 5 });
});

test.each([
  ["text without end", [...says("x".repeat(600_000)).slice(0, -1), ...says("x".repeat(600_000))]],
  [
    "calls without end",
    Array.from({ length: 1200 }, (_, part) => ({ ...calls("look", "{}")[0]!, part }) as ModelEvent),
  ],
])("a model that gives %s is cut off, and the run fails instead of filling the memory", async (_, answer) => {
  const state = await loopOf([[...answer, { type: "done", finish: "stop", usage }]]).run();
  expect(state).toMatchObject({ status: "failed", calls: [], error: { code: "model_error" } });
});

test("arguments too large to be judged need approval, so that size does not bypass the question", async () => {
  const when = { type: "object", properties: { city: { type: "string", pattern: "^R" } } };
  const asks = httpTool("look", "", { approval: { when } });
  const needs = async (city: string) => {
    const state = await loopOf([calls("look", JSON.stringify({ city })), says("So.")], { tools: [asks] }).run();
    return state.calls[0]!.needs;
  };
  expect(await needs("Rome")).toBe("approval");
  expect(await needs(`N${"o".repeat(20_000)}`)).toBe("approval");
  expect(await needs("Oslo")).toBeNull();
});

// Without merging, an answer of 130,000 words took 20 ms of the main thread to append, and as much to read.
test("deltas of very long answers are merged per interval, for readers and in the journal alike", async () => {
  const words = Array.from({ length: 50_000 }, (_, index): ModelEvent => {
    return { type: "delta", part: 0, kind: "output", text: `${index % 10}` };
  });
  const loop = loopOf([[...words, { type: "done", finish: "stop", usage }]]);
  const state = await loop.run();
  expect(state.output).toBe("0123456789".repeat(5000));
  const [{ answer }] = loop.events("step.completed") as [Extract<RunEvent, { type: "step.completed" }>];
  const lengths = answer!.deltas.filter((_, index) => index % 3 === 1);
  expect(loop.deltas.map(({ text }) => text.length)).toEqual(lengths);
  expect(lengths.length).toBeLessThan(10_000);
});
