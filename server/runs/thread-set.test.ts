import { expect, test } from "bun:test";
import { silentLog } from "../lib/log.ts";
import type { Notice, Order } from "../worker/messages.ts";
import { createThreadSet, type ThreadSetOptions } from "./thread-set.ts";
import type { Thread } from "./threads.ts";

interface Made {
  thread: Thread;
  say(notice: Notice): void;
  die(): void;
  sent: Order[];
  ended: boolean;
}

/** Threads that do what the test says. */
function set(options: Partial<ThreadSetOptions> = {}) {
  const made: Made[] = [];
  const deaths: Thread[] = [];
  const back = { wait: Promise.withResolvers<void>() };
  const threads = createThreadSet({
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

test("a thread that died is replaced where threads stand ready", async () => {
  using all = set();
  const replaced = all.replaced();
  all.made[0]!.die();
  expect([all.deaths, all.threads.isEmpty()]).toEqual([[all.made[0]!.thread], true]);
  await replaced;
  expect([all.made.length, all.threads.isEmpty()]).toEqual([2, false]);
});

test("where threads start when they are needed, a dead one is missed by nobody", async () => {
  using all = set({ isStanding: false });
  expect(all.made).toEqual([]);
  const first = all.threads.choose("work", "a", []);
  const replaced = all.replaced();
  all.made[0]!.die();
  await replaced;
  expect([all.made.length, all.threads.isEmpty()]).toEqual([1, true]);
  expect(all.threads.choose("work", "a", [])).not.toBe(first);
});

test("a thread that misses three beats is ended and counts as dead, and one that answers is left alone", async () => {
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

test("suspects have a thread of their own until the last of them is freed", () => {
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

test("who comes beside another gets a thread more, and a set that was stopped says nothing any more", () => {
  const heard: Notice[] = [];
  using all = set({ hear: (notice) => heard.push(notice) });
  const first = all.threads.choose("one", "a", []);
  expect(all.threads.choose("two", "b", [{ owner: "a", thread: first }])).toBe(all.made[1]!.thread);
  all.threads.stop();
  expect(all.made.map(({ ended }) => ended)).toEqual([true, true]);
  all.made[0]!.say({ do: "warn", message: "late", fields: {} });
  all.made[0]!.die();
  expect([heard, all.deaths]).toEqual([[], []]);
});
