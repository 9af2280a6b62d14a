import { expect, test } from "bun:test";
import type { Provider } from "../../domain/providers.ts";
import type { Connection } from "./model.ts";
import { listModels } from "./model-list.ts";

const key = "sk-canary-0123456789";

/** Starts a server that answers by path; other paths are 404. Records what it was asked for. */
function listServer(pages: Record<string, unknown | ((request: Request) => Response | Promise<Response>)>) {
  const asked: { path: string; headers: Headers }[] = [];
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    idleTimeout: 0,
    fetch(request) {
      const { pathname, search } = new URL(request.url);
      asked.push({ path: `${pathname}${search}`, headers: request.headers });
      const page = pages[`${pathname}${search}`] ?? pages[pathname];
      if (page === undefined) return Response.json({ error: { message: "Unknown request URL" } }, { status: 404 });
      return typeof page === "function" ? page(request) : Response.json(page);
    },
  });
  const at = (path: string, provider: Provider = "openai_compatible", api_key: string | null = key): Connection => ({
    name: provider === "openai_compatible" ? "stub" : provider,
    provider,
    base_url: `http://127.0.0.1:${server.port}${path}`,
    api_key,
  });
  return { asked, at, paths: () => asked.map(({ path }) => path), [Symbol.asyncDispose]: () => server.stop(true) };
}

const html = () => new Response("<!DOCTYPE html><title>Welcome</title>", { headers: { "content-type": "text/html" } });
const idsOf = async (connection: Connection) => (await listModels(connection)).models?.map(({ id }) => id);

// https://github.com/nomic-ai/gpt4all/issues/3214
test("an address without /v1 lists the same models as one with it", async () => {
  await using server = listServer({ "/v1/models": { object: "list", data: [{ id: "qwen3" }] } });
  expect(await idsOf(server.at("/v1"))).toEqual(["qwen3"]);
  expect(await idsOf(server.at(""))).toEqual(["qwen3"]);
  expect(await idsOf(server.at("/"))).toEqual(["qwen3"]);
  await using bare = listServer({ "/models": { data: [{ id: "deep" }] } });
  expect(await idsOf(bare.at("/v1"))).toEqual(["deep"]);
});

test("the query of an address stays, and a key goes into the header alone", async () => {
  await using server = listServer({ "/openai/models": { data: [{ id: "m" }] } });
  expect(await idsOf(server.at("/openai?api-version=2024-10-21"))).toEqual(["m"]);
  expect(server.paths()).toEqual(["/openai/models?api-version=2024-10-21"]);
  expect(server.asked[0]?.headers.get("authorization")).toBe(`Bearer ${key}`);
  await using open = listServer({ "/v1/models": { data: [{ id: "m" }] } });
  await listModels(open.at("/v1", "openai_compatible", null));
  expect(open.asked[0]?.headers.has("authorization")).toBe(false);
});

// https://github.com/ThinkThinkAI/CommandAI/issues/44
test("a refused key is said as such, and is not an empty list", async () => {
  await using server = listServer({
    "/v1/models": () => Response.json({ error: { message: `Incorrect API key provided: ${key}` } }, { status: 401 }),
  });
  const outcome = await listModels(server.at("/v1"));
  expect(outcome).toMatchObject({ models: null, error: { code: "key_refused" } });
  expect(JSON.stringify(outcome)).not.toContain("canary");
  // The address without /v1 has no list: the refusal at the one with it is what counts.
  expect((await listModels(server.at(""))).error?.code).toBe("key_refused");
});

test("a key that may call models but not list them is not called wrong", async () => {
  await using server = listServer({
    "/v1/models": () => Response.json({ error: { message: "Missing scopes: api.model.read" } }, { status: 403 }),
  });
  const { error } = await listModels(server.at("/v1", "openai"));
  expect(error).toMatchObject({ code: "refused", message: expect.stringContaining("may still call them") });
  expect(error?.detail).not.toContain("canary");
});

// https://github.com/EKKOLearnAI/hermes-studio/issues/2503
test("a server without a list is told from one that fails", async () => {
  await using none = listServer({});
  expect((await listModels(none.at("/api/plan/v3"))).error).toMatchObject({
    code: "not_listed",
    message: expect.stringContaining("Type the name of a model"),
  });
  await using broken = listServer({ "/v1/models": () => Response.json({ detail: "It broke." }, { status: 500 }) });
  expect((await listModels(broken.at("/v1"))).error).toMatchObject({
    code: "refused",
    message: "The server returned HTTP 500 for its list of models.",
    detail: expect.stringContaining("It broke."),
  });
});

