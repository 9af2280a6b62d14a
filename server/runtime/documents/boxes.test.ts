import { expect, test } from "bun:test";
import fc from "fast-check";
import { defaultChunking } from "../../domain/chunking.ts";
import { pdfOf } from "../../testing/documents.ts";
import { type Box, boxesWithin, placesOf } from "./boxes.ts";
import { chunkSections } from "./chunking.ts";
import { estimateTokens } from "./estimate-tokens.ts";
import { parse } from "./parse.ts";

test("lines below one another share a box, and other lines have their own", () => {
  const box = (left: number, top: number): Box => [left, top, left + 30, top + 4];
  const lines = [box(10, 10), box(12, 15), null, box(10, 40), box(60, 10), box(60, 14)];
  const places = placesOf(lines.map((box, at) => ({ text: `line ${at}`, box })));
  expect(boxesWithin(places, 0, 100)).toEqual([
    [10, 10, 42, 19],
    [10, 40, 40, 44],
    [60, 10, 90, 18],
  ]);
  expect(boxesWithin(places, 7, 13)).toEqual([box(12, 15)]);
});

test("the box of a PDF line is its place on the displayed page", async () => {
  const { sections } = await parse(pdfOf(["# Title\nfirst\nsecond"]), "application/pdf");
  const [chunk] = chunkSections(sections, defaultChunking, estimateTokens);
  expect(chunk?.text).toBe("# Title\n\nfirst\nsecond");
  const [[left, top, right, bottom]] = chunk!.boxes as [Box];
  // 60 and 780 of 595 by 842 points; letters are half as wide as high.
  expect(left).toBeCloseTo(60 / 595, 2);
  expect(top).toBeCloseTo(1 - 780 / 842, 1);
  expect(right).toBeCloseTo((60 + 5 * 10) / 595, 1);
  expect(bottom - top).toBeCloseTo((26 + 14 + 14) / 842, 1);
});

test("each chunk has the boxes of its lines, wherever it is cut", async () => {
  const word = fc.constantFrom("lighthouse", "keeper.", "counts", "ships", "in", "winter.");
  const line = fc.array(word, { minLength: 1, maxLength: 9 }).map((words) => words.join(" "));
  await fc.assert(
    fc.asyncProperty(
      fc.array(line, { minLength: 1, maxLength: 45 }),
      fc.integer({ min: 20, max: 60 }),
      async (lines, max) => {
        const numbered = lines.map((text, at) => `L${at} ${text}`);
        const { sections } = await parse(pdfOf([numbered.join("\n")]), "application/pdf");
        const chunking = { max_chunk_size_tokens: max, chunk_overlap_tokens: 0 };
        for (const { text, boxes } of chunkSections(sections, chunking, estimateTokens)) {
          const held = [...text.matchAll(/L(\d+)\b/g)].map(([, at]) => 1 - (780 - 14 * (Number(at) + 1)) / 842);
          const [top, bottom] = [boxes!.at(0)![1], boxes!.at(-1)![3]];
          for (const y of held) expect(top - 0.02 <= y && y <= bottom + 0.02).toBe(true);
          expect(bottom - top).toBeLessThan((14 * (held.length + 2)) / 842);
        }
      },
    ),
    { numRuns: 30, seed: 21 },
  );
});
