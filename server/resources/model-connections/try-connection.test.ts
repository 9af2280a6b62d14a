import { expect, test } from "bun:test";
import type { ConnectionCheck } from "../../domain/api-types/console.ts";
import { featureChecks } from "../../domain/connection-check.ts";
import type { Connection } from "../../runtime/models/model.ts";
import { rejection } from "../../testing/rejection.ts";
import { tryConnection } from "./try-connection.ts";

const key = "sk-canary-0123456789";

interface Body {
  model: string;
  messages: { role: string; content: unknown }[];
  tools?: unknown[];
  response_format?: unknown;
  reasoning_effort?: string;
  max_tokens?: number;
  max_completion_tokens?: number;
}

type Answer = { content?: string; reasoning_content?: string; tool_calls?: unknown[]; usage?: object } | Response;

/** Starts a server that answers requests for completions with the test's function. */
function serverOf(answer: (body: Body, index: number) => Answer | Promise<Answer>, models?: unknown[]) {
  const bodies: Body[] = [];
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    idleTimeout: 0,
    async fetch(request) {
      if (request.method === "GET")
        return models ? Response.json({ data: models }) : new Response(null, { status: 404 });
      const body = (await request.json()) as Body;
      const answered = await answer(body, bodies.push(body) - 1);
      return answered instanceof Response ? answered : streamOf(answered);
    },
  });
  const connection: Connection = {
    name: "gpu",
    provider: "openai_compatible",
    base_url: `http://127.0.0.1:${server.port}/v1`,
    api_key: key,
  };
  return { bodies, connection, [Symbol.asyncDispose]: () => server.stop(true) };
}

function streamOf({
  usage = { prompt_tokens: 10, completion_tokens: 2 },
  ...delta
}: Exclude<Answer, Response>): Response {
  const finish_reason = delta.tool_calls ? "tool_calls" : "stop";
  const chunks = [{ choices: [{ index: 0, delta }] }, { choices: [{ index: 0, delta: {}, finish_reason }], usage }];
  const text = chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join("");
  return new Response(`${text}data: [DONE]\n\n`, { headers: { "content-type": "text/event-stream" } });
}

const weather = { index: 0, id: "c", type: "function", function: { name: "weather", arguments: '{"city":"Oslo"}' } };
const refusalOf = (message: string, status = 400) => Response.json({ error: { message } }, { status });
const isLong = ({ messages }: Body) => String(messages[0]?.content).length > 1000;
const hasImage = ({ messages }: Body) => Array.isArray(messages.at(-1)?.content);

/** A server that takes everything. */
function able(body: Body, index: number): Answer {
  if (body.tools) return { tool_calls: [weather] };
  if (body.response_format) return { content: '{"capital":"Oslo"}' };
  if (body.reasoning_effort) return { reasoning_content: "7 × 13", content: "No" };
  if (hasImage(body)) return { content: "Red." };
  const cached_tokens = isLong(body) && index % 2 === 1 ? 1408 : 0;
  const usage = { prompt_tokens: 1500, completion_tokens: 1, prompt_tokens_details: { cached_tokens } };
  return { content: "ready", ...(isLong(body) && { usage }) };
}

const resultsOf = (checks: readonly ConnectionCheck[]) =>
  Object.fromEntries(checks.map(({ check, result }) => [check, result]));
const all = { model: "m", checks: featureChecks };

test("each feature is tried with one small request, in turn, and shown when it is done", async () => {
  await using server = serverOf(able);
  const shown: string[] = [];
  const done: number[] = [];
  const onCheck = ({ check }: ConnectionCheck) => {
    shown.push(check);
    done.push(server.bodies.length);
  };
  const result = await tryConnection(server.connection, { ...all, onCheck });
  expect(resultsOf(result.checks)).toEqual({
    reachable: "yes",
    key: "yes",
    answer: "yes",
    stream: "yes",
    tools: "yes",
    reasoning: "yes",
    structured_output: "yes",
    prompt_caching: "yes",
    images: "yes",
  });
  expect(shown).toEqual(result.checks.map(({ check }) => check));
  // The first request shows four checks; the cache needs two.
  expect(done).toEqual([1, 1, 1, 1, 2, 3, 4, 6, 7]);
  expect(result).toMatchObject({ ok: true, model: "m", output: "ready", error: null, adjustments: [] });
  expect(result.usage).toEqual({ input_tokens: 5 * 10 + 2 * 1500, output_tokens: 5 * 2 + 2 * 1 });
  expect(result.checks.find(({ check }) => check === "prompt_caching")?.message).toContain("1,408 of 1,500");
});