// https://github.com/NousResearch/hermes-agent/issues/83128
test("a web page with status 200 is no list, and the list behind it is found", async () => {
  await using page = listServer({ "/models": html, "/v1/models": html });
  expect((await listModels(page.at(""))).error).toMatchObject({
    code: "not_a_list",
    message: expect.stringContaining("web page"),
    detail: null,
  });
  await using behind = listServer({ "/models": html, "/v1/models": { data: [{ id: "m" }] } });
  expect(await idsOf(behind.at(""))).toEqual(["m"]);
});

// https://github.com/Portkey-AI/gateway/issues/1371
test.each([
  ["an empty list", { object: "list", data: [] }],
  ["null in place of a list, as Ollama sends it without models", { object: "list", data: null }],
  ["an empty array", []],
])("%s is a list without models", async (_, body) => {
  await using server = listServer({ "/v1/models": body });
  expect(await listModels(server.at("/v1"))).toEqual({ models: [], error: null });
});

test.each([
  ["JSON that is no list", () => Response.json({ status: "ok" }), "not_a_list"],
  ["a text", () => new Response("ok"), "not_a_list"],
  ["an error with status 200", () => Response.json({ error: { message: "no quota" } }), "refused"],
  ["a redirect", () => Response.redirect("https://elsewhere.example/v1/models", 308), "refused"],
  ["a list without end", () => new Response(endless()), "too_large"],
])("%s is refused with a reason", async (_, answer, code) => {
  await using server = listServer({ "/v1/models": answer, "/models": answer });
  expect((await listModels(server.at("/v1"))).error?.code).toBe(code as "refused");
});

function endless(): ReadableStream<Uint8Array> {
  const row = new TextEncoder().encode(`{"id":"${"x".repeat(64 * 1024)}"},`);
  return new ReadableStream({ pull: (controller) => controller.enqueue(row) });
}

test("a server that is away, or says nothing, is an error with a reason and no address", async () => {
  const away = {
    name: "stub",
    provider: "openai_compatible",
    base_url: "http://127.0.0.1:1/v1",
    api_key: key,
  } as const;
  expect(await listModels(away)).toMatchObject({
    error: { code: "unreachable", message: "The server cannot be reached.", detail: null },
  });
  await using silent = listServer({ "/v1/models": () => new Promise<Response>(() => {}) });
  expect((await listModels(silent.at("/v1"), { timeout_ms: 50 })).error?.code).toBe("timeout");
});

// https://github.com/CherryHQ/cherry-studio/issues/15776
test("all pages of Anthropic's list are read, with its headers", async () => {
  await using server = listServer({
    "/v1/models?limit=1000": {
      data: [{ type: "model", id: "claude-b", display_name: "Claude B", created_at: "2026-01-01T00:00:00Z" }],
      has_more: true,
      first_id: "claude-b",
      last_id: "claude-b",
    },
    "/v1/models?limit=1000&after_id=claude-b": {
      data: [
        { type: "model", id: "claude-a", display_name: "Claude A", max_input_tokens: 200_000, max_tokens: 64_000 },
      ],
      has_more: false,
      last_id: "claude-a",
    },
  });
  const { models } = await listModels(server.at("/v1", "anthropic"));
  expect(models).toMatchObject([
    { id: "claude-a", name: "Claude A", kind: "chat", context_window: 200_000, max_output_tokens: 64_000 },
    { id: "claude-b", name: "Claude B", kind: "chat", context_window: null },
  ]);
  expect(server.asked[0]?.headers.get("x-api-key")).toBe(key);
  expect(server.asked[0]?.headers.get("anthropic-version")).toBe("2023-06-01");
  expect(await idsOf(server.at("", "anthropic"))).toEqual(["claude-a", "claude-b"]);
});

test("a server that returns the same page again does not hold the list up", async () => {
  await using server = listServer({ "/v1/models": { data: [{ id: "m" }], has_more: true, last_id: "m" } });
  expect(await idsOf(server.at("/v1", "anthropic"))).toEqual(["m"]);
  expect(server.asked).toHaveLength(2);
});

test("all pages of Google's list are read; models that generate no content are no chat models", async () => {
  const row = (name: string, method: string) => ({
    name: `models/${name}`,
    displayName: name.toUpperCase(),
    inputTokenLimit: 1_048_576,
    outputTokenLimit: 65_536,
    supportedGenerationMethods: [method, "countTokens"],
  });
  await using server = listServer({
    "/v1beta/models?pageSize=1000": { models: [row("gemini-9", "generateContent")], nextPageToken: "t+/=" },
    "/v1beta/models?pageSize=1000&pageToken=t%2B%2F%3D": {
      models: [row("gemini-embedding-9", "embedContent"), row("imagen-9", "predict"), row("aqa", "generateAnswer")],
    },
  });
  const { models } = await listModels(server.at("/v1beta", "google"));
  expect(models?.map(({ id, kind }) => [id, kind])).toEqual([
    ["aqa", "other"],
    ["gemini-9", "chat"],
    ["gemini-embedding-9", "embedding"],
    ["imagen-9", "other"],
  ]);
  expect(models?.[1]).toMatchObject({ name: "GEMINI-9", context_window: 1_048_576, max_output_tokens: 65_536 });
  expect(server.asked[0]?.headers.get("x-goog-api-key")).toBe(key);
});

