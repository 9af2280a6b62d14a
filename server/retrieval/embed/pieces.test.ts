import { expect, test } from "bun:test";
import { piecesOf, readMax_chars } from "./pieces.ts";

const words = (count: number) => Array.from({ length: count }, (_, index) => `word${index}`).join(" ");

test("a short text is one piece, with its white space made plain", () => {
  expect(piecesOf("  one\n\n\ttwo   three ", 500)).toEqual(["one two three"]);
});

test.each(["", " \n\t "])("there is a piece of %j too", (text) => {
  expect(piecesOf(text, 500)).toEqual([""]);
});

test("a long text is cut between words into pieces of like size, and nothing is lost", () => {
  const text = words(400);
  const pieces = piecesOf(text, 500);
  expect(pieces.join(" ")).toBe(text);
  expect(pieces.length).toBe(Math.ceil(text.length / 500));
  const sizes = pieces.map(({ length }) => length);
  expect(Math.max(...sizes) - Math.min(...sizes)).toBeLessThan(200);
  expect(Math.max(...sizes)).toBeLessThanOrEqual(540);
});

test("a word without an end is cut where it must be", () => {
  const pieces = piecesOf("x".repeat(2000), 500);
  expect(pieces.map(({ length }) => length)).toEqual([500, 500, 500, 500]);
});

test.each(["x", "word ", " ", "a ", "\ud83d"])("a megabyte of %j is read to the bound and no further", (unit) => {
  const pieces = piecesOf(unit.repeat(1_000_000 / unit.length), 500);
  expect(pieces.join(" ").length).toBeLessThanOrEqual(readMax_chars + pieces.length);
  expect(pieces.length).toBeLessThanOrEqual(17);
});
