import { describe, expect, test } from "bun:test";
import { hyphenatedWords, isContents, joinLines, type PdfLine, withoutFurniture, withoutLeaders } from "./pdf-lines.ts";

const line = (text: string, size = 10): PdfLine => ({ text, size, apart: false });
const page = (...texts: string[]): PdfLine[] => texts.map((text) => line(text));
const isTitle = ({ size }: PdfLine) => size > 10;
const left = (pages: PdfLine[][]) => withoutFurniture(pages, isTitle).map((lines) => lines.map(({ text }) => text));

describe("what is around a page's text", () => {
  test("is left out: running titles and numbers, also Roman ones", () => {
    expect(
      left([
        page("Manual", "i", "Preface.", "Thanks."),
        page("Manual", "ii", "More."),
        page("Manual", "iv", "First.", "Second.", "Third."),
      ]),
    ).toEqual([["Preface.", "Thanks."], ["More."], ["First.", "Second.", "Third."]]);
    expect(left([1, 2, 3].map((n) => page(`Text ${"abc"[n - 1]}`, `Page ${n} of 3`)))).toEqual([
      ["Text a"],
      ["Text b"],
      ["Text c"],
    ]);
    const chapters = [..."abcdef"].map((name, at) =>
      page(`Chapter ${name}  ${at + 7}`, `about ${name}`, `${name} ends`),
    );
    expect(left(chapters)[1]).toEqual(["about b", "b ends"]);
    expect(left([page("Alone.", "1"), page("Other.", "2")])).toEqual([["Alone."], ["Other."]]);
  });

  test("is not what is there once or twice, in the middle, or a title of some pages", () => {
    const twice = [page("Agenda", "a"), page("Agenda", "b"), page("c"), page("42")];
    expect(left(twice)).toEqual(twice.map((lines) => lines.map(({ text }) => text)));
    const middle = ["abc", "def", "ghi"].map((text) => page(`${text}1x`, `${text}2x`, "same", `${text}y`, `${text}z`));
    expect(left(middle)[0]).toContain("same");
    const titled = ["a", "b", "c", "d", "e", "f", "g"].map((text, at) => [
      line(at < 3 ? "Notes" : text, 20),
      line(`${text} text`),
    ]);
    expect(left(titled)[0]).toEqual(["Notes", "a text"]);
  });

  test("on every page is left out also where it is set like a title", () => {
    const titled = ["a", "b", "c"].map((text) => [line("Acme Inc.", 20), line(`${text} text`)]);
    expect(left(titled)).toEqual([["a text"], ["b text"], ["c text"]]);
    const running = ["b", "c", "d"].map((text) => page("Handbook", `${text} text`));
    expect(left([[line("Handbook", 20), line("a text")], ...running])[0]).toEqual(["Handbook", "a text"]);
  });
});

test("a word that was cut at the end of a line is whole again, and one that has a hyphen keeps it", () => {
  const words = hyphenatedWords([page("a well-known fact")]);
  expect(
    joinLines(["the manip-", "ulation of a well-", "known thing, 10-", "fold, and more -", "or less"], words),
  ).toBe("the manipulation of a well-known thing, 10-\nfold, and more -\nor less");
  expect(joinLines(["-c, --check-", "-d"], words)).toBe("-c, --check-\n-d");
  expect(joinLines([], words)).toBe("");
});

test("dots that lead to a page's number are few, and such a line is no title", () => {
  expect(withoutLeaders("1 Introduction . . . . . . . . 1")).toBe("1 Introduction … 1");
  expect(withoutLeaders("Naming.......... iv")).toBe("Naming … iv");
  expect(withoutLeaders("And so on... Then __init__.")).toBe("And so on... Then __init__.");
  expect([isContents("Naming … iv"), isContents("Naming … and more")]).toEqual([true, false]);
});
