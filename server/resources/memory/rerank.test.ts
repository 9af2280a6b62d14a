import { describe, expect, test } from "bun:test";
import type { Rerank } from "../../domain/agent-snapshot.ts";
import { BudgetError, type Pay, unpaid } from "../../runtime/models/spend-guard.ts";
import type { Match } from "../../runtime/retrieval/vector-search/searcher.ts";
import { withEnoughTime } from "../../testing/enough-time.ts";
import { readScores } from "./llm-reranker.ts";
import { createRankMatches } from "./rerank.ts";

const scope = { project_id: "proj_1", environment: "test" as const };
const key = "sk-rerank-0123456789";

interface Asked {
  path: string;
  authorization: string | null;
  body: Record<string, unknown>;
}

type Answer = (asked: Asked) => Response | Promise<Response>;

/** Starts a reranker on loopback, and creates a client of it. */
function serve(answer: Answer, { base = "/v1", provider = "openai_compatible", wait_ms = 5000, pay = unpaid } = {}) {
  const asked: Asked[] = [];
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    idleTimeout: 0,
    async fetch(request) {
      const body = (await request.json()) as Record<string, unknown>;
      const { pathname: path } = new URL(request.url);
      const one = { path, authorization: request.headers.get("authorization"), body };
      asked.push(one);
      return answer(one);
    },
  });
  const base_url = `${server.url.origin}${base}`;
  const connection = { name: "gpu", provider: provider as "openai_compatible", base_url, api_key: key };
  const rank = createRankMatches({ resolve: (model) => ({ connection, model }), wait_ms, pay });
  return {
    asked,
    rank: (matches: readonly Match[], signal?: AbortSignal, by: Partial<Rerank> = {}) =>
      rank(matches, { query: "question", by: { model: "cross", candidates: 50, ...by }, payer: scope }, signal),
    [Symbol.asyncDispose]: () => server.stop(true),
  };
}

const found: Match[] = ["a", "b", "c"].map((text, index) => ({
  entry_id: `ment_${text}`,
  file_id: null,
  chunk_index: 0,
  text,
  page: null,
  heading: null,
  metadata: {},
  score: 0.9 - index / 10,
  score_parts: { vector: 0.9 - index / 10, keyword: null },
}));

const scored = (...scores: number[]) => scores.map((relevance_score, index) => ({ index, relevance_score }));
const results = (list: unknown) => Response.json({ results: list });
const order = (matches: readonly Match[]) => matches.map(({ text }) => text).join("");

test("passages are sorted by a server with the API of Cohere, Jina and vLLM, with its scores and the connection's key", async () => {
  await using it = serve(() => results(scored(0.1, 0.3, 0.8).reverse()));
  const { matches, error } = await it.rank(found);
  expect([error, order(matches), matches.map(({ score }) => score)]).toEqual([null, "cba", [0.8, 0.3, 0.1]]);
  expect(matches[0]!.score_parts).toEqual(found[2]!.score_parts);
  const body = { model: "cross", query: "question", documents: ["a", "b", "c"], top_n: 3 };
  expect(it.asked).toEqual([{ path: "/v1/rerank", authorization: `Bearer ${key}`, body }]);
});

test("a Text Embeddings Inference server is called by its own API, from the second time on without a detour", async () => {
  await using it = serve(({ path, body }) =>
    path === "/rerank" && Array.isArray(body.texts)
      ? Response.json(scored(0.2, 0.9, 0.4).map(({ index, relevance_score: score }) => ({ index, score })))
      : new Response("missing field `texts`", { status: 422 }),
  );
  expect(order((await it.rank(found)).matches)).toBe("bca");
  expect(order((await it.rank(found)).matches)).toBe("bca");
  expect(it.asked.map(({ path }) => path)).toEqual(["/v1/rerank", "/rerank", "/rerank"]);
  expect(it.asked[2]!.body).toEqual({ query: "question", texts: ["a", "b", "c"], truncate: true });
});

