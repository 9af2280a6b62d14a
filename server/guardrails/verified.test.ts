import { expect, test } from "bun:test";
import { compile } from "./pattern/pattern.ts";
import { searchVerified, VerifiedScanner } from "./verified.ts";

test("a candidate is not verified while more could join it", () => {
  const isLong = (candidate: string): [number, number][] => (candidate.length > 2 ? [[0, candidate.length]] : []);
  const scanner = new VerifiedScanner(compile("ab"), isLong);
  const safe = ["xab", "ab", "-ab"].map((piece) => {
    scanner.push(piece);
    return scanner.safe;
  });
  scanner.end();
  expect([scanner.spans, safe]).toEqual([[[1, 5]], [1, 1, 6]]);
});

test("findings of one candidate that overlap or touch are one, in whole texts and in pieces", () => {
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
