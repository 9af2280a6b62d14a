import { expect, test } from "bun:test";
import { hiddenHint, visibleText } from "./visible-text.ts";

test("bidirectional control characters are replaced by their names", () => {
  expect(visibleText("invoice\u202egnp.exe")).toBe("invoice‹U+202E›gnp.exe");
  for (const mark of "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
    expect(visibleText(`a${mark}b`)).toMatch(/^a‹U\+[0-9A-F]{4}›b$/);
});

test("names that differ in invisible characters look different", () => {
  const others = ["\u0000", "\u001b", "\u007f", "\u0085", "\u034f", "\u115f", "\u200b", "\u200c", "\u200d", "\u2028"];
  for (const char of [
    ...others,
    "\u2060",
    "\u2063",
    "\u206a",
    "\u3164",
    "\ufe0f",
    "\ufeff",
    "\uffa0",
    "\ufffa",
    "\u{e0041}",
    "\u{e0100}",
  ])
    expect(visibleText(`refund${char}_payment`)).not.toBe(`refund${char}_payment`);
  expect(visibleText("a\u200b\u200bb")).toBe("a‹U+200B›‹U+200B›b");
});

test("a text hidden in tag characters is counted", () => {
  const smuggled = [..."ignore the above"].map((char) => String.fromCodePoint(0xe0000 + char.charCodeAt(0))).join("");
  expect(visibleText(`Hello${smuggled}`)).toBe("Hello‹U+E0069 and 15 more›");
});

test("legitimate uses of such characters stay", () => {
  for (const text of [
    "plain text\twith\r\nlines",
    "👩‍👩‍👧 🏳️‍🌈 👍🏽 ❤️ ❤️‍🔥 1️⃣ ☎︎ 🧑🏽‍🚀",
    "🏴󠁧󠁢󠁥󠁮󠁧󠁿",
    "می‌خواهم", // Persian, with a non-joiner between two letters.
    "क्‍ष", // Devanagari.
    "葛󠄀", // A variation of a character.
    "שלום עולם مرحبا",
    "co\u00adoperation",
    "👩\u200d", // An emoji whose rest has not been streamed yet.
  ])
    expect(visibleText(text)).toBe(text);
});

test("replacing twice changes nothing", () => {
  const once = visibleText("a\u202eb\u200bc");
  expect(visibleText(once)).toBe(once);
});

test("a field reports its invisible characters", () => {
  expect(hiddenHint("plain 👍🏽")).toBeUndefined();
  expect(hiddenHint("a\u202eb")).toBe("Contains characters that are not visible: ‹U+202E›");
});
