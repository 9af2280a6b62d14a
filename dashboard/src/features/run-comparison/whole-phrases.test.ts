import { expect, test } from "bun:test";
import { diffWords } from "../../lib/text-diff.ts";
import { wholePhrases } from "./whole-phrases.ts";

test("consecutive changed words become one change, and both texts stay complete", () => {
  const [a, b] = ["It came. No mugs left, so I refund.", "It came. Two mugs are here, so I send."];
  const parts = wholePhrases(diffWords(a, b));
  expect(parts).toEqual([
    { kind: "same", text: "It came. " },
    { kind: "gone", text: "No mugs left, so I refund" },
    { kind: "new", text: "Two mugs are here, so I send" },
    { kind: "same", text: "." },
  ]);
});

test("three common words separate two changes", () => {
  const parts = wholePhrases(diffWords("a one two three b", "c one two three d"));
  expect(parts.map(({ kind }) => kind)).toEqual(["gone", "new", "same", "gone", "new"]);
});
