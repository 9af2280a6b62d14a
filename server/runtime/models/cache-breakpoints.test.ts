import { afterAll, expect, test } from "bun:test";
import { type CacheAnswer, startAnthropicCache } from "../../testing/anthropic-cache.ts";
import { withCacheBreakpoints } from "./chat-cache.ts";
import { chatRequest } from "./chat-request.ts";
import type { AssistantPart, Connection, ModelEvent, ModelRequest, PromptMessage } from "./model.ts";
import { openModel } from "./registry.ts";

// Each test is a report of caching that fails in another product.

let now = 0;
let answer: CacheAnswer = { text: "Good." };
const anthropic = startAnthropicCache(() => answer, { now: () => now });
afterAll(() => anthropic[Symbol.asyncDispose]());

const auto = { prompt_caching: "auto" } as const;
const look = { name: "look", description: "Looks.", parameters: { type: "object", properties: {} } };
const long = "All people are born free and equal in dignity and rights. ".repeat(100);
const system = { role: "system", content: long } satisfies PromptMessage;
const user = (content: string): PromptMessage => ({ role: "user", content });
const says = (text: string): PromptMessage => ({ role: "assistant", parts: [{ type: "text", text }] });
const call = (id: string): AssistantPart => ({ type: "tool_call", id, name: "look", arguments: "{}" });
const result = (call_id: string, output = "Seen."): PromptMessage => ({
  role: "tool",
  call_id,
  tool: "look",
  output,
  is_error: false,
});

const connection: Connection = { name: "anthropic", provider: "anthropic", base_url: anthropic.base_url, api_key: "k" };

async function ask(messages: PromptMessage[], more: Partial<ModelRequest> = {}, model = "claude-sonnet-4-5") {
  const request: ModelRequest = { messages, tools: [look], settings: auto, ...more };
  const events = await Array.fromAsync(
    (await openModel(connection, model)).stream(request, new AbortController().signal),
  );
  expect(errorOf(events)).toBeNull();
  const body = JSON.parse(anthropic.bodies.at(-1)!);
  return { events, body, usage: anthropic.usages.at(-1)!, marks: marksIn(body) };
}

const errorOf = (events: ModelEvent[]) => events.find((event) => event.type === "error") ?? null;

interface Marked {
  type?: string;
  text?: string;
  cache_control?: unknown;
}

/** The marked blocks of a request, each as `tools`, `system` or its place among the messages, with its type. */
function marksIn(body: { tools?: Marked[]; system?: Marked[]; messages: { content: Marked[] }[] }): string[] {
  const of = (blocks: Marked[] = [], name: string) =>
    blocks.flatMap((block) => (block.cache_control ? [`${name} ${block.type ?? "tool"}`] : []));
  return [
    ...of(body.tools, "tools"),
    ...of(body.system, "system"),
    ...body.messages.flatMap(({ content }, index) => of(content, String(index))),
  ];
}

test("tools, the system prompt and the ends of the last two requests are marked", async () => {
  const messages = [
    system,
    user("One?"),
    says("One."),
    user("Two?"),
    { role: "assistant", parts: [call("a")] },
    result("a"),
  ] as PromptMessage[];
  expect((await ask(messages)).marks).toEqual(["tools tool", "system text", "2 text", "4 tool_result"]);
});

test("with variables, the system prompt is marked before the first of them, in place of the tools", async () => {
  const content = `${long}Serve Ann.`;
  const asked = await ask([{ role: "system", content }, user("Hi")], {
    settings: { ...auto, stable_length: long.length },
  });
  expect(asked.marks).toEqual(["system text", "system text", "0 text"]);
  expect(asked.body.system.map(({ text }: { text: string }) => text)).toEqual([long, "Serve Ann."]);
  for (const stable_length of [0, content.length]) {
    const whole = await ask([{ role: "system", content }, user("Hi")], { settings: { ...auto, stable_length } });
    expect(whole.body.system).toHaveLength(1);
  }
});

