import { expect, test } from "bun:test";
import { rebaseDraft } from "./use-draft.ts";

test("rebasing keeps local changes and takes all other fields of the newer version", () => {
  const begun = { name: "Refunds", description: "", tools: ["a"] };
  const draft = { ...begun, description: "Mine", tools: ["a", "b"] };
  const newer = { name: "Theirs", description: "Theirs", tools: ["a"] };
  expect(rebaseDraft(draft, begun, newer)).toEqual({ name: "Theirs", description: "Mine", tools: ["a", "b"] });
  expect(rebaseDraft(begun, begun, newer)).toEqual(newer);
});
