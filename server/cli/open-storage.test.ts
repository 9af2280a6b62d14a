import { expect, test } from "bun:test";
import { readReserve } from "./open-storage.ts";

const disk = 1000 * 1024 ** 3;

test.each([
  ["512MB", 512 * 1024 ** 2],
  ["1.5gb", 1.5 * 1024 ** 3],
  ["4096", 4096],
  ["0", 0],
  ["5%", disk / 20],
])("--min-free-space %s is understood", (text, bytes) => {
  expect(readReserve(text)(disk)).toBe(bytes);
});

test.each(["", "much", "-1MB", "5 %%", "1PB", "1e3"])("--min-free-space %p is a usage error", (text) => {
  expect(() => readReserve(text)).toThrow("--min-free-space");
});