test("no request of a test may cost more than two thousand tokens of answer, and its prompts stay short", async () => {
  await using server = serverOf(able);
  await tryConnection(server.connection, all);
  for (const body of server.bodies)
    expect(body.max_tokens ?? body.max_completion_tokens ?? Number.POSITIVE_INFINITY).toBeLessThanOrEqual(2048);
  const lengths = server.bodies.map((body) => JSON.stringify(body).length);
  expect(Math.max(...lengths)).toBeLessThan(12_000);
});

test("the cost of a test is the sum of its requests, and unknown with an unknown price", async () => {
  await using server = serverOf(able);
  const price = { input: 1, cached_input: 0.1, output: 10, as_of: null, source: "operator" } as const;
  const { cost_usd } = await tryConnection(server.connection, { ...all, priceOf: () => price });
  expect(cost_usd).toBeCloseTo((5 * 10 + 1500 + 92 + 1408 * 0.1 + 12 * 10) / 1e6, 9);
  expect((await tryConnection(server.connection, all)).cost_usd).toBeNull();
});

test("a refused feature has the server's own words, and the others go on", async () => {
  await using server = serverOf((body, index) =>
    body.tools
      ? refusalOf("This model does not support tools")
      : body.reasoning_effort
        ? refusalOf("Unknown parameter: reasoning_effort", 422)
        : hasImage(body)
          ? refusalOf(`No images. Your key is ${key}.`)
          : able(body, index),
  );
  const { ok, checks, usage } = await tryConnection(server.connection, all);
  // A refused request costs nothing. That for reasoning is answered without the refused field.
  expect(usage).toEqual({ input_tokens: 3 * 10 + 2 * 1500, output_tokens: 3 * 2 + 2 * 1 });
  const words = (name: string) => checks.find(({ check }) => check === name);
  expect(ok).toBe(true);
  expect(words("tools")).toMatchObject({ result: "no", message: expect.stringContaining("does not support tools") });
  expect(words("reasoning")).toMatchObject({ result: "no", message: expect.stringContaining("reasoning_effort") });
  expect(words("images")).toMatchObject({ result: "no", message: expect.stringContaining("No images.") });
  expect(words("structured_output")?.result).toBe("yes");
  expect(JSON.stringify(checks)).not.toContain("canary");
});

test("a test shows that the server refused a schema, also if its answer to a request in words fits", async () => {
  await using server = serverOf((body, index) => {
    if (body.response_format) return refusalOf("response_format is not supported");
    return JSON.stringify(body.messages).includes("JSON Schema")
      ? { content: '{"capital":"Oslo"}' }
      : able(body, index);
  });
  const { checks } = await tryConnection(server.connection, { model: "m", checks: ["structured_output"] });
  expect(checks.at(-1)).toMatchObject({
    result: "no",
    message: expect.stringMatching(/response_format is not supported.*which worked/),
  });
});

test("a feature that is accepted without any effect is neither yes nor no", async () => {
  await using server = serverOf(() => ({ content: "Hi." }));
  const { checks } = await tryConnection(server.connection, all);
  expect(checks.slice(4).map(({ check, result }) => [check, result])).toEqual(
    featureChecks.map((check) => [check, "unknown"]),
  );
});

test("a rate limit in the middle says nothing about a feature", async () => {
  await using server = serverOf((body, index) => (body.tools ? refusalOf("Slow down", 429) : able(body, index)));
  const { checks } = await tryConnection(server.connection, { model: "m", checks: ["tools"] });
  expect(checks.at(-1)).toMatchObject({ check: "tools", result: "unknown" });
});

test("a refused key ends the test after one request", async () => {
  await using server = serverOf(() => refusalOf(`Incorrect API key provided: ${key}`, 401));
  const result = await tryConnection(server.connection, all);
  expect(resultsOf(result.checks)).toMatchObject({ reachable: "yes", key: "no", answer: "skipped", tools: "skipped" });
  expect(server.bodies).toHaveLength(1);
  expect(result).toMatchObject({ ok: false, error: { code: "model_not_available" } });
  expect(JSON.stringify(result)).not.toContain("canary");
});

test("a model that does not exist is not called a wrong key", async () => {
  await using server = serverOf(() => refusalOf("The model `m` does not exist", 404));
  const { checks } = await tryConnection(server.connection, all);
  expect(resultsOf(checks)).toMatchObject({ reachable: "yes", key: "yes", answer: "no", stream: "skipped" });
  expect(checks.find(({ check }) => check === "answer")?.message).toContain("does not exist");
});