test("OpenRouter gets the mark before the first variable, for Gemini alone", () => {
  const messages: Record<string, unknown>[] = [
    { role: "system", content: "Be kind. Serve Ann." },
    { role: "user", content: "Hi" },
  ];
  const settings = { ...auto, stable_length: "Be kind. ".length };
  const mark = { cache_control: { type: "ephemeral" } };
  const stable = { type: "text", text: "Be kind. ", ...mark };
  const rest = { type: "text", text: "Serve Ann." };
  expect(withCacheBreakpoints({ messages }, "google/gemini-3-pro", { settings }).messages).toEqual([
    { role: "system", content: [stable, rest] },
    { role: "user", content: "Hi" },
  ]);
  expect(withCacheBreakpoints({ messages }, "anthropic/claude-sonnet-5", { settings }).messages).toEqual([
    { role: "system", content: [stable, { ...rest, ...mark }] },
    { role: "user", content: [{ type: "text", text: "Hi", ...mark }] },
  ]);
});

test("nothing is marked if the agent does not cache, or the call is not the agent's", async () => {
  expect((await ask([system, user("Hi")], { settings: { prompt_caching: "off" } })).marks).toEqual([]);
  expect((await ask([system, user("Hi")], { settings: {} })).marks).toEqual([]);
});

test("a turn of thirty parallel calls, which is longer than Anthropic searches, reads the whole request before it", async () => {
  const first = [system, user("Look everywhere.")];
  const { usage } = await ask(first);
  const ids = Array.from({ length: 30 }, (_, index) => `call_${index}`);
  const second = [
    ...first,
    { role: "assistant", parts: ids.map(call) } as PromptMessage,
    ...ids.map((id) => result(id)),
  ];
  const next = await ask(second);
  expect(next.usage.cache_read_input_tokens).toBe(usage.cache_creation_input_tokens + usage.cache_read_input_tokens);
  expect((await ask([...second, says("Done."), user("Thanks.")])).usage.input_tokens).toBe(0);
});

test("no request has more than four marks, however long its conversation is", async () => {
  const messages: PromptMessage[] = [system];
  for (let turn = 0; turn < 12; turn++) {
    const ids = [`a${turn}`, `b${turn}`, `c${turn}`];
    messages.push(user("Go on."), { role: "assistant", parts: ids.map(call) }, ...ids.map((id) => result(id)));
    expect((await ask(messages)).marks.length).toBeLessThanOrEqual(4);
  }
});

test("an empty text is never marked: the block before it is", async () => {
  const empty = [
    { ...system, content: " " },
    user("Hi"),
    { role: "assistant", parts: [call("a")] },
    result("a", ""),
  ] as PromptMessage[];
  expect((await ask(empty)).marks).toEqual(["tools tool", "0 text", "1 tool_use"]);
});

test("signed thinking is never marked, not even at the end of a turn", async () => {
  answer = { thinking: "Hm.", calls: [{ name: "look", input: {} }] };
  const first = await ask([system, user("Hi")]);
  answer = { text: "Good." };
  const metadata = first.events.find((event) => event.type === "metadata")!.metadata;
  const thought: AssistantPart = { type: "reasoning", text: "Hm.", metadata };
  const turn = [
    system,
    user("Hi"),
    { role: "assistant", parts: [thought, call("a")] },
    result("a", ""),
  ] as PromptMessage[];
  const { marks, body } = await ask(turn);
  expect(body.messages[1].content[0]).toMatchObject({ type: "thinking", signature: expect.stringContaining("signed") });
  expect(marks).toEqual(["tools tool", "system text", "0 text", "1 tool_use"]);
  const only = [system, user("Hi"), { role: "assistant", parts: [thought] }, user("Go on.")] as PromptMessage[];
  expect((await ask(only)).marks).toEqual(["tools tool", "system text", "0 text", "2 text"]);
});

