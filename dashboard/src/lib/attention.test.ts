import { expect, test } from "bun:test";
import { isUnattended } from "./attention.ts";

test("a page is unattended when a minute has passed since somebody did anything", () => {
  const now = Date.now();
  expect(isUnattended(now)).toBe(false);
  expect(isUnattended(now + 61_000)).toBe(true);
});
