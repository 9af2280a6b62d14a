import { expect, test } from "bun:test";
import { expiryEnd, expiryFault, expiryOptions, expirySeconds } from "./expiry.ts";
import { countdown } from "./key-pill.tsx";

const now = new Date(2026, 10, 21, 12).getTime();

test("each choice shows its resulting day", () => {
  expect(expiryOptions(now).map(({ label }) => label)).toEqual([
    "Never",
    "In 30 days, on 21 Dec 2026",
    "In 90 days, on 19 Feb 2027",
    "In 1 year, on 21 Nov 2027",
    "On a date…",
  ]);
});

test("a date lasts until the end of its day, and a past day is refused", () => {
  const on = (date: string) => ({ choice: "date" as const, date });
  expect(expiryEnd(on("2026-11-21"), now)).toBe(new Date(2026, 10, 21, 23, 59, 59).getTime());
  expect(expiryFault(on("2026-11-21"), now)).toBeNull();
  expect(expiryFault(on("2026-11-20"), now)).toContain("in the past");
  expect(expiryFault(on(""), now)).toBe("Choose a date.");
  expect(expirySeconds({ choice: "30d", date: "" }, now)).toBe(30 * 86_400);
  expect(expirySeconds({ choice: "never", date: "" }, now)).toBeUndefined();
});

test("a countdown shows seconds, and days separately", () => {
  expect([0, 999, 76_449_000, 7 * 86_400_000].map(countdown)).toEqual([
    "00:00:00",
    "00:00:01",
    "21:14:09",
    "7 d 00:00:00",
  ]);
});