test("a message that ends with an image has its mark on the image", async () => {
  const image = { file_id: "file_1", mime_type: "image/png", sha256: "0", data: "iVBORw0KGgo=" };
  const { marks } = await ask([system, { role: "user", content: "What is it?", images: [image] }]);
  expect(marks).toEqual(["tools tool", "system text", "0 image"]);
});

test("a tool's result is marked itself, and not a text within it", async () => {
  const { body } = await ask([system, user("Hi"), { role: "assistant", parts: [call("a")] }, result("a")]);
  expect(body.messages[2].content).toEqual([
    { type: "tool_result", tool_use_id: "a", content: "Seen.", cache_control: { type: "ephemeral" } },
  ]);
});

test("tokens read and written are part of the prompt's, each counted once", async () => {
  const { events, usage } = await ask([system, user(`Hi ${crypto.randomUUID()}`)]);
  const { input_tokens, cache_read_input_tokens: read, cache_creation_input_tokens: written } = usage;
  expect(written).toBeGreaterThan(0);
  expect(events.at(-1)).toMatchObject({
    usage: {
      input_tokens: input_tokens + read + written,
      cached_input_tokens: read,
      cache_write_5m_tokens: written,
      cache_write_1h_tokens: 0,
    },
  });
});

test("a prompt below the model's least length is not cached, and costs no more for that", async () => {
  const { usage } = await ask([system, user(`Hi ${crypto.randomUUID()}`)], {}, "claude-opus-4-5");
  expect(usage).toMatchObject({ cache_read_input_tokens: 0, cache_creation_input_tokens: 0 });
});

test("five minutes after its last use, the cache is lost, and no sooner", async () => {
  const messages = [system, user(`Hi ${crypto.randomUUID()}`)];
  const { usage } = await ask(messages);
  const whole = usage.cache_read_input_tokens + usage.cache_creation_input_tokens;
  for (let minutes = 0; minutes < 12; minutes += 4) {
    now += 4 * 60_000;
    expect((await ask(messages)).usage.cache_read_input_tokens).toBe(whole);
  }
  now += 5 * 60_000;
  expect((await ask(messages)).usage.cache_read_input_tokens).toBe(0);
});

test("a thinking budget follows a run's shrinking budget in steps, because each change loses the conversation's cache", async () => {
  let messages = [system, user(`Hi ${crypto.randomUUID()}`)];
  let [misses, calls] = [0, 0];
  for (let max_output_tokens = 60_000; max_output_tokens > 40_000; max_output_tokens -= 1000) {
    const settings = { ...auto, max_output_tokens, reasoning_effort: "medium" as const };
    const { usage, body } = await ask(messages, { settings });
    expect(body.thinking.budget_tokens + 1024).toBeLessThanOrEqual(max_output_tokens);
    messages = [...messages, says("Yes."), user("Go on.")];
    if (calls++ > 0 && usage.input_tokens + usage.cache_creation_input_tokens > 100) misses++;
  }
  // Without steps, each of the twenty calls would miss.
  expect([calls, misses]).toEqual([20, 2]);
});

test("a call that no other follows writes only what other runs share", async () => {
  const settings = { ...auto, is_last_prompt: true } as const;
  const { marks } = await ask([system, user(long)], { tools: [], settings });
  expect(marks).toEqual(["system text"]);
});

const sentTo = async (connection: Connection, model: string, settings: ModelRequest["settings"]) => {
  let body = "";
  const fetch = (async (_: unknown, init: RequestInit) => {
    body = String(init.body);
    return new Response("", { status: 500 });
  }) as unknown as typeof globalThis.fetch;
  const request: ModelRequest = { messages: [system, user("Hi")], tools: [], settings };
  await Array.fromAsync((await openModel(connection, model, fetch)).stream(request, new AbortController().signal));
  return JSON.parse(body);
};

const keyed = { ...auto, prompt_cache_key: "0123" };
const openai: Connection = { name: "openai", provider: "openai", base_url: null, api_key: "k" };
const compatible = (base_url: string): Connection => ({
  name: "gpu",
  provider: "openai_compatible",
  base_url,
  api_key: "k",
});

