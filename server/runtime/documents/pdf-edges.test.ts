import { describe, expect, test } from "bun:test";
import { linesAt, type PlacedText, pdfOfPlaced, rowsAt, textsOfPages } from "../../testing/documents.ts";
import { parse } from "./parse.ts";

const read = async (pages: readonly (readonly PlacedText[])[]): Promise<string[]> =>
  textsOfPages((await parse(pdfOfPlaced(pages), "application/pdf")).sections, pages.length);

const people = ["Anna", "Bert", "Cora", "Dirk", "Emil"];

describe("text at page edges is kept, also if pages begin or end alike", () => {
  const paragraph = [
    "Your contract ends on the last day of the month in which",
    "you give notice in writing, and the deposit is paid back",
    "within thirty days after the keys were given to us",
  ];

  test("letters with the same last lines keep them", async () => {
    for (const top of [780, 160]) {
      const pages = people.map((name) => linesAt([`Dear ${name},`, ...paragraph], top));
      expect(await read(pages)).toEqual(people.map((name) => [`Dear ${name},`, ...paragraph].join("\n")));
    }
  });

  test("form letters that begin and end alike are complete", async () => {
    const pages = people.map((name) => [
      ...linesAt(["Dear customer,"], 780),
      ...linesAt([`We wrote to ${name}.`, ...paragraph], 750),
      ...linesAt(["Please answer within thirty days."], 80),
    ]);
    for (const text of await read(pages)) {
      expect(text).toStartWith("Dear customer,");
      expect(text).toEndWith("Please answer within thirty days.");
    }
  });

  test("figures of slides that increase with the slides are not taken for page numbers", async () => {
    const slide = (at: number): PlacedText[] => [
      ...linesAt([`Team ${people[at]}`], 700, 24),
      ...linesAt(["Rank"], 600, 16),
      ...linesAt([`${at + 1}`], 570, 16),
      { text: `${at + 1}`, x: 540, y: 25 },
    ];
    for (const numbered of [true, false]) {
      const pages = people.map((_, at) => slide(at).slice(0, numbered ? 4 : 3));
      for (const [at, text] of (await read(pages)).entries()) expect(text).toMatch(new RegExp(`Rank\\s+${at + 1}\\b`));
    }
    const tables = people.map((name, at) => [
      ...linesAt([`Team ${name}`], 780, 24),
      ...rowsAt(
        [...Array.from({ length: 40 }, (_, row) => [`Item ${row}`, `${row * at}`]), [`${at + 1}`]],
        740,
        [60, 200],
      ),
    ]);
    for (const [at, text] of (await read(tables)).entries()) expect(text.split(/\s/)).toContain(`${at + 1}`);
    const phases = ["Plan", "Build", "Ship"].map((name, at) => [
      ...linesAt([`Phase ${at + 1} of 3`], 600, 24),
      ...linesAt([`${name} it together, and tell the others of it in time`], 500),
    ]);
    for (const [at, text] of (await read(phases)).entries()) expect(text).toContain(`Phase ${at + 1} of 3`);
  });

  test("the two ends of a footer are two words, in whichever order they are drawn", async () => {
    const foot = [{ text: "7", x: 500, y: 30 }, ...linesAt(["Acme"], 30)];
    expect((await read([[...linesAt(["A text"], 700), ...foot]]))[0]).toEndWith("7 Acme");
  });
});
