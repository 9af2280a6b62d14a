import { expect, test } from "bun:test";
import { someKey } from "./key-fixtures.ts";
import { firstOverlap, overlapFault, overlapSeconds, overlapShare, overlapWords } from "./overlap.ts";

const now = new Date(2026, 10, 21, 14, 42).getTime();

test("the end of the old key is told exactly, and never later than the key itself ends", () => {
  expect(overlapWords(86_400, now, null)).toBe("The old key works until tomorrow 14:42. Both are valid until then.");
  expect(overlapWords(0, now, null)).toContain("stops at once");
  const own = new Date(now + 3_600_000).toISOString();
  expect(overlapWords(86_400, now, own)).toContain("until today 15:42, when it expires anyway");
});

test("nothing is left to work of a key that was sent in clear text, unless somebody chooses so", () => {
  expect(firstOverlap(someKey()).choice).toBe("24h");
  expect(firstOverlap(someKey({ exposed_at: "2026-11-20T00:00:00.000Z" })).choice).toBe("now");
});

test("an overlap of one's own goes to 30 days and no further", () => {
  const own = (amount: string, unit: "hours" | "days") => overlapSeconds({ choice: "own", amount, unit });
  expect([own("36", "hours"), own("1.5", "days"), own("30", "days"), own("31", "days"), own("x", "days")]).toEqual([
    129_600,
    129_600,
    2_592_000,
    null,
    null,
  ]);
  expect(overlapFault({ choice: "own", amount: "", unit: "hours" })).toContain("30 days");
});

test("a longer overlap is a longer bar, within the picture", () => {
  const shares = [0, 3600, 86_400, 7 * 86_400, 30 * 86_400].map(overlapShare);
  expect(shares).toEqual([...shares].sort((one, other) => one - other));
  expect([shares[0], shares.at(-1)]).toEqual([0, 1]);
});
