import { expect, test } from "bun:test";
import type { RunEvent } from "../../domain/run-event.ts";
import { type CallProgress, createCallProgress } from "./call-progress.ts";

const at =
  (progress: number, message: string | null = null) =>
  (): CallProgress => ({
    progress,
    total: 10,
    message,
    level: null,
  });
const log = (message: string) => (): CallProgress => ({ progress: null, total: null, message, level: "info" });

/** A reporter with a clock that the test moves. */
function createReporter({ count = 0, record = async () => {} }: { count?: number; record?(): Promise<void> } = {}) {
  const recorded: [at: number, ...said: (number | string | null)[]][] = [];
  let now = 0;
  let timer: { work: () => void; due: number } | null = null;
  const reporter = createCallProgress({
    call: { id: "call_1", step_index: 3 },
    count,
    record(events: RunEvent[]) {
      const said = events.map((event) => (event.type === "tool.progress" ? (event.progress ?? event.message) : null));
      recorded.push([now, ...said]);
      return record();
    },
    now: () => now,
    later(work, ms) {
      const own = { work, due: now + ms };
      timer = own;
      return () => {
        if (timer === own) timer = null;
      };
    },
  });
  const moveTo = (to: number) => {
    while (timer && timer.due <= to) {
      const { work, due } = timer;
      [timer, now] = [null, due];
      work();
    }
    now = to;
  };
  return { ...reporter, recorded, moveTo };
}

test("the first progress is journaled at once, and then the newest of each second", () => {
  const { tell, recorded, moveTo } = createReporter();
  tell("progress", at(1));
  tell("progress", at(2));
  moveTo(400);
  tell("progress", at(3));
  moveTo(5000);
  tell("progress", at(4));
  expect(recorded).toEqual([
    [0, 1],
    [1000, 3],
    [5000, 4],
  ]);
});

test("a log message does not displace progress, nor progress a log message", () => {
  const { tell, recorded, moveTo } = createReporter();
  tell("progress", at(1));
  tell("log", log("a"));
  tell("progress", at(2));
  tell("log", log("b"));
  moveTo(1000);
  expect(recorded).toEqual([
    [0, 1],
    [1000, "b", 2],
  ]);
});

test("a flood of a day is 200 events at most, and its texts are read only for those", () => {
  const { tell, recorded, moveTo } = createReporter();
  let reads = 0;
  const read = () => {
    reads++;
    return at(1)();
  };
  for (let second = 0; second < 86_400; second++) {
    moveTo(second * 1000);
    tell("progress", read);
    tell("progress", read);
  }
  expect(recorded.length).toBeGreaterThan(100);
  expect(recorded.length).toBeLessThanOrEqual(200);
  expect(reads).toBe(recorded.length);
});

test("events of an earlier process count", () => {
  const { tell, recorded, moveTo } = createReporter({ count: 199 });
  tell("progress", at(1));
  tell("progress", at(2));
  moveTo(60_000);
  expect(recorded).toEqual([[0, 1]]);
});

test("nothing follows the end of a call, which waits for what is being written", async () => {
  const written = Promise.withResolvers<void>();
  const { tell, stop, recorded, moveTo } = createReporter({ record: () => written.promise });
  tell("progress", at(1));
  tell("progress", at(2));
  let isStopped = false;
  const stopped = stop().then(() => {
    isStopped = true;
  });
  await Promise.resolve();
  expect(isStopped).toBe(false);
  written.resolve();
  await stopped;
  tell("progress", at(3));
  moveTo(60_000);
  expect(recorded).toEqual([[0, 1]]);
});

test("a run that has moved on does not make the call fail", async () => {
  const { tell, stop } = createReporter({ record: () => Promise.reject(new Error("superseded")) });
  tell("progress", at(1));
  await stop();
});
