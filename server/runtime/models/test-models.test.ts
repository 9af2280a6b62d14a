import { describe, expect, test } from "bun:test";
import { exampleArguments } from "./example-arguments.ts";
import type { ModelEvent, ModelRequest, ModelSettings, PromptMessage } from "./model.ts";
import { openTestModel, testModelNames } from "./test-models.ts";

const hello: PromptMessage = { role: "user", content: "Hello there,  world" };
const answered: PromptMessage = { role: "assistant", parts: [{ type: "text", text: "Hi." }] };
const weather = {
  name: "weather",
  description: "Tells the weather.",
  parameters: {
    type: "object",
    properties: { city: { type: "string" }, days: { type: "integer", minimum: 3 }, note: { type: "string" } },
    required: ["city", "days"],
  },
};

function request(change: Partial<ModelRequest> = {}): ModelRequest {
  return { messages: [hello], tools: [], settings: {}, ...change };
}

function ask(name: string, change: Partial<ModelRequest> = {}, signal = new AbortController().signal) {
  return Array.fromAsync(openTestModel(name).stream(request(change), signal));
}

const script = (...entries: NonNullable<ModelSettings["script"]>) => ({ settings: { script: entries } });
const texts = (all: ModelEvent[]) => all.flatMap((event) => (event.type === "delta" ? [event.text] : []));

describe("test/echo", () => {
  test("repeats the last user text, word by word", async () => {
    const messages = [{ role: "user" as const, content: "first" }, answered, hello];
    expect(texts(await ask("echo", { messages }))).toEqual(["Hello ", "there,  ", "world"]);
  });

  test("keeps space before the first word", async () => {
    expect(texts(await ask("echo", { messages: [{ role: "user", content: "  a b\n" }] })).join("")).toBe("  a b\n");
  });

  test("counts words deterministically", async () => {
    const usage = { input_tokens: 3, output_tokens: 3, cached_input_tokens: 0, reasoning_tokens: 0 };
    expect((await ask("echo")).at(-1)).toEqual({ type: "done", finish: "stop", usage });
    expect(await ask("echo")).toEqual(await ask("echo"));
  });

  test("answers without waiting for a timer", async () => {
    let turns = 0;
    const timer = setInterval(() => turns++, 0);
    const content = "word ".repeat(2000);
    await ask("echo", { messages: [{ role: "user", content }] });
    clearInterval(timer);
    expect(turns).toBe(0);
  });
});

describe("test/script", () => {
  test("plays the entry of this call, by the number of answers before it", async () => {
    const two = script({ text: "one" }, { text: "two" });
    expect(texts(await ask("script", two))).toEqual(["one"]);
    expect(texts(await ask("script", { ...two, messages: [hello, answered] }))).toEqual(["two"]);
  });

  test("plays the entry that the run has reached, even if the conversation has more or fewer answers", async () => {
    const { settings } = script({ text: "one" }, { text: "two" });
    const at = (script_at: number, ...messages: PromptMessage[]) =>
      ask("script", { messages, settings: { ...settings, script_at } });
    expect(texts(await at(0, answered, hello))).toEqual(["one"]);
    expect(texts(await at(1, hello))).toEqual(["two"]);
    expect(JSON.stringify(await at(2, hello))).toContain("this is call 3");
  });

  test("reasons first, then speaks, then calls", async () => {
    const call = { name: "weather", arguments: { city: "Oslo" } };
    const all = await ask("script", script({ reasoning: "Think hard.", text: "Done.", tool_calls: [call, call] }));
    expect(all).toEqual([
      { type: "delta", part: 0, kind: "reasoning", text: "Think " },
      { type: "delta", part: 0, kind: "reasoning", text: "hard." },
      { type: "delta", part: 1, kind: "output", text: "Done." },
      { type: "tool_call", part: 2, name: "weather", arguments: '{"city":"Oslo"}' },
      { type: "tool_call", part: 3, name: "weather", arguments: '{"city":"Oslo"}' },
      {
        type: "done",
        finish: "tool_calls",
        usage: { input_tokens: 3, output_tokens: 5, cached_input_tokens: 0, reasoning_tokens: 2 },
      },
    ]);
  });

  test("fails with the error of its entry, after its text", async () => {
    const all = await ask("script", script({ text: "Half", error: "It broke." }));
    expect(texts(all)).toEqual(["Half"]);
    expect(all.at(-1)).toMatchObject({
      type: "error",
      error: { code: "model_error", message: "It broke.", retryable: false },
    });
  });

  test.each([
    ["an ended script", script({ text: "one" })],
    ["no script", {}],
  ])("reports %s", async (_, given) => {
    const all = await ask("script", { ...given, messages: [hello, answered] });
    expect(all).toHaveLength(1);
    expect(all[0]).toMatchObject({ type: "error", error: { code: "model_error", retryable: false } });
    expect(JSON.stringify(all[0])).toContain("exhausted");
  });

  test.each([
    ["before it starts", { text: "a b", delay_ms: 3_600_000 }, 0],
    ["between deltas", { text: "a b", delta_ms: 3_600_000 }, 1],
  ])("stops waiting %s when it is aborted", async (_, entry, heard) => {
    const controller = new AbortController();
    const stream = openTestModel("script").stream(request(script(entry)), controller.signal);
    const reader = stream[Symbol.asyncIterator]();
    for (let index = 0; index < heard; index++) expect((await reader.next()).value).toMatchObject({ type: "delta" });
    const next = reader.next();
    controller.abort();
    expect((await next).value).toMatchObject({ type: "error", error: { aborted: true } });
    expect((await reader.next()).done).toBe(true);
  });
});

