import { expect, test } from "bun:test";
import { cpSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { sentenceModelFolder } from "../../../../scripts/sentence-model.ts";
import { silentLog } from "../../../lib/log.ts";
import { temporaryFolder } from "../../../testing/temporary.ts";
import { addOwnModel } from "./add-own-model.ts";
import { EmbeddingThread } from "./built-in.ts";
import { createEmbedders } from "./embedder.ts";
import { findOwnModel, ownModels } from "./own-models.ts";

const sentenceModel = await sentenceModelFolder();
const given = { name: "mine", window_tokens: 256, prefix: "", query_prefix: "query: " };

const embeddersOf = (folder: string) =>
  createEmbedders({
    folder,
    log: silentLog,
    resolve(model) {
      throw new Error(`${model} was looked for at a provider.`);
    },
  });

const likeness = (one: Float32Array, other: Float32Array) =>
  one.reduce((sum, value, index) => sum + value * other[index]!, 0);

test.skipIf(!sentenceModel)("an added model embeds like the built-in one, and is gone with its folder", async () => {
  using place = temporaryFolder();
  const folder = place.file("embedders");
  const added = await addOwnModel(folder, { ...given, from: sentenceModel! }, silentLog);
  expect(added).toEqual({
    folder: join(folder, "mine"),
    dimensions: 384,
    window_tokens: 256,
    prefix: "",
    query_prefix: "query: ",
  });
  expect([ownModels(folder), readdirSync(folder)]).toEqual([["local/mine"], ["mine"]]);
  const embedders = embeddersOf(folder);
  const builtIn = new EmbeddingThread({ log: silentLog });
  try {
    expect(await embedders.probe("local/mine")).toBe(384);
    const text = ["The ferry leaves at nine."];
    const [own] = await embedders.of("local/mine", 384).embed(text);
    // Compares with the built-in model, whose files were copied.
    const [inside] = await builtIn.embed("builtin/all-minilm-l6-v2", text);
    expect(own).toEqual(inside!);
    const [asked] = await embedders.of("local/mine", 384).embed(text, undefined, "query");
    const [prefixed] = await builtIn.embed("builtin/all-minilm-l6-v2", [`query: ${text[0]}`]);
    expect(likeness(asked!, prefixed!)).toBeCloseTo(1, 5);
    expect(likeness(asked!, own!)).toBeLessThan(0.99);
    await expect(embedders.of("local/mine", 512).embed(text)).rejects.toMatchObject({ code: "dimensions_mismatch" });
    await expect(embedders.of("local/other", 384).embed(text)).rejects.toMatchObject({ code: "model_not_available" });
    await expect(addOwnModel(folder, { ...given, from: sentenceModel! }, silentLog)).rejects.toThrow("of this name");
  } finally {
    embedders.stop();
    builtIn.stop();
  }
});

test("an invalid model is refused with the reason, and no files stay", async () => {
  using place = temporaryFolder();
  const folder = place.file("embedders");
  const from = place.file("given");
  mkdirSync(from);
  const add = (other: Partial<typeof given> = {}) => addOwnModel(folder, { ...given, from, ...other }, silentLog);
  await expect(add()).rejects.toThrow("model.onnx is missing");
  writeFileSync(join(from, "model.onnx"), "no model");
  writeFileSync(join(from, "tokenizer.json"), "{");
  await expect(add()).rejects.toThrow("is not JSON");
  writeFileSync(join(from, "tokenizer.json"), "{}");
  await expect(add()).rejects.toThrow("The embedding model failed");
  await expect(add({ name: "../mine" })).rejects.toThrow("A name has");
  await expect(add({ window_tokens: 0 })).rejects.toThrow("tokens at once");
  await expect(add({ prefix: "x".repeat(101) })).rejects.toThrow("at most 100");
  await expect(add({ query_prefix: "x".repeat(101) })).rejects.toThrow("at most 100");
  if (sentenceModel) {
    cpSync(join(sentenceModel, "model.onnx"), join(from, "model.onnx"));
    await expect(add()).rejects.toThrow("The embedding model failed");
  }
  expect(readdirSync(folder)).toEqual([]);
  for (const name of ["local/../given", "local/", "local/mine", "mine"]) expect(findOwnModel(folder, name)).toBeNull();
});

test("a model added with a single prefix uses it for queries too", () => {
  using place = temporaryFolder();
  const folder = place.file("earlier");
  mkdirSync(folder);
  writeFileSync(join(folder, "embedder.json"), JSON.stringify({ dimensions: 3, window_tokens: 256, prefix: "text: " }));
  expect(findOwnModel(place.file("."), "local/earlier")).toMatchObject({ prefix: "text: ", query_prefix: "text: " });
});