test("Ollama's own list is read, or else the one of its OpenAI API", async () => {
  await using server = listServer({
    "/api/tags": {
      models: [
        { name: "qwen3:8b", model: "qwen3:8b", details: { family: "qwen3", parameter_size: "8.2B" } },
        { name: "nomic-embed-text:latest", model: "nomic-embed-text:latest", details: { family: "nomic-bert" } },
      ],
    },
  });
  const { models } = await listModels(server.at("/v1", "ollama", null));
  expect(models?.map(({ id, kind }) => [id, kind])).toEqual([
    ["nomic-embed-text:latest", "embedding"],
    ["qwen3:8b", "chat"],
  ]);
  await using older = listServer({ "/v1/models": { object: "list", data: [{ id: "llama3.2", owned_by: "library" }] } });
  expect(await idsOf(older.at("/v1", "ollama", null))).toEqual(["llama3.2"]);
});

test("vLLM's and OpenRouter's windows, prices and features are read", async () => {
  await using vllm = listServer({
    "/v1/models": { object: "list", data: [{ id: "Qwen/Qwen3-8B", owned_by: "vllm", max_model_len: 40_960 }] },
  });
  expect((await listModels(vllm.at("/v1"))).models).toMatchObject([{ context_window: 40_960, price: null }]);
  await using router = listServer({
    "/api/v1/models": {
      data: [
        {
          id: "anthropic/claude-sonnet-4.5",
          name: "Anthropic: Claude Sonnet 4.5",
          context_length: 1_000_000,
          architecture: { input_modalities: ["text", "image"], output_modalities: ["text"] },
          pricing: { prompt: "0.000003", completion: "0.000015", input_cache_read: "0.0000003" },
          top_provider: { context_length: 1_000_000, max_completion_tokens: 64_000 },
          supported_parameters: ["max_tokens", "reasoning", "structured_outputs", "tools"],
        },
        { id: "openrouter/auto", pricing: { prompt: "-1", completion: "-1" } },
        { id: "google/gemma:free", pricing: { prompt: "0", completion: "0" } },
      ],
    },
  });
  const { models } = await listModels(router.at("/api/v1"));
  expect(models).toMatchObject([
    {
      name: "Anthropic: Claude Sonnet 4.5",
      context_window: 1_000_000,
      max_output_tokens: 64_000,
      price: { input: 3, cached_input: 0.3, output: 15 },
      features: ["tools", "reasoning", "structured_output", "images"],
    },
    { id: "google/gemma:free", price: { input: 0, cached_input: 0, output: 0 } },
    { id: "openrouter/auto", price: null },
  ]);
});

test("Together's bare array has prices for a million tokens, and Groq's list says which models are out of use", async () => {
  await using together = listServer({
    "/v1/models": [
      { id: "meta/Llama", type: "chat", context_length: 131_072, pricing: { input: 0.88, output: 0.9, hourly: 0 } },
      { id: "BAAI/base", type: "embedding", pricing: { input: 0.01, output: 0 } },
      { id: "black/FLUX", type: "image" },
    ],
  });
  expect((await listModels(together.at("/v1"))).models).toMatchObject([
    { id: "BAAI/base", kind: "embedding" },
    { id: "black/FLUX", kind: "other" },
    { id: "meta/Llama", kind: "chat", price: { input: 0.88, cached_input: 0.88, output: 0.9 } },
  ]);
  await using groq = listServer({
    "/openai/v1/models": {
      data: [
        { id: "a-old", active: false, context_window: 8192 },
        { id: "b-new", active: true, context_window: 131_072, max_completion_tokens: 32_768 },
      ],
    },
  });
  expect((await listModels(groq.at("/openai/v1"))).models).toMatchObject([
    { id: "b-new", is_deprecated: false, context_window: 131_072, max_output_tokens: 32_768 },
    { id: "a-old", is_deprecated: true },
  ]);
});

