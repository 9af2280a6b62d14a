import { expect, test } from "bun:test";
import { passage } from "./__fixtures__/events.ts";
import { limits } from "./limits.ts";
import { mergePassages, retrievalQuery } from "./retrieval.ts";

test("a long input is searched with its beginning, and never with half a character", () => {
  expect(retrievalQuery("How?")).toBe("How?");
  for (const long of ["ä".repeat(9000), `a${"ä".repeat(9000)}`, "日".repeat(9000), "😀".repeat(9000)]) {
    const query = retrievalQuery(long);
    expect(long.startsWith(query)).toBe(true);
    expect(Buffer.byteLength(query)).toBeLessThanOrEqual(limits.search_query_bytes);
    expect(Buffer.byteLength(query)).toBeGreaterThan(limits.search_query_bytes - 4);
  }
});

test("the best of all stores come first, and no more than these may give together", () => {
  const scored = (...scores: number[]) => scores.map((score) => passage({ score, text: String(score) }));
  const merged = mergePassages([scored(0.9, 0.2), scored(0.8, 0.1)], [{ top_k: 2 }, { top_k: 1 }]);
  expect(merged.map(({ score }) => score)).toEqual([0.9, 0.8, 0.2]);
});

test("passages have a bound together, and one that does not fit leaves its place to smaller ones", () => {
  const sized = (score: number, kilobytes: number) => passage({ score, text: "x".repeat(kilobytes * 1024) });
  const found = [[sized(0.9, 100), sized(0.8, 100), sized(0.7, 20)]];
  expect(mergePassages(found, [{ top_k: 50 }]).map(({ score }) => score)).toEqual([0.9, 0.7]);
});