test("the key of a cache goes to OpenAI alone, because strict servers refuse a request for it", async () => {
  expect((await sentTo(openai, "gpt-5", keyed)).prompt_cache_key).toBe("0123");
  expect((await sentTo(compatible("https://api.openai.com/v1"), "gpt-5", keyed)).prompt_cache_key).toBe("0123");
  expect((await sentTo(compatible("https://eu.api.openai.com/v1"), "gpt-5", keyed)).prompt_cache_key).toBe("0123");
  for (const address of [
    "https://integrate.api.nvidia.com/v1",
    "https://api.groq.com/openai/v1",
    "http://api.openai.com.example.net/v1",
  ])
    expect(await sentTo(compatible(address), "gpt-5", keyed)).not.toHaveProperty("prompt_cache_key");
  expect(await sentTo({ ...openai, base_url: "http://gateway.example/v1" }, "gpt-5", keyed)).not.toHaveProperty(
    "prompt_cache_key",
  );
  expect(await sentTo(openai, "gpt-5", { ...keyed, prompt_caching: "off" })).not.toHaveProperty("prompt_cache_key");
});

test("models of OpenAI that find a prompt only at marks have one before the first variable", async () => {
  const { input } = await sentTo(openai, "gpt-6", { ...auto, stable_length: 10 });
  expect(input.slice(0, 2)).toEqual([
    {
      role: "developer",
      content: [{ type: "input_text", text: long.slice(0, 10), prompt_cache_breakpoint: { mode: "explicit" } }],
    },
    { role: "developer", content: long.slice(10) },
  ]);
});

test("models of OpenAI that find a prompt only at marks have one after the instructions", async () => {
  const marked = {
    role: "developer",
    content: [{ type: "input_text", text: long, prompt_cache_breakpoint: { mode: "explicit" } }],
  };
  for (const model of ["gpt-5.6", "gpt-5.6-mini", "gpt-5.12", "gpt-6"])
    expect((await sentTo(openai, model, keyed)).input[0]).toEqual(marked);
  for (const model of ["gpt-5", "gpt-5.1", "gpt-4.1", "o3"])
    expect(JSON.stringify(await sentTo(openai, model, keyed))).not.toContain("prompt_cache_breakpoint");
  expect(JSON.stringify(await sentTo(openai, "gpt-6", { prompt_caching: "off" }))).not.toContain(
    "prompt_cache_breakpoint",
  );
});

const router: Connection = {
  name: "openrouter",
  provider: "openai_compatible",
  base_url: "https://openrouter.ai/api/v1",
  api_key: "k",
};
const ephemeral = { cache_control: { type: "ephemeral" } };

test("OpenRouter gets marks in the texts of models that need them, and other servers get none", async () => {
  expect((await sentTo(router, "anthropic/claude-sonnet-4.5", auto)).messages).toEqual([
    { role: "system", content: [{ type: "text", text: long, ...ephemeral }] },
    { role: "user", content: [{ type: "text", text: "Hi", ...ephemeral }] },
  ]);
  expect((await sentTo(router, "google/gemini-2.5-pro", auto)).messages).toEqual([
    { role: "system", content: [{ type: "text", text: long, ...ephemeral }] },
    { role: "user", content: "Hi" },
  ]);
  for (const [connection, model] of [
    [router, "openai/gpt-5"],
    [router, "deepseek/deepseek-chat"],
    [compatible("http://127.0.0.1:8080/v1"), "anthropic/claude-sonnet-4.5"],
  ] as const)
    expect(JSON.stringify(await sentTo(connection, model, auto))).not.toContain("cache_control");
});

