import { expect, test } from "bun:test";
import { isSafePattern } from "./redos-check.ts";

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

// The same patterns every time, so that a failure can be reproduced.
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

test("patterns that pass are fast, even on their worst strings", () => {
  const texts = ["a", "ab", "b", "-a", "a-", "é", "abé"].map((part) => `${part.repeat(5000).slice(0, 5000)}?`);
  const safe = [...common, ...randomPatterns(400)].filter(isSafePattern);
  expect(safe.length).toBeGreaterThan(100);
  const program = `for (const pattern of ${JSON.stringify(safe)}) {
    require("fs").writeSync(1, pattern + "\\n");
    for (const text of ${JSON.stringify(texts)}) new RegExp(pattern, "u").test(text);
  }`;
  // A hanging match ends only with its process; the last one started is the culprit.
  const options = { timeout: 20_000, killSignal: "SIGKILL" } as const;
  const { stdout, exitedDueToTimeout } = Bun.spawnSync([process.execPath, "-e", program], options);
  const begun = stdout.toString().split("\n").slice(0, -1);
  expect(exitedDueToTimeout ? `${begun.at(-1)} hangs` : "all were matched").toBe("all were matched");
  expect(begun.length).toBe(safe.length);
});
