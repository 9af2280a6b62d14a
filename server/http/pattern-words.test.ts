import { expect, test } from "bun:test";
import { patternWords } from "./pattern-words.ts";

test.each([
  ["^agt_[0-9a-hjkmnp-tv-z]{26}$", "Must look like `agt_…`."],
  ["^thr_[0-9a-hjkmnp-tv-z]{26}$|^new$", "Must look like `thr_…`, or be `new`."],
  ["^(raw|prompt)(,(raw|prompt))*$", "Must be some of raw, prompt, with commas between them."],
  ["^[1-9]\\d{0,14}$", "Must be a whole number from 1."],
  ["^\\d+$", "Must be a whole number."],
  ["^[A-Za-z0-9_-]{1,64}$", "Must have 1 to 64 letters, digits, `_` or `-`."],
  ["^[A-Za-z0-9_-]{0,40}$", "Must have at most 40 letters, digits, `_` or `-`."],
  ["^[0-9a-f]{64}$", "Must have 64 digits or letters from a to f."],
  ["^[\\s\\S]{1,128}$", "Must have 1 to 128 characters."],
  ["^[A-Za-z_][A-Za-z0-9_]{0,63}$", "Must begin with a letter or `_`, and have at most 64 letters, digits or `_`."],
])("the pattern %p is said in words", (pattern, words) => {
  expect(patternWords({ pattern })).toBe(words);
});

test("a pattern that no words fit is shown by the example of its schema, and has no words without one", () => {
  const pattern = "^(?:[^.]|\\.[^.])";
  expect(patternWords({ pattern, examples: ["clerk"] })).toBe("Must look like `clerk`.");
  expect(patternWords({ pattern })).toBeNull();
  expect(patternWords({})).toBeNull();
});
