import { expect, test } from "bun:test";
import { isUnattended } from "./attention.ts";

test("a page is unattended a minute after the last input", () => {
  globalThis.dispatchEvent(new Event("keydown"));
  const now = Date.now();
  expect(isUnattended(now)).toBe(false);
  expect(isUnattended(now + 61_000)).toBe(true);
});
