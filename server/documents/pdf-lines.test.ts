import { expect, test } from "bun:test";
import { hyphenatedWords, isContents, joinLines, type PdfLine, withoutLeaders } from "./pdf-lines.ts";

const page = (...texts: string[]): PdfLine[] =>
  texts.map((text) => ({ text, parts: [text], cells: [], size: 10, apart: false, box: null }));

test("a word that was cut at the end of a line is whole again, and one that has a hyphen keeps it", () => {
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

test("dots that lead to a page's number are few, and such a line is no title", () => {
  expect(withoutLeaders("1 Introduction . . . . . . . . 1")).toBe("1 Introduction … 1");
  expect(withoutLeaders("Naming.......... iv")).toBe("Naming … iv");
  expect(withoutLeaders("And so on... Then __init__.")).toBe("And so on... Then __init__.");
  expect([isContents("Naming … iv"), isContents("Naming … and more")]).toEqual([true, false]);
});
