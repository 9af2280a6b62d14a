import { expect, test } from "bun:test";
import { lifetimeWords, readObject, readSeconds, sizeWords, sourceWords } from "./memory-words.ts";
import { readStoreSearch, readStoresSearch } from "./read-memory-search.ts";

test("a lifetime is told in the largest unit that fits", () => {
  expect([null, 45, 120, 7200, 86_400, 90 * 86_400].map(lifetimeWords)).toEqual([
    "Keep indefinitely",
    "45 seconds",
    "2 minutes",
    "2 hours",
    "1 day",
    "90 days",
  ]);
});

test("a passage names where it stands, as far as that is known", () => {
  const match = { filename: "manual.pdf", page: 2, heading: "Descaling", file_id: "file_1" } as never;
  expect(sourceWords(match)).toBe("manual.pdf · page 2 · Descaling");
  expect(sourceWords({ filename: null, page: null, heading: null, file_id: null } as never)).toBe("Text");
});

test("the size of a store is told in what it holds", () => {
  expect(sizeWords({ kind: "vector", entries: 1, keys: null })).toBe("1 entry");
  expect(sizeWords({ kind: "vector", entries: 1200, keys: null })).toBe("1,200 entries");
  expect(sizeWords({ kind: "kv", entries: null, keys: 2 })).toBe("2 keys");
});

test("what is typed is read, or told", () => {
  expect(readObject("")).toEqual({ value: undefined, fault: null });
  expect(readObject("[]").fault).toBe("Expected an object: { … }.");
  expect(readSeconds("")).toEqual({ seconds: null, fault: null });
  expect(readSeconds("soon").fault).toContain("not a whole number");
});

test("an address keeps what is known of it, and keys as cursors", () => {
  expect(readStoreSearch({ tab: "keys", of: "ann", q: 7, after: "plan/a b", before: "x", mode: "odd" })).toEqual({
    tab: "keys",
    of: "ann",
    q: "7",
    after: "plan/a b",
  });
  expect(readStoresSearch({ kind: "kv", after: "run_1" })).toEqual({ kind: "kv" });
});
