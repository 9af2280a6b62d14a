import { expect, test } from "bun:test";
import { attemptLengths } from "./attempt-lengths.ts";

const at = (ms: number) => new Date(1_800_000_000_000 + ms).toISOString();
const retry = (attempt: number, ms: number, delay_ms: number) => ({
  ...{ attempt, at: at(ms), delay_ms },
  ...{ reason: null, usage: null },
});

test("an attempt is as long as it took itself: neither the attempts nor the waits before it count", () => {
  const retries = [retry(1, 300, 1000), retry(2, 1500, 2000), retry(3, 3600, 4000)];
  expect(attemptLengths({ started_at: at(0), retries })).toEqual([300, 200, 100]);
});

test("one that was given up before the wait was over took no time", () => {
  expect(attemptLengths({ started_at: at(0), retries: [retry(1, 300, 1000), retry(2, 500, 0)] })).toEqual([300, 0]);
});
