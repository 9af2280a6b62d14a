import { expect, test } from "bun:test";
import fc from "fast-check";
import { cursorAfter, offsetAfter, offsetOf, parseOffset } from "./offset.ts";

const place = fc.record({ seq: fc.nat(1e12), offset: fc.nat(1e12) });

test("offsets sort as texts like the places that they name, and lead back to them", () => {
  fc.assert(
    fc.property(place, place, (a, b) => {
      const order = a.seq - b.seq || a.offset - b.offset;
      expect(Math.sign(offsetOf(a).localeCompare(offsetOf(b), "en"))).toBe(Math.sign(order));
      expect(parseOffset(offsetOf(a))).toMatchObject(a);
    }),
  );
});

test("the offset behind an event is made of its id", () => {
  expect(offsetAfter("12")).toBe(offsetOf({ seq: 12, offset: 0 }));
  expect(offsetAfter("12.340")).toBe(offsetOf({ seq: 12, offset: 340 }));
  expect(parseOffset("-1")).toEqual({ seq: 0, anchor: null, offset: 0 });
});

test.each(["", "0", "12", "12_1", "12.340", "now", "-2", "000000000000001_000000000000001x", "../etc"])(
  "%p is no offset",
  (text) => {
    expect(() => parseOffset(text)).toThrow("is no offset");
  },
);

test("a cursor is the time in intervals, and always grows", () => {
  const now = Date.UTC(2026, 0, 1);
  const first = Number(cursorAfter(null, now));
  expect(Number(cursorAfter(null, now + 20_000))).toBe(first + 1);
  expect(Number(cursorAfter(String(first - 5), now))).toBe(first);
  for (const given of [first, first + 9]) expect(Number(cursorAfter(String(given), now))).toBeGreaterThan(given);
  expect(Number(cursorAfter("nonsense", now))).toBe(first);
});