test("a server that answers as a whole does not stream", async () => {
  const message = { role: "assistant", content: "ready" };
  await using server = serverOf(() =>
    Response.json({
      choices: [{ index: 0, message, finish_reason: "stop" }],
      usage: { prompt_tokens: 9, completion_tokens: 1 },
    }),
  );
  const { checks } = await tryConnection(server.connection, { model: "m" });
  expect(resultsOf(checks)).toEqual({ reachable: "yes", key: "yes", answer: "yes", stream: "no" });
});

// https://github.com/NousResearch/hermes-agent/issues/83128
test("a web page with status 200 is no working connection", async () => {
  await using server = serverOf(
    () => new Response("<!DOCTYPE html><h1>Welcome</h1>", { headers: { "content-type": "text/html" } }),
  );
  const { ok, checks } = await tryConnection(server.connection, all);
  expect([ok, resultsOf(checks).answer]).toEqual([false, "no"]);
});

// https://github.com/EKKOLearnAI/hermes-studio/issues/2503
test("a server without a list of models is tested by a model that is named, and asks for one otherwise", async () => {
  await using server = serverOf(able);
  expect((await tryConnection(server.connection, { model: "m" })).ok).toBe(true);
  const { ok, error, checks } = await tryConnection(server.connection, { model: null });
  expect([ok, resultsOf(checks).reachable]).toEqual([false, "yes"]);
  expect(error?.message).toContain("Name a model");
});

test("without a name, a listed model for chats is tested, and none that is out of use", async () => {
  await using server = serverOf(able, [
    { id: "a-text-embedding" },
    { id: "b-old", deprecated: true },
    { id: "c-chat" },
    { id: "openai/gpt-5-nano" },
  ]);
  expect((await tryConnection(server.connection, { model: null })).model).toBe("openai/gpt-5-nano");
  await using other = serverOf(able, [{ id: "a-text-embedding" }, { id: "b-old", deprecated: true }, { id: "c-chat" }]);
  expect((await tryConnection(other.connection, { model: null })).model).toBe("c-chat");
});

test("a server that is away is said to be away, with and without a model", async () => {
  const away: Connection = {
    name: "gpu",
    provider: "openai_compatible",
    base_url: "http://127.0.0.1:1/v1",
    api_key: key,
  };
  for (const model of ["m", null]) {
    const { ok, checks } = await tryConnection(away, { ...all, model });
    expect([ok, resultsOf(checks)]).toMatchObject([false, { reachable: "no", key: "skipped", tools: "skipped" }]);
  }
});

test("a test that is cancelled sends no further request", async () => {
  const end = new AbortController();
  await using server = serverOf((body, index) => {
    if (!body.tools) return able(body, index);
    end.abort(new Error("The page was left."));
    return new Promise<Response>(() => {});
  });
  const error = (await rejection(tryConnection(server.connection, { ...all, signal: end.signal }))) as Error;
  expect(error.message).toBe("The page was left.");
  expect(server.bodies).toHaveLength(2);
});

test("a provider's own list is asked for a model, with the key in the provider's header", async () => {
  const requests: string[] = [];
  const chunk = { choices: [{ index: 0, delta: { content: "ready" }, finish_reason: "stop" }] };
  await using server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch(request) {
      const { pathname, search } = new URL(request.url);
      requests.push(`${request.method} ${pathname}${search} ${request.headers.get("api-key")}`);
      if (pathname.endsWith("/models")) return Response.json({ data: [{ id: "gpt-5" }] });
      return new Response(`data: ${JSON.stringify(chunk)}\n\ndata: [DONE]\n\n`, {
        headers: { "content-type": "text/event-stream" },
      });
    },
  });
  const base_url = `http://127.0.0.1:${server.port}/openai/v1?api-version=preview`;
  const connection: Connection = { name: "azure", provider: "azure", base_url, api_key: "k-1" };
  expect(await tryConnection(connection, { model: null })).toMatchObject({ ok: true, model: "gpt-5", output: "ready" });
  expect(requests).toEqual([
    "GET /openai/v1/models?api-version=preview k-1",
    "POST /openai/v1/chat/completions?api-version=preview k-1",
  ]);
});

test("a part of a request that the server refuses is left out, and the test says so", async () => {
  await using server = serverOf((body) =>
    "stream_options" in body
      ? refusalOf("Unrecognized request argument supplied: stream_options")
      : { content: "ready" },
  );
  const { ok, adjustments } = await tryConnection(server.connection, { model: "m" });
  expect([ok, adjustments]).toEqual([true, [expect.stringMatching(/^stream_options: /)]]);
});
