import { expect, test } from "bun:test";
import { type DiffPart, diffLines, diffWords } from "./text-diff.ts";

const side = (parts: DiffPart[], but: DiffPart["kind"]) =>
  parts.flatMap(({ kind, text }) => (kind === but ? [] : [text])).join("");

test("only a replaced word is reported", () => {
  expect(diffWords("Be kind and short.", "Be kind and brief.")).toEqual([
    { kind: "same", text: "Be kind and " },
    { kind: "gone", text: "short" },
    { kind: "new", text: "brief" },
    { kind: "same", text: "." },
  ]);
});

test("lines keep their line breaks, so that both texts can be restored from the parts", () => {
  const parts = diffLines("a\nb\nc", "a\nx\nb\n");
  expect(side(parts, "new")).toBe("a\nb\nc");
  expect(side(parts, "gone")).toBe("a\nx\nb\n");
});

test.each([
  ["", ""],
  ["", "new text"],
  ["all gone", ""],
  ["the cat sat on the mat", "on the mat the cat sat, and sat"],
  ["äöü 123", "123 äöü"],
])("both texts can be restored from the parts: %p, %p", (before, after) => {
  const parts = diffWords(before, after);
  expect(side(parts, "new")).toBe(before);
  expect(side(parts, "gone")).toBe(after);
});

test("unrelated texts are one change, found quickly", () => {
  const words = (letter: string) => Array.from({ length: 20_000 }, (_, i) => `${letter}${i}`).join(" ");
  const [before, after] = [words("a"), words("b")];
  const parts = diffWords(before, after);
  expect(side(parts, "new")).toBe(before);
  expect(side(parts, "gone")).toBe(after);
});
