import { describe, expect, test } from "bun:test";
import type { Provider } from "../../domain/providers.ts";
import { remoteEmbedding } from "./embedding.ts";

const key = "sk-test-0123456789abcdef";

interface Asked {
  path: string;
  headers: Headers;
  texts: string[];
  body: Record<string, unknown>;
}

type Answer = (asked: Asked, index: number) => Response | Promise<Response>;

/** Starts a provider on loopback that records the texts as each provider's SDK sends them. */
function serve(answer: Answer) {
  const asked: Asked[] = [];
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    async fetch(request) {
      const body = (await request.json()) as Record<string, unknown>;
      const one = { path: new URL(request.url).pathname, headers: request.headers, texts: textsOf(body), body };
      return answer(one, asked.push(one) - 1);
    },
  });
  const open = (
    provider: Provider,
    dimensions: number | null = 2,
    model = "some-model",
    api_key: string | null = key,
    timeout_ms = 60_000,
  ) =>
    remoteEmbedding({
      connection: { name: provider, provider, base_url: `${server.url}v1`, api_key },
      model,
      dimensions,
      timeout_ms,
    });
  return {
    asked,
    open,
    async [Symbol.asyncDispose]() {
      await server.stop(true);
    },
  };
}

interface Content {
  content: { parts: { text: string }[] };
}

function textsOf(body: Record<string, unknown>): string[] {
  if (Array.isArray(body.input)) return body.input;
  const requests = (body.requests as Content[] | undefined) ?? [body as unknown as Content];
  return requests.map(({ content }) => content.parts[0]!.text);
}

/** Returns vectors that identify the texts by their numbers, in OpenAI's or Google's format. */
const vectors: Answer = ({ path, texts }) => {
  const values = texts.map((text) => [Number(text) || 0, 1]);
  if (path.endsWith("batchEmbedContents"))
    return Response.json({ embeddings: values.map((numbers) => ({ values: numbers })) });
  if (path.endsWith("embedContent")) return Response.json({ embedding: { values: values[0] } });
  return Response.json({ data: values.map((embedding, index) => ({ index, embedding })) });
};

const inOrder = (vector: Float32Array) => Math.round(vector[0]! / vector[1]!);

describe.each<Provider>(["openai", "google", "ollama", "openai_compatible"])("%s", (provider) => {
  test("returns unit vectors in the order of the texts, over several requests", async () => {
    await using server = serve(vectors);
    const texts = Array.from({ length: 131 }, (_, index) => String(index));
    const given = await server.open(provider).embed(texts);
    expect(given.map(inOrder)).toEqual(texts.map(Number));
    for (const vector of given) expect(Math.hypot(...vector)).toBeCloseTo(1, 5);
    expect(server.asked.length).toBeGreaterThan(1);
    expect(server.asked.flatMap((one) => one.texts)).toEqual(texts);
  });

  test("gets the key of its connection, and a placeholder for empty texts", async () => {
    await using server = serve(vectors);
    await server.open(provider).embed(["", "  ", "half \ud800"]);
    const { headers, texts } = server.asked[0]!;
    expect([headers.get("authorization"), headers.get("x-goog-api-key")]).toContain(
      provider === "google" ? key : `Bearer ${key}`,
    );
    expect(texts).toEqual(["-", "-", "half \ufffd"]);
  });

  test.each([429, 500, 503])("a %i is retried after the requested time", async (status) => {
    await using server = serve((asked, index) =>
      index === 0 ? new Response("{}", { status, headers: { "retry-after": "0" } }) : vectors(asked, index),
    );
    expect(await server.open(provider).embed(["7"])).toHaveLength(1);
    expect(server.asked).toHaveLength(2);
  });

  test.each([
    [400, "embedding_failed"],
    [401, "model_not_available"],
    [403, "model_not_available"],
    [404, "model_not_available"],
  ])("a %i is not retried, and its key is in no message", async (status, code) => {
    await using server = serve(() => Response.json({ error: { message: `No ${key}.` } }, { status }));
    const failing = server.open(provider).embed(["7"]);
    await expect(failing).rejects.toMatchObject({ code, retryable: false });
    await expect(failing).rejects.not.toThrow(key);
    expect(server.asked).toHaveLength(1);
  });
});

