import { expect, test } from "bun:test";
import { lifetimeWords, readObject, readSeconds, sizeWords, sourceWords } from "./memory-words.ts";
import { readStoreSearch, readStoresSearch } from "./read-memory-search.ts";

test("an expiry is shown in the largest unit that divides it", () => {
  expect([null, 45, 120, 7200, 86_400, 90 * 86_400].map(lifetimeWords)).toEqual([
    "Keep indefinitely",
    "45 seconds",
    "2 minutes",
    "2 hours",
    "1 day",
    "90 days",
  ]);
});

test("a passage shows its file, page and heading as far as they are known", () => {
  const match = { filename: "manual.pdf", page: 2, heading: "Descaling", file_id: "file_1" } as never;
  expect(sourceWords(match)).toBe("manual.pdf · page 2 · Descaling");
  expect(sourceWords({ filename: null, page: null, heading: null, file_id: null } as never)).toBe("Text");
});

test("the size of a store is its number of entries or keys", () => {
  expect(sizeWords({ kind: "vector", entries: 1, keys: null })).toBe("1 entry");
  expect(sizeWords({ kind: "vector", entries: 1200, keys: null })).toBe("1,200 entries");
  expect(sizeWords({ kind: "kv", entries: null, keys: 2 })).toBe("2 keys");
});

test("typed values are parsed, or reported as invalid", () => {
  expect(readObject("")).toEqual({ value: undefined, fault: null });
  expect(readObject("[]").fault).toBe("Must be an object: { … }.");
  expect(readSeconds("")).toEqual({ seconds: null, fault: null });
  expect(readSeconds("soon").fault).toContain("not a whole number");
});

test("known query parameters are kept, and a cursor may be any key", () => {
  expect(readStoreSearch({ tab: "keys", of: "ann", q: 7, after: "plan/a b", before: "x", mode: "odd" })).toEqual({
    tab: "keys",
    of: "ann",
    q: "7",
    after: "plan/a b",
  });
  expect(readStoresSearch({ kind: "kv", after: "run_1" })).toEqual({ kind: "kv" });
});
