import { expect, test } from "bun:test";
import fc from "fast-check";
import { type Detector, piiDetector } from "./detectors.ts";
import { compile } from "./pattern/pattern.ts";
import type { Span } from "./span.ts";
import { createUrlDetector } from "./urls.ts";
import { searchVerified, VerifiedScanner } from "./verified.ts";

test("a candidate is not verified while it may still grow", () => {
  const isLong = (candidate: string): [number, number][] => (candidate.length > 2 ? [[0, candidate.length]] : []);
  const scanner = new VerifiedScanner(compile("ab"), isLong);
  const safe = ["xab", "ab", "-ab"].map((piece) => {
    scanner.push(piece);
    return scanner.safe;
  });
  scanner.end();
  expect([scanner.spans, safe]).toEqual([[[1, 5]], [1, 1, 6]]);
});

test("findings of one candidate that overlap or touch are merged, in whole and in streamed texts", () => {
  const several = (): [number, number][] => [
    [0, 4],
    [1, 3],
    [3, 5],
    [5, 6],
    [7, 8],
  ];
  const pattern = compile("a+");
  const scanner = new VerifiedScanner(pattern, several);
  for (const char of "xaaaaaaaax") scanner.push(char);
  scanner.end();
  const expected = [
    [1, 7],
    [8, 9],
  ];
  expect(searchVerified(pattern, several)("xaaaaaaaax")).toEqual(expected as [number, number][]);
  expect(scanner.spans).toEqual(expected as [number, number][]);
});

function scanned({ scan }: Detector, text: string, length: number): Span[] {
  const scanner = scan();
  for (let at = 0; at < text.length; at += length) scanner.push(text.slice(at, at + length));
  scanner.end();
  return scanner.spans;
}

const urls = createUrlDetector(["good.com"]);
const words = "http://good.com/,https:,//,/,www.,evil.com,),(,!,;,a,:,@,javascript:,\\,".split(",");
const longWords = ["/".repeat(300), "x".repeat(700), "!".repeat(300), "(".repeat(40), ")".repeat(40), ",", "."];
test.each<[string, Detector, string[], string]>([
  [
    "credit_card",
    piiDetector("credit_card"),
    ["4111", "1111", "378282246310005", "5500-0000-0000-0004", "2", "0"],
    " ",
  ],
  ["iban", piiDetector("iban"), ["DE89", "3704", "0044", "0532", "0130", "00", "NO9386011117947", "AB12", "x"], "-"],
  ["an address", urls, [...words, ...longWords], ""],
])("%s within one long candidate is found in a streamed text as in a whole one", (_, detector, parts, between) => {
  const text = fc.array(fc.constantFrom(...parts), { minLength: 300, maxLength: 900 }).map((all) => all.join(between));
  fc.assert(
    fc.property(text, fc.integer({ min: 1, max: 3000 }), (whole, length) => {
      expect(scanned(detector, whole, length)).toEqual(detector.search(whole));
    }),
    { numRuns: 100 },
  );
});

// Verified only at its end, 256 KB of digits took 30 ms.
test("an endless candidate is verified while it grows, each part once", () => {
  const lengths: number[] = [];
  const verify = (text: string, from: number): Span[] => {
    lengths.push(text.length - from);
    return [];
  };
  const scanner = new VerifiedScanner(compile("a+"), verify, (text, from) => ({
    spans: verify(text, from),
    decided: text.length,
  }));
  for (let piece = 0; piece < 200; piece++) scanner.push("a".repeat(1000));
  scanner.end();
  expect(Math.max(...lengths)).toBeLessThanOrEqual(2000);
  expect(lengths.reduce((sum, length) => sum + length, 0)).toBe(200_000);
});
