import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { linesAt, type PlacedText, pdfOfPlaced, rowsAt, textsOfPages } from "../../testing/documents.ts";
import { chunkSections } from "./chunking.ts";
import { estimateTokens } from "./estimate-tokens.ts";
import { parse } from "./parse.ts";

const read = async (pages: readonly (readonly PlacedText[])[]): Promise<string[]> =>
  textsOfPages((await parse(pdfOfPlaced(pages), "application/pdf")).sections, pages.length);

const people = ["Anna", "Bert", "Cora", "Dirk", "Emil"];

describe("no page of a PDF has a word of another record", () => {
  test("if each page is an invoice with a table of items and one of the bank", async () => {
    const pages = ["A", "B", "C"].map((name, at) => [
      ...linesAt([`Invoice 100${at}`], 770, 20),
      ...linesAt([`To: Customer ${name}`], 740),
      ...rowsAt(
        [
          ["Item", "Qty", "Price"],
          [`Widget ${name}`, `${at + 1}`, `${at + 1}0.00`],
        ],
        700,
        [60, 220, 300],
      ),
      ...rowsAt(
        [
          ["IBAN", `DE${at}${at}`],
          ["Due", `2026-1${at}-01`],
        ],
        100,
        [60, 220],
      ),
    ]);
    expect((await read(pages))[1]).toBe(
      "# Invoice 1001\n\nTo: Customer B\n\n" +
        "| Item | Qty | Price |\n| --- | --- | --- |\n| Widget B | 2 | 20.00 |\n\n" +
        "| IBAN | DE11 |\n| --- | --- |\n| Due | 2026-11-01 |",
    );
  });

  test.each<[string, (name: string, at: number) => string[][]]>([
    ["figures", (_, at) => Array.from({ length: 40 }, (_, row) => [`Kind ${row}`, `${row}${at}.00`])],
    ["words", (name) => Array.from({ length: 40 }, (_, row) => [`Kind ${row}`, `${name.toLowerCase()} entry`])],
  ])("if each page is a payslip and only a table of %s", async (_, entries) => {
    const pages = people.map((name, at) => rowsAt([["Employee", name], ...entries(name, at)], 780, [60, 220]));
    for (const [at, text] of (await read(pages)).entries()) {
      expect(text).toStartWith(`| Employee | ${people[at]} |\n| --- | --- |\n| Kind 0 |`);
      expect(people.filter((name) => text.toLowerCase().includes(name.toLowerCase()))).toEqual([people[at]!]);
    }
  });
});

describe("a table that continues over pages has its header on each", () => {
  const header = ["Date", "Shop", "Debit", "Credit"];
  const rows = Array.from({ length: 120 }, (_, at) => [
    `2026-10-${10 + (at % 20)}`,
    `Shop ${at}`,
    at % 3 ? `${at}.10` : "",
    at % 3 ? "" : `${at}.90`,
  ]);
  const columns = [60, 160, 300, 400];
  const furniture = (at: number, of: number): PlacedText[] => [
    { text: "Acme Bank", x: 60, y: 810 },
    { text: `Page ${at} of ${of}`, x: 280, y: 30 },
  ];
  const table = (from: number, to: number, first = header) => [first, ...rows.slice(from, to)];

  test.each([2, 3])("between the running heads and feet of %d pages", async (of) => {
    const each = 40;
    const pages = Array.from({ length: of }, (_, at) => [
      ...furniture(at + 1, of),
      ...rowsAt(at === 0 ? table(0, each) : rows.slice(at * each, at * each + each), 770, columns),
    ]);
    for (const text of await read(pages))
      expect(text.match(/\| Date \| Shop \| Debit \| Credit \|\n\| ---/g)).toHaveLength(1);
  });

  test("but not if text, a title, other columns or the middle of a page is between", async () => {
    const first = rowsAt(table(0, 40), 770, columns);
    const others: PlacedText[][] = [
      [...linesAt(["These are fees."], 780), ...rowsAt(rows.slice(40, 80), 750, columns)],
      [...linesAt(["Fees"], 780, 20), ...rowsAt(rows.slice(40, 80), 740, columns)],
      rowsAt(
        rows.slice(40, 80),
        770,
        columns.map((x) => x + 8),
      ),
      rowsAt(rows.slice(40, 50), 400, columns),
    ];
    for (const other of others) expect((await read([first, other]))[1]).not.toContain("Shop | Debit");
    const short = rowsAt(table(0, 10), 770, columns);
    expect((await read([short, rowsAt(rows.slice(40, 80), 770, columns)]))[1]).not.toContain("Shop | Debit");
  });
});