describe("test cards", () => {
  test("rate-limited can be retried after a moment", async () => {
    const [event] = await ask("rate-limited");
    expect(event).toMatchObject({
      type: "error",
      error: { code: "model_rate_limited", retryable: true, retry_after_ms: 100 },
    });
  });

  test("context-overflow differs from other errors", async () => {
    expect(await ask("context-overflow")).toMatchObject([
      { error: { code: "context_length_exceeded", retryable: false } },
    ]);
  });

  test("refusal has a text and ends as filtered", async () => {
    const all = await ask("refusal");
    expect(texts(all).join("")).toBe("I can't help with that.");
    expect(all.at(-1)).toMatchObject({ type: "done", finish: "content_filter" });
  });

  test("timeout says nothing until it is aborted", async () => {
    const controller = new AbortController();
    const all = ask("timeout", {}, controller.signal);
    controller.abort();
    expect(await all).toMatchObject([{ type: "error", error: { aborted: true } }]);
  });

  test("loops-forever calls the first tool again and again with valid arguments", async () => {
    const messages: PromptMessage[] = [hello, answered, answered, answered];
    const tools = [weather, { ...weather, name: "other" }];
    const expected = { type: "tool_call", name: "weather", arguments: '{"city":"text","days":3}' };
    expect(await ask("loops-forever", { tools })).toMatchObject([expected, { finish: "tool_calls" }]);
    expect(await ask("loops-forever", { tools, messages })).toMatchObject([expected, { finish: "tool_calls" }]);
  });

  test("malformed-tool-args breaks its arguments once and ends after the tool's result", async () => {
    const [call] = await ask("malformed-tool-args", { tools: [weather] });
    expect(call).toMatchObject({ type: "tool_call", name: "weather" });
    expect(() => JSON.parse(call?.type === "tool_call" ? call.arguments : "{}")).toThrow();
    const result: PromptMessage = {
      role: "tool",
      call_id: "call_1",
      tool: "weather",
      output: "not JSON",
      is_error: true,
    };
    const all = await ask("malformed-tool-args", { tools: [weather], messages: [hello, answered, result] });
    expect(all.at(-1)).toMatchObject({ type: "done", finish: "stop" });
    expect(texts(all).join("")).not.toBe("");
  });

  test.each(["loops-forever", "malformed-tool-args"])("%s ends when there is no tool", async (name) => {
    expect((await ask(name)).at(-1)).toMatchObject({ type: "done", finish: "stop" });
  });
});

test.each(testModelNames)("test/%s ends at once when it is aborted before it starts", async (name) => {
  const all = await ask(name, script({ text: "one" }), AbortSignal.abort());
  expect(all).toMatchObject([{ type: "error", error: { aborted: true, retryable: false } }]);
});

describe("an answer longer than its maximum", () => {
  const max = (max_output_tokens: number) => ({ settings: { max_output_tokens } });

  test("ends in the middle and is counted so far", async () => {
    const all = await ask("echo", max(2));
    expect(texts(all)).toEqual(["Hello ", "there,  "]);
    expect(all.at(-1)).toMatchObject({ type: "done", finish: "length", usage: { output_tokens: 2 } });
    expect((await ask("echo", max(3))).at(-1)).toMatchObject({ finish: "stop", usage: { output_tokens: 3 } });
    expect((await ask("refusal", max(2))).at(-1)).toMatchObject({ finish: "length", usage: { output_tokens: 2 } });
  });

  test("is also cut in its reasoning, and makes no call that does not fit", async () => {
    const entry = { reasoning: "one two", text: "three", tool_calls: [{ name: "weather", arguments: { a: "b c" } }] };
    const cut = async (max_output_tokens: number) => {
      const all = await ask("script", { settings: { script: [entry], max_output_tokens } });
      return [texts(all).join(""), all.some(({ type }) => type === "tool_call"), all.at(-1)];
    };
    expect(await cut(1)).toMatchObject(["one ", false, { finish: "length", usage: { reasoning_tokens: 1 } }]);
    expect(await cut(4)).toMatchObject(["one twothree", false, { finish: "length", usage: { output_tokens: 3 } }]);
    expect(await cut(5)).toMatchObject(["one twothree", true, { finish: "tool_calls", usage: { output_tokens: 5 } }]);
  });
});

test.each(["nothing", "toString", "__proto__"])("test/%s is not a model", async (name) => {
  expect(await ask(name)).toMatchObject([{ type: "error", error: { code: "model_not_available" } }]);
});

test.each([
  [{}, {}],
  [{ type: "object", properties: { a: { type: "string" } } }, {}],
  [{ required: ["a"], properties: { a: { enum: ["x", "y"] } } }, { a: "x" }],
  [{ required: ["a"], properties: { a: { const: 7 } } }, { a: 7 }],
  [{ required: ["a"], properties: { a: { type: ["null", "string"] } } }, { a: null }],
  [
    { required: ["a"], properties: { a: { type: "array", minItems: 2, items: { type: "boolean" } } } },
    { a: [true, true] },
  ],
  [{ required: ["a"], properties: { a: { type: "string", minLength: 6, maxLength: 8 } } }, { a: "textxx" }],
  [{ required: ["a"], properties: { a: { type: "number", exclusiveMinimum: 4 } } }, { a: 5 }],
  [
    { required: ["a"], properties: { a: { type: "object", required: ["b"], properties: { b: { default: 1 } } } } },
    { a: { b: 1 } },
  ],
  [{ required: ["a"] }, { a: {} }],
])("arguments for %j are %j", (schema, expected) => {
  expect(exampleArguments(schema)).toEqual(expected);
});
