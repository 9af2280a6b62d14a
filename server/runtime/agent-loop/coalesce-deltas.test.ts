import { expect, jest, test } from "bun:test";
import { coalesceDeltas } from "./coalesce-deltas.ts";
import type { Piece } from "./output-guard.ts";

const say = (text: string, part = 0): Piece => ({ part, kind: "output", text });

function fixture() {
  const passed: Piece[] = [];
  return { passed, ...coalesceDeltas((piece) => void passed.push(piece)) };
}

test("each delta is forwarded at once, but those of very long answers are merged per interval", () => {
  jest.useFakeTimers();
  try {
    const { passed, push, flush } = fixture();
    for (let index = 0; index < 4096; index++) push(say("a"));
    expect(passed).toHaveLength(4096);
    for (const text of ["b", "c", "d"]) push(say(text));
    expect(passed).toHaveLength(4096);
    jest.advanceTimersByTime(4);
    for (const text of ["e", "f"]) push(say(text));
    push(say("g", 1));
    flush();
    flush();
    expect(passed.slice(4096)).toEqual([say("bcd"), say("ef"), say("g", 1)]);
  } finally {
    jest.useRealTimers();
  }
});

test("a million endless deltas become about ten thousand", () => {
  jest.useFakeTimers();
  try {
    const { passed, push, flush } = fixture();
    for (let index = 0; index < 1_000_000; index++) {
      push(say("a"));
      if (index % 10 === 0) jest.advanceTimersByTime(1);
    }
    flush();
    expect(passed.length).toBeLessThan(20_000);
    expect(passed.map(({ text }) => text).join("")).toBe("a".repeat(1_000_000));
  } finally {
    jest.useRealTimers();
  }
});
