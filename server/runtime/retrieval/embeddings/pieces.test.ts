import { expect, test } from "bun:test";
import { piecesOf, readMax_chars } from "./pieces.ts";

const words = (count: number) => Array.from({ length: count }, (_, index) => `word${index}`).join(" ");

test("a short text is one piece with collapsed white space", () => {
  expect(piecesOf("  one\n\n\ttwo   three ", 500)).toEqual(["one two three"]);
});

test.each(["", " \n\t "])("%j has a piece too", (text) => {
  expect(piecesOf(text, 500)).toEqual([""]);
});

test("a long text is cut between words into pieces of similar size, and nothing is lost", () => {
  const text = words(400);
  const pieces = piecesOf(text, 500);
  expect(pieces.join(" ")).toBe(text);
  expect(pieces.length).toBe(Math.ceil(text.length / 500));
  const sizes = pieces.map(({ length }) => length);
  expect(Math.max(...sizes) - Math.min(...sizes)).toBeLessThan(200);
  expect(Math.max(...sizes)).toBeLessThanOrEqual(540);
});

test("an endless word is cut within", () => {
  const pieces = piecesOf("x".repeat(2000), 500);
  expect(pieces.map(({ length }) => length)).toEqual([500, 500, 500, 500]);
});

test.each(["x", "word ", " ", "a ", "\ud83d"])("a megabyte of %j is read up to the limit only", (unit) => {
  const pieces = piecesOf(unit.repeat(1_000_000 / unit.length), 500);
  expect(pieces.join(" ").length).toBeLessThanOrEqual(readMax_chars + pieces.length);
  expect(pieces.length).toBeLessThanOrEqual(17);
});
