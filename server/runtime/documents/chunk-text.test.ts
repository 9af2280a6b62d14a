import { expect, test } from "bun:test";
import fc from "fast-check";
import { type Chunking, defaultChunking } from "../../domain/chunking.ts";
import { chunkText } from "./chunk-text.ts";
import { loadTokenCounter } from "./count-tokens.ts";
import { estimateTokens } from "./estimate-tokens.ts";

const count = loadTokenCounter();
const chunksOf = (text: string, chunking: Chunking = defaultChunking) => [...chunkText(text, chunking)].flat();
const solid = (text: string) => text.replace(/\s/g, "");
const sentence = (at: number) => `Sentence ${at} says that the committee meets in room ${at}.`;

test("a short text is one chunk, without control characters", () => {
  expect(chunksOf("  short\0 \ud800text ")).toEqual([
    { text: "short \ufffdtext", tokens: expect.any(Number), page: null, heading: null },
  ]);
  expect(chunksOf(" \n\u0001")).toEqual([]);
});

test("a long text is cut completely and in steps, and no chunk exceeds the limit", () => {
  const chunking = { max_chunk_size_tokens: 100, chunk_overlap_tokens: 0 };
  const unit = fc.constantFrom(sentence(1), "漢字仮名。", "😀", "\n\n", "\n", " ", "x".repeat(300), "1,5;");
  fc.assert(
    fc.property(fc.array(unit, { maxLength: 60 }), fc.integer({ min: 1, max: 60 }), (units, times) => {
      const text = units.join("").repeat(times);
      const chunks = chunksOf(text, chunking);
      expect(solid(chunks.map((chunk) => chunk.text).join(""))).toBe(solid(text));
      for (const chunk of chunks) {
        expect(chunk.tokens).toBe(estimateTokens(chunk.text));
        expect(chunk.tokens).toBeLessThanOrEqual(100);
        expect(chunk.text.isWellFormed()).toBe(true);
      }
    }),
    { numRuns: 50 },
  );
  const long = Array.from({ length: 5000 }, (_, at) => sentence(at)).join(" ");
  const parts = [...chunkText(long, chunking)];
  expect(parts.length).toBeGreaterThan(10);
  expect(
    solid(
      parts
        .flat()
        .map(({ text }) => text)
        .join(""),
    ),
  ).toBe(solid(long));
});

test.each([
  ["English", sentence(7).repeat(20)],
  ["German", "Der Ausschuss tagt jeden ersten Montag im Monat in Zimmer vier, außer an Feiertagen. ".repeat(20)],
  ["Russian", "Комитет собирается в первый понедельник каждого месяца в четвёртой комнате. ".repeat(20)],
  ["Chinese", "委员会每个月的第一个星期一在四号房间开会，节假日除外。".repeat(20)],
  ["Hindi", "समिति हर महीने के पहले सोमवार को कमरा नंबर चार में मिलती है। ".repeat(20)],
  ["code", 'export const keysOf = ({ id, name }: Row) => [id, name ?? "none"]; // All of them.\n'.repeat(20)],
  ["numbers", "314159265 2,718 10.000\n".repeat(50)],
])("the estimated tokens of %s are at most a fifth too few and at most twice too many", (_, text) => {
  const [estimated, real] = [estimateTokens(text), count(text)];
  expect(estimated).toBeGreaterThan(0.8 * real);
  expect(estimated).toBeLessThan(2.1 * real);
});
