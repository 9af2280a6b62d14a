import { afterAll, expect, test } from "bun:test";
import { AppError } from "../../../domain/errors.ts";
import { silentLog } from "../../../lib/log.ts";
import { createEmbedders, EmbeddingError } from "./embedder.ts";
import { availableModels, builtInModels } from "./models.ts";

const server = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  fetch: () => Response.json({ data: [{ embedding: [3, 0, 4] }] }),
});

const embedders = createEmbedders({
  log: silentLog,
  resolve(model) {
    if (model !== "ollama/tiny") throw new AppError("model_not_available", `${model} is not there.`);
    const base_url = `${server.url}v1`;
    return { connection: { name: "ollama", provider: "ollama", base_url, api_key: null }, model: "tiny" };
  },
});
afterAll(async () => {
  embedders.stop();
  await server.stop(true);
});

test.each(availableModels)("%s needs no provider", async (model) => {
  const { dimensions } = builtInModels[model];
  const [vector] = await embedders.of(model, dimensions).embed(["Hello"]);
  expect(vector).toHaveLength(dimensions);
  expect(await embedders.probe(model)).toBe(dimensions);
});

test("a provider's model is called through its connection, and reports its vector length", async () => {
  expect(await embedders.of("ollama/tiny", 3).embed(["Hello"])).toEqual([Float32Array.of(0.6, 0, 0.8)]);
  expect(await embedders.probe("ollama/tiny")).toBe(3);
});

test.each([
  ["ollama/tiny", 4, "dimensions_mismatch"],
  ["builtin/use-lite-512", 256, "dimensions_mismatch"],
  ["builtin/other", 512, "model_not_available"],
  ["openai/gone", 512, "model_not_available"],
])("%s with %i dimensions is refused: %s", async (model, dimensions, code) => {
  const failure = await embedders
    .of(model, dimensions)
    .embed(["Hello"])
    .catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(EmbeddingError);
  expect(failure).toMatchObject({ code, retryable: false });
});
