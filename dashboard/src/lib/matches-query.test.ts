import { expect, test } from "bun:test";
import { matchesQuery } from "./matches-query.ts";

test.each([
  ["", true],
  ["  ", true],
  ["desk", true],
  ["DESK refund", true],
  ["efun", true],
  ["refund tea", false],
])("%p in “Refund desk” matches: %p", (sought, found) => {
  expect(matchesQuery("Refund desk", sought)).toBe(found);
});
