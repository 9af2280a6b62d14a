import { expect, test } from "bun:test";
import { isSafePattern } from "./safe-pattern.ts";

const common = [
  "^\\d{4}-\\d{2}-\\d{2}$",
  "^[A-Z]{2,5}-\\d+$",
  "^[^@\\s]+@[^@\\s]+\\.[a-z]{2,}$",
  "^(red|green|blue)$",
  "^[a-z0-9_-]{1,64}$",
  "^https?://",
  "^[a-z]+$",
  "^[a-z0-9]+(-[a-z0-9]+)*$",
  "^(\\d{1,3}\\.){3}\\d{1,3}$",
  "^[\\s\\S]{1,256}$",
  "^\\p{L}+$",
  "^.*foo.*$",
  "(foo|bar)*",
  "\\(a+\\)+",
  "[(*]+",
  "(ab?c)+",
  "(a+)?",
  "(a+){1}",
];

test.each(common)("the pattern %s is safe", (pattern) => {
  expect(isSafePattern(pattern)).toBe(true);
});

test.each([
  ["(a+)+"],
  ["((a*)b)*c*[bc]"],
  ["(a{2,}){3}"],
  ["(a{0,100}){0,100}"],
  ["a*a*a*a*a*b"],
  ["a*b?a*c"],
  ["^a*.a*.a*$"],
  ["a{0,100}a{0,100}a{0,100}b"],
  [`${"a?".repeat(60)}b`],
  ["(a|a)*$"],
  ["(a|ab)*c"],
  ["(|a)+"],
  [`${"($|$)".repeat(40)}x`],
  [`${"($)?".repeat(40)}x`],
  ["(.*)\\1"],
  ["(?=a)"],
  ["(?<!a)b"],
  ["("],
  ["[a-é]*ü*b"],
])("the pattern %s is not", (pattern) => {
  expect(isSafePattern(pattern)).toBe(false);
});

const pieces = ["a", "b", ".", "[ab]", "[^b]", "\\w", "(a|b)", "(a|ab)", "(ab?)", "(a*b)", "(|a)", "($)", "(-a+)", "é"];
const repeats = ["", "", "*", "+", "?", "{0,9}", "{2,}", "{3}", "*?"];

// The same patterns every time: what fails once can be looked into.
function* randomPatterns(count: number): Generator<string> {
  let seed = 42;
  const pick = (from: readonly string[]): string => {
    seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31;
    return from[Math.floor((seed / 2 ** 31) * from.length)] ?? "";
  };
  for (let i = 0; i < count; i++) {
    let pattern = pick(["", "^"]);
    for (let j = 0; j <= i % 6; j++) pattern += pick(pieces) + pick(repeats);
    yield pattern + pick(["", "$", "c", "!$"]);
  }
}

test("whatever passes is matched in a moment, also against the strings it likes least", () => {
  const texts = ["a", "ab", "b", "-a", "a-", "é", "abé"].map((part) => `${part.repeat(5000).slice(0, 5000)}?`);
  let safe = 0;
  for (const pattern of [...common, ...randomPatterns(400)]) {
    if (!isSafePattern(pattern)) continue;
    safe++;
    const matcher = new RegExp(pattern, "u");
    const from = performance.now();
    for (const text of texts) matcher.test(text);
    expect({ pattern, hangs: performance.now() - from > 1400 }).toEqual({ pattern, hangs: false });
  }
  expect(safe).toBeGreaterThan(100);
});
