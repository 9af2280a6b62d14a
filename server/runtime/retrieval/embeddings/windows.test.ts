import { expect, test } from "bun:test";
import { createWindowEmbedder } from "./windows.ts";

// ICU takes ten seconds to sort 60,000 of them.
test("a model reads 30 combining marks per letter, and the text after them", async () => {
  const read: string[] = [];
  const embed = createWindowEmbedder({
    dimensions: 1,
    window_tokens: 256,
    batch_tokens: 0,
    hashes_words: false,
    tokensOf: (text) => [read.push(text)],
    run: async () => Float32Array.of(1),
  });
  await embed([`a${"\u0316".repeat(300)} b`]);
  expect(read).toEqual([`a${"\u0316".repeat(30)} b`]);
});
