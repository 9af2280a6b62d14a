import { expect, test } from "bun:test";
import { diffLines } from "../../lib/text-diff.ts";
import { cutPassage, linesOf } from "./fold-equal.ts";

const numbered = (count: number) => Array.from({ length: count }, (_, i) => `line ${i}`);

test("each side shows its own lines between the common ones", () => {
  const parts = diffLines("{\n  1\n}\n", "{\n  2\n}\n");
  expect(linesOf(parts, "gone").map((line) => "text" in line && line.text)).toEqual(["{", "  1", "}"]);
  expect(linesOf(parts, "new").map(({ kind }) => kind)).toEqual(["same", "own", "same"]);
});

test("long equal stretches keep three lines beside a difference", () => {
  const lines = numbered(40);
  const parts = diffLines(`${lines.join("\n")}\n`, `${lines.with(20, "other").join("\n")}\n`);
  const shown = linesOf(parts, "new");
  expect(shown.map((line) => ("count" in line ? line.count : line.text))).toEqual([
    17,
    "line 17",
    "line 18",
    "line 19",
    "other",
    "line 21",
    "line 22",
    "line 23",
    16,
  ]);
});

test("long common prose is cut in the middle", () => {
  const text = "word ".repeat(1000);
  expect(cutPassage("short", false, false)).toBe("short");
  expect(cutPassage(text, false, false).length).toBe(483);
  expect(cutPassage(text, true, false).startsWith(" … ")).toBe(true);
});
