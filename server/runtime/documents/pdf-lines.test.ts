import { expect, test } from "bun:test";
import { hyphenatedWords, isContents, joinLines, type PdfLine, withoutLeaders } from "./pdf-lines.ts";

const page = (...texts: string[]): PdfLine[] =>
  texts.map((text) => ({ text, parts: [text], cells: [], size: 10, hasGapAbove: false, box: null }));

test("a word hyphenated at a line end is joined, and a word with a hyphen of its own keeps it", () => {
  const words = hyphenatedWords([page("a well-known fact")]);
  const joined = (texts: string[]) =>
    joinLines(
      texts.map((text) => ({ text, box: null })),
      words,
    )
      .map(({ text }) => text)
      .join("\n");
  expect(joined(["the manip-", "ulation of a well-", "known thing, 10-", "fold, and more -", "or less"])).toBe(
    "the manipulation of a well-known thing, 10-\nfold, and more -\nor less",
  );
  expect(joined(["-c, --check-", "-d"])).toBe("-c, --check-\n-d");
  expect(joined([])).toBe("");
});

test("the dots before a page number are shortened, and such a line is no title", () => {
  expect(withoutLeaders("1 Introduction . . . . . . . . 1")).toBe("1 Introduction … 1");
  expect(withoutLeaders("Naming.......... iv")).toBe("Naming … iv");
  expect(withoutLeaders("And so on... Then __init__.")).toBe("And so on... Then __init__.");
  expect([isContents("Naming … iv"), isContents("Naming … and more")]).toEqual([true, false]);
});