test("scores are numbers, however many digits a server writes", async () => {
  const written = ["0.10000000000000001", "0.8999999999999999111821580299874768", "1e-400"];
  const list = written.map((score, index) => `{"index":${index},"relevance_score":${score}}`);
  await using it = serve(() => new Response(`{"results":[${list.join(",")}]}`));
  const { matches, error } = await it.rank(found);
  expect([error, order(matches), matches.map(({ score }) => score)]).toEqual([
    null,
    "bac",
    [0.8999999999999999, 0.1, 0],
  ]);
  expect(readScores(`{"scores":[{"passage":1,"score":4.0000000000000000001}]}`, 1)).toEqual([0.4]);
});

test("unbounded scores keep their order between 0 and 1", async () => {
  await using it = serve(() => results(scored(-4, 7.5, 0)));
  const { matches } = await it.rank(found);
  expect(order(matches)).toBe("bca");
  for (const { score } of matches) expect(score > 0 && score < 1).toBe(true);
});

describe("passages keep their order, with a reason, when the server", () => {
  test.each<[string, Answer, string]>([
    [
      "names a passage that is not there",
      () => results(scored(1, 1, 1).map((one) => ({ ...one, index: one.index + 1 }))),
      "not sent",
    ],
    ["names one below the first", () => results([{ index: -1, relevance_score: 1 }, ...scored(1, 1)]), "not sent"],
    ["names one twice", () => results([...scored(1, 1), { index: 0, relevance_score: 0 }]), "not sent"],
    ["names one by half a number", () => results([...scored(1, 1), { index: 1.5, relevance_score: 0 }]), "not sent"],
    ["ranks too few", () => results(scored(1, 0.5)), "2 of 3"],
    ["ranks too many", () => results(scored(1, 0.5, 0.2, 0.1)), "4 of 3"],
    ["gives no number", () => results([...scored(1, 1), { index: 2, relevance_score: "NaN" }]), "not a number"],
    [
      "gives a number without end",
      () => new Response('[{"index":0,"score":1e999},{"index":1,"score":1},{"index":2,"score":1}]'),
      "not a number",
    ],
    ["gives null", () => results([null, null, null]), "not sent"],
    ["answers NaN", () => new Response('{"results": NaN}'), "cannot be read"],
    ["answers nothing", () => new Response(""), "cannot be read"],
    ["answers null", () => new Response("null"), "cannot be read"],
    [
      "answers more than fits",
      () => results(scored(1, 1, 1).map((one) => ({ ...one, document: "x".repeat(1e6) }))),
      "cannot be read",
    ],
    ["fails, with the key in its words", () => new Response(`bad key ${key}`, { status: 500 }), "status 500"],
    [
      "sends the request elsewhere",
      () => new Response(null, { status: 307, headers: { location: "http://127.0.0.1:1/" } }),
      "status 307",
    ],
    ["understands nothing", () => new Response(null, { status: 404 }), "status 404"],
  ])("%s", async (_, answer, reason) => {
    await using it = serve(answer);
    const { matches, error } = await it.rank(found);
    expect(matches).toEqual(found);
    expect(error).toEqual({ code: "rerank_failed", message: expect.stringContaining(reason) });
    expect(error!.message).not.toContain(key);
  });

  test.each<[string, Answer]>([
    ["does not answer", () => new Promise<Response>(() => {})],
    ["stops in the middle", () => new Response(new ReadableStream({ start: (body) => body.enqueue("[") }))],
  ])("%s", async (_, answer) => {
    await using it = serve(answer, { wait_ms: 200 });
    const message = "The reranker did not answer within 0.2 seconds.";
    expect(await it.rank(found)).toEqual({ matches: found, error: { code: "rerank_failed", message } });
  });
});

test("a provider without rerankers is not called", async () => {
  await using it = serve(() => results([]), { provider: "anthropic" });
  expect((await it.rank(found)).error?.code).toBe("model_not_available");
  expect(it.asked).toEqual([]);
});

test("only the first search waits for a reranker that does not answer", async () => {
  const asked = await withEnoughTime(200, async (wait_ms) => {
    await using it = serve(() => new Promise<Response>(() => {}), { wait_ms });
    const first = await it.rank(found);
    expect(await it.rank(found)).toEqual(first);
    return it.asked.length || null; // Null: the time was over before the request arrived.
  });
  expect(asked).toBe(1);
});

