import { expect, test } from "bun:test";
import { fieldTime, spanStart, timeWords } from "./time-span.ts";

test("a span ends now, and a time is itself", () => {
  expect(spanStart("1h", 3_600_000)).toBe(0);
  expect(spanStart("1970-01-01T00:00:01Z", 0)).toBe(1000);
});

test("a range of one day names the day once", () => {
  const at = (hour: number, day = 21) => new Date(2026, 10, day, hour, 0).toISOString();
  expect(timeWords(at(2), at(6))).toBe("21 Nov 02:00 to 06:00");
  expect(timeWords(at(22), at(6, 22))).toBe("21 Nov 22:00 to 22 Nov 06:00");
  expect(timeWords(at(2), undefined)).toBe("since 21 Nov 02:00");
  expect(timeWords(undefined, at(2))).toBe("until 21 Nov 02:00");
  expect(timeWords("7d", undefined)).toBe("last 7 days");
});

test("a field of the browser shows the reader's own time", () => {
  expect(fieldTime(new Date(2026, 10, 21, 2, 5).getTime())).toBe("2026-11-21T02:05");
});