test("a model that is going to be withdrawn later is in use until then", async () => {
  const row = (id: string, deprecation: string | null) => ({
    id,
    deprecation,
    capabilities: { completion_chat: true },
  });
  await using mistral = listServer({
    "/v1/models": {
      data: [row("past", "2026-01-01T00:00:00Z"), row("later", "2027-01-01T00:00:00Z"), row("never", null)],
    },
  });
  const { models } = await listModels(mistral.at("/v1"), { now: () => Date.parse("2026-06-01") });
  expect(models?.map(({ id, is_deprecated }) => [id, is_deprecated])).toEqual([
    ["later", false],
    ["never", false],
    ["past", true],
  ]);
});

// https://github.com/NousResearch/hermes-agent/pull/78212
test("llama.cpp's window is the one that it serves, not the one that the model was trained for", async () => {
  const list = (meta: object) => ({ data: [{ id: "/models/qwen.gguf", owned_by: "llamacpp", meta }] });
  await using newer = listServer({ "/v1/models": list({ n_ctx: 8192, n_ctx_train: 262_144 }) });
  expect((await listModels(newer.at("/v1"))).models).toMatchObject([{ id: "/models/qwen.gguf", context_window: 8192 }]);
  await using older = listServer({
    "/v1/models": list({ n_ctx_train: 262_144 }),
    "/props": { default_generation_settings: { n_ctx: 4096 } },
  });
  expect((await listModels(older.at("/v1"))).models).toMatchObject([{ context_window: 4096 }]);
  await using closed = listServer({ "/v1/models": list({ n_ctx_train: 262_144 }) });
  expect((await listModels(closed.at("/v1"))).models).toMatchObject([{ context_window: null }]);
});

// https://github.com/cline/cline/pull/13472
test("LM Studio's window is the one with which a model was loaded", async () => {
  const row = (id: string) => ({ id, object: "model", owned_by: "organization_owner" });
  await using server = listServer({
    "/v1/models": { data: [row("loaded"), row("resting"), row("text-vectors")] },
    "/api/v1/models": {
      models: [
        {
          key: "loaded",
          type: "llm",
          max_context_length: 183_296,
          loaded_instances: [{ config: { context_length: 40_000 } }],
        },
        { key: "resting", type: "llm", max_context_length: 32_768, loaded_instances: [] },
        { key: "text-vectors", type: "embedding", max_context_length: 2048, loaded_instances: [] },
      ],
    },
  });
  expect((await listModels(server.at("/v1"))).models).toMatchObject([
    { id: "loaded", kind: "chat", context_window: 40_000 },
    { id: "resting", context_window: 32_768 },
    { id: "text-vectors", kind: "embedding" },
  ]);
});

// https://github.com/Vigil-SOC/vigil/issues/433
test.each([
  ["gpt-5", "chat"],
  ["gpt-4o-mini", "chat"],
  ["text-embedding-3-small", "embedding"],
  ["nomic-embed-text:latest", "embedding"],
  ["mxbai-embed-large", "embedding"],
  ["BAAI/bge-m3", "embedding"],
  ["intfloat/e5-large", "embedding"],
  ["whisper-1", "other"],
  ["tts-1-hd", "other"],
  ["dall-e-3", "other"],
  ["gpt-image-1", "other"],
  ["omni-moderation-latest", "other"],
  ["gpt-realtime", "other"],
  ["davinci-002", "other"],
  ["jina-reranker-v2", "other"],
  ["deepseek-ai/DeepSeek-V3", "chat"],
])("%s is a model for %s", async (id, kind) => {
  await using server = listServer({ "/v1/models": { data: [{ id }] } });
  expect((await listModels(server.at("/v1"))).models).toMatchObject([{ id, kind: kind as "chat" }]);
});

test("rows that are no models, repeated ones and names with spaces are left out", async () => {
  await using server = listServer({
    "/v1/models": { data: [null, 7, {}, { id: "" }, { id: "two words" }, { id: "m" }, { id: "m" }, "n", { id: 3 }] },
  });
  expect(await idsOf(server.at("/v1"))).toEqual(["m", "n"]);
});

test("a list of ten thousand models is cut, and read once", async () => {
  const data = Array.from({ length: 10_000 }, (_, index) => ({ id: `m${index}` }));
  await using server = listServer({ "/v1/models": { data } });
  expect((await listModels(server.at("/v1"))).models).toHaveLength(5000);
  expect(server.asked).toHaveLength(1);
});

test("clouds are not asked for a list, not even at an address of one's own", async () => {
  await using server = listServer({ "/v1/models": { data: [{ id: "x" }] } });
  for (const provider of ["bedrock", "vertex"] as const) {
    const { models, error } = await listModels(server.at("/v1", provider));
    expect([models, error?.code]).toEqual([null, "not_listed"]);
  }
  expect(server.paths()).toEqual([]);
});