test("the usage that a reranker reports is paid; without a report it stays unknown", async () => {
  const read: (number | null)[] = [];
  const pay: Pay = (_payer, { model }, make) =>
    make(({ usage }) => void (model === "cross" && read.push(usage.input_tokens)));
  const said = [{ usage: { total_tokens: 42 } }, { meta: { tokens: { input_tokens: 17 } } }, {}, { usage: null }];
  await using it = serve(() => Response.json({ results: scored(1, 1, 1), ...said[it.asked.length - 1] }), { pay });
  for (const _ of said) expect((await it.rank(found)).error).toBeNull();
  expect(read).toEqual([42, 17, null, null]);
});

test("a reranker is not called if the budget has no room for it, and the order stays", async () => {
  const pay: Pay = () => Promise.reject(new BudgetError("Nothing is left."));
  await using it = serve(() => results(scored(1, 1, 1)), { pay });
  const error = { code: "budget_exceeded", message: "Nothing is left." };
  for (const type of [undefined, "chat"] as const)
    expect(await it.rank(found, undefined, { type })).toEqual({ matches: found, error });
  expect(it.asked).toEqual([]);
});

describe("a chat model", () => {
  /** Returns a response with this content and its usage. */
  const says = (content: string): Response => {
    const chunks = [
      { choices: [{ index: 0, delta: { role: "assistant", content } }] },
      { choices: [{ index: 0, delta: {}, finish_reason: "stop" }] },
      { choices: [], usage: { prompt_tokens: 300, completion_tokens: 20, total_tokens: 320 } },
    ];
    const lines = [
      ...chunks.map((chunk) => JSON.stringify({ id: "c", object: "chat.completion.chunk", ...chunk })),
      "[DONE]",
    ];
    return new Response(lines.map((line) => `data: ${line}\n\n`).join(""), {
      headers: { "content-type": "text/event-stream" },
    });
  };
  const chat = { type: "chat", model: "small" } as const;

  test("rates the passages that it is shown with the question, and its input and output are paid", async () => {
    const spent: unknown[] = [];
    const pay: Pay = (_payer, { request }, make) =>
      make(({ usage }) => void spent.push([request.settings.max_output_tokens! > 0, usage]));
    const answer = '```json\n{"scores": [{"passage": 3, "score": 9}, {"passage": 2, "score": 4}]}\n```';
    await using it = serve(() => says(answer), { pay });
    const { matches, error } = await it.rank(found, undefined, chat);
    expect([error, order(matches), matches.map(({ score }) => score)]).toEqual([null, "cba", [0.9, 0.4, 0]]);
    expect(it.asked.map(({ path }) => path)).toEqual(["/v1/chat/completions"]);
    const { messages } = it.asked[0]!.body as { messages: { role: string; content: string }[] };
    expect(JSON.parse(messages.at(-1)!.content)).toEqual({
      question: "question",
      passages: [1, 2, 3].map((passage) => ({ passage, text: found[passage - 1]!.text })),
    });
    expect(spent).toEqual([[true, expect.objectContaining({ input_tokens: 300, output_tokens: 20 })]]);
  });

  test("reads only the beginning of a long passage, so that its price is limited", async () => {
    await using it = serve(() => says('{"scores": []}'));
    const long = found.map((match) => ({ ...match, text: match.text.repeat(100_000) }));
    expect((await it.rank(long, undefined, chat)).error).toBeNull();
    expect(JSON.stringify(it.asked[0]!.body).length).toBeLessThan(10_000);
  });

  test.each([
    "I cannot do that.",
    '{"scores": [{"passage": 4, "score": 9}]}',
    '{"scores": [{"passage": 1}]}',
    "{}",
    "{",
  ])("that answers %j leaves the order unchanged, with a reason", async (answer) => {
    await using it = serve(() => says(answer));
    expect(await it.rank(found, undefined, chat)).toEqual({
      matches: found,
      error: { code: "rerank_failed", message: "The model's answer is no list of scores." },
    });
  });
});

test("a search ends when its client disconnects", async () => {
  const leave = new AbortController();
  await using it = serve(() => {
    leave.abort();
    return new Promise<Response>(() => {});
  });
  await expect(it.rank(found, leave.signal)).rejects.toThrow(/abort/i);
});
