import { expect, test } from "bun:test";
import { foldText, searchSpelling } from "./search-spelling.ts";

test.each([
  ["мой", "мои"],
  ["їжак", "іжак"],
  ["שש", "סס"],
  ["سماء", "سمار"],
  ["ガス", "カス"],
])("the letters that tell %s from %s stay apart", (one, other) => {
  expect(searchSpelling(one)).not.toBe(searchSpelling(other));
});

test("a spelling is its own spelling", () => {
  for (const word of ["كِتَابٌ", "שָׁלוֹם", "ἀρχή", "ёлка", "می\u200cخواهم", "१२३", "한국어", "ガス"])
    expect(searchSpelling(searchSpelling(word))).toBe(searchSpelling(word));
});

test("a letter with a million marks takes linear time", () => {
  const marks = "\u0301\u0323".repeat(500_000);
  expect(searchSpelling(`α${marks}`)).toBe("α");
  expect(foldText(`É${marks}`)).toBe("e");
});
