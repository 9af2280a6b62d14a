import { heapStats } from "bun:jsc";
import { expect, test } from "bun:test";
import { Transcript } from "./transcript.ts";

const words = "word ".repeat(50_000).match(/\S+\s/g)!;

function heard(): Transcript {
  const transcript = new Transcript();
  for (const [ms, text] of words.entries()) transcript.delta({ part: 0, kind: "output", text, ms });
  return transcript;
}

test("the transcript has the answer as it was streamed, delta by delta", () => {
  const { parts, deltas, length } = heard();
  expect(parts).toEqual([{ type: "text", text: words.join("") }]);
  expect([deltas.length, deltas.at(-2), deltas.at(-1), length]).toEqual([150_000, 5, 49_999, 250_000]);
});

// Hundreds of answers may be streamed at once, and each unmerged delta takes ten times its text.
test("an answer of 50,000 deltas is stored as one text while it is streamed", () => {
  const all = Array.from({ length: 10 }, heard);
  const size = (): number => {
    Bun.gc(true);
    return heapStats().heapSize;
  };
  const kept = size();
  for (const { parts } of all) expect(parts[0]).toMatchObject({ text: expect.stringMatching(/^word word /) });
  expect((kept - size()) / all.length).toBeLessThan(1024 * 1024);
});