test("a server without a key gets none", async () => {
  await using server = serve(vectors);
  await server.open("ollama", 2, "some-model", null).embed(["7"]);
  expect(server.asked[0]!.headers.has("authorization")).toBe(false);
});

test("a length is requested only from models that can shorten their vectors", async () => {
  await using server = serve(vectors);
  await server.open("openai", 2, "text-embedding-3-small").embed(["7"]);
  await server.open("openai", null, "text-embedding-3-small").embed(["7"]);
  await server.open("openai_compatible", 2, "text-embedding-3-small").embed(["7"]);
  await server.open("google", 2, "gemini-embedding-001").embed(["7"]);
  expect(server.asked.map(({ body }) => body.dimensions ?? body.outputDimensionality)).toEqual([
    2,
    undefined,
    undefined,
    2,
  ]);
});

const data = (...embeddings: unknown[]) => Response.json({ data: embeddings.map((embedding) => ({ embedding })) });

test.each<[string, () => Response, string]>([
  ["of another length", () => data([1, 2, 3]), "dimensions_mismatch"],
  ["of nothing but zeros", () => data([0, 0]), "embedding_failed"],
  ["too few", () => data(), "embedding_failed"],
  ["too many", () => data([1, 0], [0, 1]), "embedding_failed"],
])("vectors %s are refused", async (_, answer, code) => {
  await using server = serve(answer);
  await expect(server.open("openai_compatible").embed(["7"])).rejects.toMatchObject({ code, retryable: false });
});

test.each(['{"data":[{"embedding":[1e999,1]}]}', '{"data":[{"embedding":[1,', '{"data":{}}', "<html>"])(
  "a response like %j is refused, and not retried at once",
  async (body) => {
    await using server = serve(() => new Response(body));
    await expect(server.open("openai_compatible").embed(["7"])).rejects.toMatchObject({ code: "embedding_failed" });
    expect(server.asked).toHaveLength(1);
  },
);

test("all vectors of one response must have the same length", async () => {
  await using server = serve(() => data([1, 2, 3], [1, 2]));
  await expect(server.open("ollama", null).embed(["1", "2"])).rejects.toMatchObject({ code: "dimensions_mismatch" });
});

test("a busy provider is asked four times", async () => {
  await using server = serve(() => new Response("{}", { status: 429, headers: { "retry-after-ms": "1" } }));
  await expect(server.open("openai").embed(["7"])).rejects.toMatchObject({ code: "embedding_failed", retryable: true });
  expect(server.asked).toHaveLength(4);
});

test("an exhausted account is not retried", async () => {
  const error = { code: "insufficient_quota", message: "You have no credit." };
  await using server = serve(() => Response.json({ error }, { status: 429 }));
  await expect(server.open("openai").embed(["7"])).rejects.toMatchObject({ retryable: false });
  expect(server.asked).toHaveLength(1);
});

test("a provider that does not respond is retried", async () => {
  await using server = serve((asked, index) => (index === 0 ? new Promise<Response>(() => {}) : vectors(asked, index)));
  expect(await server.open("openai", 2, "some-model", key, 500).embed(["7"])).toHaveLength(1);
});

test.each([
  ["while a provider works", () => new Promise<Response>(() => {})],
  ["between two attempts", () => new Response("{}", { status: 429, headers: { "retry-after": "60" } })],
])("a call is aborted %s", async (_, answer) => {
  const abort = new AbortController();
  await using server = serve(() => {
    setTimeout(() => abort.abort(new Error("enough")), 20);
    return answer();
  });
  await expect(server.open("openai").embed(["7"], abort.signal)).rejects.toThrow("enough");
  expect(server.asked).toHaveLength(1);
});

test.each<Provider>(["anthropic", "test"])("%s has no embedding models, which the error says", async (provider) => {
  await using server = serve(vectors);
  await expect(server.open(provider).embed(["7"])).rejects.toMatchObject({ code: "model_not_available" });
});
