import { expect, test } from "bun:test";
import fc from "fast-check";
import { estimateQueueWait, type Pace } from "./queue-wait-estimate.ts";

const left_ms = 3_600_000;
const working = (...times: number[]) => times.map((worked_ms) => ({ worked_ms, left_ms }));

test.each<[string, Pace, number, number]>([
  ["the run that is nearest to its end is waited for", { running: working(1000, 9000), recent_ms: [10_000] }, 0, 1000],
  ["those that wait already go before", { running: working(1000, 9000), recent_ms: [10_000] }, 1, 9000],
  [
    "more than there are slots wait for a second round",
    { running: working(1000, 9000), recent_ms: [10_000] },
    2,
    11_000,
  ],
  [
    "of runs that took longer the middle counts",
    { running: working(5000), recent_ms: [1, 6000, 7000, 90_000] },
    0,
    2000,
  ],
  ["one that outlasts all others is half way", { running: working(30_000), recent_ms: [1, 2, 3] }, 0, 30_000],
  ["without any that has ended it is half way", { running: working(4000), recent_ms: [] }, 0, 4000],
  ["its own end is the latest", { running: [{ worked_ms: 50_000, left_ms: 10_000 }], recent_ms: [90_000] }, 0, 10_000],
  ["where nothing works, nothing is waited for", { running: [], recent_ms: [10_000] }, 5, 0],
])("%s", (_, pace, ahead, ms) => {
  expect(estimateQueueWait(pace, ahead)).toBe(ms);
});

test("a later position in the queue never has a shorter wait", () => {
  const time = fc.nat({ max: 100_000 });
  const running = fc.array(fc.record({ worked_ms: time, left_ms: time }), { minLength: 1, maxLength: 5 });
  fc.assert(
    fc.property(running, fc.array(time, { maxLength: 5 }), (running, recent_ms) => {
      const waits = running.map((_, ahead) => estimateQueueWait({ running, recent_ms }, ahead));
      expect(waits).toEqual(waits.toSorted((a, b) => a - b));
      expect(waits[0]).toBeLessThanOrEqual(Math.min(...running.map(({ left_ms }) => left_ms)));
    }),
  );
});
