import { expect, test } from "bun:test";
import { embeddingDraft } from "./embedding-draft.ts";

const store = { embedding: { model: "local/minilm" }, indexing: null };
const other = "openai/text-embedding-3-small";

test("a store that is being reindexed has no unsaved change", () => {
  const indexed = { ...store, indexing: { model: other } };
  expect(embeddingDraft(null, store)).toMatchObject({ shown: "local/minilm", isChanged: false });
  expect(embeddingDraft(null, indexed)).toMatchObject({ shown: other, isChanged: false });
});

test("a typed model is a change only if it differs from the current one", () => {
  expect(embeddingDraft(` ${other} `, store)).toEqual({ shown: ` ${other} `, model: other, isChanged: true });
  expect(embeddingDraft("local/minilm ", store).isChanged).toBe(false);
  expect(embeddingDraft("", store).isChanged).toBe(false);
});
