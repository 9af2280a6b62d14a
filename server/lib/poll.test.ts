import { afterEach, beforeEach, expect, jest, test } from "bun:test";
import { createPoll } from "./poll.ts";

// Checks are asynchronous: the next timer is set some microtasks after one has fired.
async function pass(ms: number): Promise<void> {
  for (let passed = 0; passed < ms; passed += 10) {
    jest.advanceTimersByTime(10);
    for (let n = 0; n < 5; n++) await Promise.resolve();
  }
}

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

test("a poll checks while there is something to wait for, then rests until it is woken", async () => {
  const answers = [true, true, false, false];
  let count = 0;
  const poll = createPoll({ every_ms: 100, look: () => answers[count++] ?? false });
  await pass(1000);
  expect([count, jest.getTimerCount()]).toEqual([3, 0]);
  poll.wake();
  poll.wake();
  await pass(1000);
  expect([count, jest.getTimerCount()]).toEqual([4, 0]);
});

test("a resting poll still checks at its idle interval, and quickly once it finds something", async () => {
  let [count, isWaiting] = [0, false];
  const poll = createPoll({
    every_ms: 100,
    idle_ms: 1000,
    look() {
      count++;
      return isWaiting;
    },
  });
  await pass(200);
  count = 0;
  await pass(5000);
  expect(count).toBe(5);
  isWaiting = true;
  await pass(1000);
  count = 0;
  await pass(1000);
  expect(count).toBe(10);
  poll.stop();
});

test("a wake during a check is not lost, and no second check runs beside it", async () => {
  const checks: PromiseWithResolvers<boolean>[] = [];
  const poll = createPoll({
    every_ms: 100,
    look() {
      const check = Promise.withResolvers<boolean>();
      checks.push(check);
      return check.promise;
    },
  });
  await pass(200);
  poll.wake();
  await pass(1000);
  expect(checks).toHaveLength(1);
  checks[0]?.resolve(false);
  await pass(200);
  expect(checks).toHaveLength(2);
  poll.stop();
});

test("polls that begin at different times check in the same moment", async () => {
  const times: Record<string, number[]> = { quick: [], slow: [] };
  const start = (name: "quick" | "slow", every_ms: number) =>
    createPoll({
      every_ms,
      look(late_ms) {
        times[name]?.push(performance.now() - late_ms);
        return true;
      },
    });
  const polls = [start("quick", 100)];
  await pass(50);
  polls.push(start("slow", 300));
  await pass(3000);
  for (const poll of polls) poll.stop();
  const quick = new Set(times.quick?.map(Math.round));
  expect(times.slow?.length).toBeGreaterThan(8);
  expect(times.slow?.filter((time) => !quick.has(Math.round(time)))).toEqual([]);
});

test("a stopped poll checks no more, also if it is stopped during a check or woken later", async () => {
  let count = 0;
  const poll = createPoll({
    every_ms: 100,
    look() {
      count++;
      poll.stop();
      return true;
    },
  });
  await pass(1000);
  poll.wake();
  await pass(1000);
  expect([count, jest.getTimerCount()]).toEqual([1, 0]);
});
