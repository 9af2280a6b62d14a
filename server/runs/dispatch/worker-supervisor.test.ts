import { expect, test } from "bun:test";
import { silentLog } from "../../lib/log.ts";
import type { FromWorker, ToWorker } from "../../runtime/agent-loop/messages.ts";
import { createWorkerSupervisor, type WorkerSupervisorOptions } from "./worker-supervisor.ts";
import type { WorkerThread } from "./worker-threads.ts";

interface Made {
  thread: WorkerThread;
  say(notice: FromWorker): void;
  die(): void;
  sent: ToWorker[];
  ended: boolean;
}

/** Fake threads, controlled by the test. */
function set(options: Partial<WorkerSupervisorOptions> = {}) {
  const made: Made[] = [];
  const deaths: WorkerThread[] = [];
  const back = { wait: Promise.withResolvers<void>() };
  const threads = createWorkerSupervisor({
    threads(hear, died) {
      const one: Made = {
        thread: {
          separate: true,
          send: (order) => void one.sent.push(order),
          end() {
            one.ended = true;
          },
        },
        say: (notice) => hear([notice]),
        die: () => died("killed by the test"),
        sent: [],
        ended: false,
      };
      made.push(one);
      return one.thread;
    },
    most: 1,
    isStanding: true,
    log: silentLog,
    hear() {},
    died(thread) {
      deaths.push(thread);
      return () => {
        back.wait.resolve();
        back.wait = Promise.withResolvers();
      };
    },
    ...options,
  });
  return { threads, made, deaths, replaced: () => back.wait.promise, [Symbol.dispose]: threads.stop };
}

test("standing threads are replaced when they die", async () => {
  using all = set();
  const replaced = all.replaced();
  all.made[0]!.die();
  expect([all.deaths, all.threads.isEmpty()]).toEqual([[all.made[0]!.thread], true]);
  await replaced;
  expect([all.made.length, all.threads.isEmpty()]).toEqual([2, false]);
});

test("on-demand threads are not replaced when they die", async () => {
  using all = set({ isStanding: false });
  expect(all.made).toEqual([]);
  const first = all.threads.choose("work", "a", []);
  const replaced = all.replaced();
  all.made[0]!.die();
  await replaced;
  expect([all.made.length, all.threads.isEmpty()]).toEqual([1, true]);
  expect(all.threads.choose("work", "a", [])).not.toBe(first);
});

test("a thread that misses three pings is ended and counts as dead, and one that responds is kept", async () => {
  using all = set({ most: 2, beat_ms: 1 });
  const [stuck, well] = all.made as [Made, Made];
  const { send } = well.thread;
  well.thread.send = (order) => {
    send(order);
    well.say({ do: "pong" });
  };
  await all.replaced();
  expect(all.deaths).toEqual([stuck.thread]);
  expect([stuck.ended, well.ended, stuck.sent.length]).toEqual([true, false, 3]);
});

test("suspects have their own thread until the last of them is freed", () => {
  using all = set();
  const shared = all.threads.choose("other", "a", []);
  all.threads.confine(["one", "two"]);
  const own = all.threads.choose("one", "a", []);
  expect([own === shared, all.threads.choose("two", "a", [])]).toEqual([false, own]);
  all.threads.free("one");
  expect(all.made[1]!.ended).toBe(false);
  all.threads.free("two");
  expect([all.made[1]!.ended, all.threads.choose("two", "a", [])]).toEqual([true, shared]);
});

test("a second owner gets another thread, and a stopped supervisor reports nothing", () => {
  const heard: FromWorker[] = [];
  using all = set({ hear: (notice) => heard.push(notice) });
  const first = all.threads.choose("one", "a", []);
  expect(all.threads.choose("two", "b", [{ owner: "a", thread: first }])).toBe(all.made[1]!.thread);
  all.threads.stop();
  expect(all.made.map(({ ended }) => ended)).toEqual([true, true]);
  all.made[0]!.say({ do: "warn", message: "late", fields: {} });
  all.made[0]!.die();
  expect([heard, all.deaths]).toEqual([[], []]);
});
