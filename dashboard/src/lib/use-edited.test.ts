import { expect, test } from "bun:test";
import { rebased } from "./use-edited.ts";

test("on somebody else's version stands what was written here, and theirs in all else", () => {
  const begun = { name: "Refunds", description: "", tools: ["a"] };
  const draft = { ...begun, description: "Mine", tools: ["a", "b"] };
  const newer = { name: "Theirs", description: "Theirs", tools: ["a"] };
  expect(rebased(draft, begun, newer)).toEqual({ name: "Theirs", description: "Mine", tools: ["a", "b"] });
  expect(rebased(begun, begun, newer)).toEqual(newer);
});
