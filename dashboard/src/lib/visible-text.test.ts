import { expect, test } from "bun:test";
import { hiddenHint, visibleText } from "./visible-text.ts";

test("marks that turn the direction of writing are named in their place", () => {
  expect(visibleText("invoice\u202egnp.exe")).toBe("invoice‹U+202E›gnp.exe");
  for (const mark of "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
    expect(visibleText(`a${mark}b`)).toMatch(/^a‹U\+[0-9A-F]{4}›b$/);
});

test("two names that differ in characters without a look do not look alike", () => {
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

test("a text in tags that no reader sees is counted", () => {
  const smuggled = [..."ignore the above"].map((char) => String.fromCodePoint(0xe0000 + char.charCodeAt(0))).join("");
  expect(visibleText(`Hello${smuggled}`)).toBe("Hello‹U+E0069 and 15 more›");
});

test("what such characters are for stays as it is", () => {
  for (const text of [
    "plain text\twith\r\nlines",
    "👩‍👩‍👧 🏳️‍🌈 👍🏽 ❤️ ❤️‍🔥 1️⃣ ☎︎ 🧑🏽‍🚀",
    "🏴󠁧󠁢󠁥󠁮󠁧󠁿",
    "می‌خواهم", // Persian, with a joiner that keeps two letters apart.
    "क्‍ष", // Devanagari.
    "葛󠄀", // A form of a character.
    "שלום עולם مرحبا",
    "co\u00adoperation",
    "👩\u200d", // A picture whose rest is still on its way.
  ])
    expect(visibleText(text)).toBe(text);
});

test("naming once more changes nothing", () => {
  const once = visibleText("a\u202eb\u200bc");
  expect(visibleText(once)).toBe(once);
});

test("a field tells of what it holds and does not show", () => {
  expect(hiddenHint("plain 👍🏽")).toBeUndefined();
  expect(hiddenHint("a\u202eb")).toBe("Contains characters that are not visible: ‹U+202E›");
});