test("OpenRouter gets one mark for all results of parallel calls, and none without a text", () => {
  const ids = ["a", "b", "c"];
  const messages = [
    system,
    user("Go."),
    { role: "assistant", parts: ids.map(call) },
    ...ids.map((id) => result(id, id === "c" ? "" : "Seen.")),
  ] as PromptMessage[];
  const request: ModelRequest = { messages, tools: [look], settings: auto };
  const body = chatRequest("anthropic/claude-sonnet-4.5", request, { streamed: true, format: "schema" });
  const marked = withCacheBreakpoints(body, "anthropic/claude-sonnet-4.5", request);
  expect(marked.messages.map((message) => JSON.stringify(message).includes("cache_control"))).toEqual([
    true,
    true,
    false,
    false,
    true,
    false,
  ]);
  expect(marked.messages[4]).toEqual({
    role: "tool",
    tool_call_id: "b",
    content: [{ type: "text", text: "Seen.", ...ephemeral }],
  });
});

const sse = (...events: object[]) =>
  new Response(events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join(""), {
    headers: { "content-type": "text/event-stream" },
  });

/** Returns the usage of an answer, as this provider streams it. */
async function usageIn(provider: "anthropic" | "openai" | "openai_compatible", response: Response) {
  const fetch = (async () => response) as unknown as typeof globalThis.fetch;
  const model = await openModel({ ...connection, name: provider, provider }, "some-model", fetch);
  const request: ModelRequest = { messages: [user("Hi")], tools: [], settings: auto };
  const last = (await Array.fromAsync(model.stream(request, new AbortController().signal))).at(-1);
  return last?.type === "done" ? last.usage : last;
}

test("tokens that Anthropic wrote for an hour are told apart from those of five minutes", async () => {
  const answerWith = (usage: object) =>
    sse(
      {
        type: "message_start",
        message: {
          id: "m",
          type: "message",
          role: "assistant",
          model: "m",
          content: [],
          usage: { input_tokens: 10, output_tokens: 1, ...usage },
        },
      },
      { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
      { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "Hi" } },
      { type: "content_block_stop", index: 0 },
      { type: "message_delta", delta: { stop_reason: "end_turn", stop_sequence: null }, usage: { output_tokens: 2 } },
      { type: "message_stop" },
    );
  const split = { ephemeral_5m_input_tokens: 30, ephemeral_1h_input_tokens: 70 };
  const counted = { cache_read_input_tokens: 0, cache_creation_input_tokens: 100 };
  expect(await usageIn("anthropic", answerWith({ ...counted, cache_creation: split }))).toMatchObject({
    input_tokens: 110,
    cache_write_5m_tokens: 30,
    cache_write_1h_tokens: 70,
  });
  const unsplit = await usageIn("anthropic", answerWith(counted));
  expect(unsplit).toMatchObject({ input_tokens: 110, cache_write_5m_tokens: 100 });
  expect(unsplit).not.toHaveProperty("cache_write_1h_tokens");
  // A server that counts nothing has written nothing that it would charge for.
  expect(await usageIn("anthropic", answerWith({}))).not.toHaveProperty("cache_write_5m_tokens");
});

test("tokens that OpenAI and OpenRouter wrote to a cache are counted", async () => {
  const response = {
    id: "r",
    object: "response",
    created_at: 1,
    model: "m",
    output: [],
    status: "completed",
    usage: {
      input_tokens: 100,
      input_tokens_details: { cached_tokens: 20, cache_write_tokens: 60 },
      output_tokens: 2,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: 102,
    },
  };
  const counted = { input_tokens: 100, cached_input_tokens: 20, cache_write_5m_tokens: 60 };
  expect(await usageIn("openai", sse({ type: "response.completed", response }))).toMatchObject(counted);
  const usage = {
    prompt_tokens: 100,
    completion_tokens: 2,
    prompt_tokens_details: { cached_tokens: 20, cache_write_tokens: 60 },
  };
  const chat = sse({ choices: [{ index: 0, delta: { content: "Hi" }, finish_reason: "stop" }], usage });
  expect(await usageIn("openai_compatible", chat)).toMatchObject(counted);
});