/** Pages of one form, each filled in for another person. */
interface Form {
  blocks: {
    kind: "title" | "text" | "pairs" | "table";
    columns: number[];
    rows: number;
    isBold: boolean;
    gap: number;
  }[];
  people: number;
  isNumeric: boolean;
  hasFoot: boolean;
  /** Each page begins with another block of the form. */
  isTurned: boolean;
}

const form: fc.Arbitrary<Form> = fc.record({
  blocks: fc.array(
    fc.record({
      kind: fc.constantFrom("title", "text", "pairs", "table"),
      columns: fc.constantFrom([60, 220], [60, 220, 300], [60, 160, 260, 360], [60, 220, 380]),
      rows: fc.integer({ min: 1, max: 12 }),
      isBold: fc.boolean(),
      gap: fc.integer({ min: 18, max: 200 }),
    }),
    { minLength: 1, maxLength: 5 },
  ),
  people: fc.integer({ min: 2, max: 5 }),
  isNumeric: fc.boolean(),
  hasFoot: fc.boolean(),
  isTurned: fc.boolean(),
});

function pageOf({ blocks, isNumeric, hasFoot, isTurned, people }: Form, person: number): PlacedText[] {
  let y = 790;
  let count = 0;
  const value = () =>
    isNumeric ? `${person + 1}${100 + count++}` : `${"abcde"[person]!.repeat(3)}${letters(count++)}`;
  const places = blocks.map((_, at) => (isTurned ? (at + person) % blocks.length : at));
  const texts = places.flatMap((block): PlacedText[] => {
    const { kind, columns, rows, isBold, gap } = blocks[block]!;
    const from = y;
    const height = kind === "title" ? 28 : kind === "text" ? 14 : 16 * (rows + 1);
    if (from - height < 70) return [];
    y -= height + gap;
    const label = (at: number) => `label${letters(block)}${letters(at)}`;
    if (kind === "title") return linesAt([`Title${letters(block)} ${value()}`], from, 20);
    if (kind === "text") return linesAt([`Text${letters(block)} ${value()}`], from);
    const entries = Array.from({ length: rows + 1 }, (_, row) =>
      columns.map((_, at) => ((kind === "pairs" ? at === 0 : row === 0) ? label(row * 5 + at) : value())),
    );
    return rowsAt(entries, from, columns, isBold);
  });
  return hasFoot ? [...texts, { text: `Page ${person + 1} of ${people}`, x: 260, y: 30 }] : texts;
}

const letters = (number: number): string => String(number).replace(/\d/g, (digit) => "ghijklmnop"[+digit]!);
const wordsIn = (text: string) =>
  text
    .split(/[\s|#]+/)
    .filter((word) => /[\p{L}\p{N}]/u.test(word))
    .sort();

test("each page of a form filled in for several people has its own words, as often as drawn", async () => {
  await fc.assert(
    fc.asyncProperty(form, async (form) => {
      const pages = Array.from({ length: form.people }, (_, person) => pageOf(form, person));
      const drawn = pages.map((page) =>
        wordsIn(
          page
            .filter(({ text }) => !text.startsWith("Page "))
            .map(({ text }) => text)
            .join(" "),
        ),
      );
      if (drawn.every((words) => words.length === 0)) return;
      expect((await read(pages)).map(wordsIn)).toEqual(drawn);
      const { sections } = await parse(pdfOfPlaced(pages), "application/pdf");
      const sizes = { max_chunk_size_tokens: 100, chunk_overlap_tokens: 20 };
      for (const { text, page } of chunkSections(sections, sizes, estimateTokens))
        for (const word of wordsIn(text)) expect(drawn[page! - 1]).toContain(word);
    }),
    { numRuns: 300 },
  );
}, 60_000);
