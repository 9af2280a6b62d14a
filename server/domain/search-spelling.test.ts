import { expect, test } from "bun:test";
import { searchSpelling } from "./search-spelling.ts";

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
