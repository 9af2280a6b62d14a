import { expect, test } from "bun:test";
import { type PlacedText, pdfOfPlaced } from "../../testing/documents.ts";
import { parse } from "./parse.ts";

async function textOf(page: readonly PlacedText[]): Promise<string> {
  const { sections } = await parse(pdfOfPlaced([page]), "application/pdf");
  return sections.map(({ text }) => text).join("\n\n");
}

/** Places words from left to right, as they are seen; letters of Arabic and Hebrew are in the order of reading. */
function seen(words: readonly string[], y = 700): PlacedText[] {
  let x = 60;
  return words.map((word) => {
    const placed = { text: /[\u0590-\u08ff\ufb00-\ufefc]/.test(word) ? [...word].reverse().join("") : word, x, y };
    // A letter is half as wide as its ten points, and a space is as wide as a letter.
    x += 5 * (word.length + 1);
    return placed;
  });
}

test("words of Arabic and Hebrew that are drawn from left to right are in the order of reading", async () => {
  expect(await textOf(seen(["العربية", "الخطوط", "انواع"]))).toBe("انواع الخطوط العربية");
  expect(await textOf(seen(["כולם", "שלום", "עולם"]))).toBe("עולם שלום כולם");
});

test("the same words drawn from right to left are in the same order", async () => {
  expect(await textOf(seen(["العربية", "الخطوط", "انواع"]).reverse())).toBe("انواع الخطوط العربية");
});

test("letters that are drawn one by one are words", async () => {
  const letters = [..."أكثر من"].reverse().map((text, at) => ({ text, x: 60 + 5 * at, y: 700 }));
  expect(await textOf(letters.filter(({ text }) => text !== " "))).toBe("أكثر من");
});

test("Latin words and numbers within such a line keep their own direction", async () => {
  expect(await textOf(seen(["القادم", "May", "12", "في", "الاجتماع"]))).toBe("الاجتماع في May 12 القادم");
  const words = ["The", "words", "عليكم", "السلام", "greet", "everybody", "in", "the", "room"];
  expect(await textOf(seen(words))).toBe("The words السلام عليكم greet everybody in the room");
});

test("a ligature, and letters in the form of their place in a word, become the letters that search knows", async () => {
  // Lam and alef as one sign; lam and khah as one sign.
  expect(await textOf(seen(["\ufee3\ufeae\ufea3\ufe92\ufe8e", "\ufefb", "\ufe8d\ufccb\ufec4\ufeee\ufec1"]))).toBe(
    "الخطوط لا مرحبا",
  );
  expect(await textOf([{ text: "e\ufb03cient \ufb01le", x: 60, y: 700 }])).toBe("efficient file");
});

test("Hebrew letters with a point of their own are in the order of reading", async () => {
  expect(await textOf([{ text: [..."\ufb2aלום"].reverse().join(""), x: 60, y: 700 }])).toMatch(/^\u05c1?ש\u05c1?לום$/);
});
