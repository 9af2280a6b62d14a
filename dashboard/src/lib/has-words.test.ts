import { expect, test } from "bun:test";
import { hasWords } from "./has-words.ts";

test.each([
  ["", true],
  ["  ", true],
  ["desk", true],
  ["DESK refund", true],
  ["efun", true],
  ["refund tea", false],
])("in “Refund desk”, %p is found: %p", (sought, found) => {
  expect(hasWords("Refund desk", sought)).toBe(found);
});
