import { expect, test } from "bun:test";
import { apiKeyFixture } from "./key-fixtures.ts";
import { firstOverlap, overlapFault, overlapSeconds, overlapShare, overlapWords } from "./overlap.ts";

const now = new Date(2026, 10, 21, 14, 42).getTime();

test("the exact end of the old key is shown, never later than its own expiry", () => {
  expect(overlapWords(86_400, now, null)).toBe("The old key works until tomorrow 14:42. Both are valid until then.");
  expect(overlapWords(0, now, null)).toContain("stops at once");
  const own = new Date(now + 3_600_000).toISOString();
  expect(overlapWords(86_400, now, own)).toContain("until today 15:42, when it expires anyway");
});

test("the default overlap of a key sent in clear text is none", () => {
  expect(firstOverlap(apiKeyFixture()).choice).toBe("24h");
  expect(firstOverlap(apiKeyFixture({ exposed_at: "2026-11-20T00:00:00.000Z" })).choice).toBe("now");
});

test("a custom overlap is at most 30 days", () => {
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

test("a longer overlap has a longer bar, within the chart", () => {
  const shares = [0, 3600, 86_400, 7 * 86_400, 30 * 86_400].map(overlapShare);
  expect(shares).toEqual([...shares].sort((one, other) => one - other));
  expect([shares[0], shares.at(-1)]).toEqual([0, 1]);
});
