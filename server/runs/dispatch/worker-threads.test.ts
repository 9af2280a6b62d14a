import { expect, test } from "bun:test";
import { silentLog } from "../../lib/log.ts";
import type { FromWorker, ToWorker } from "../../runtime/agent-loop/messages.ts";
import {
  type WorkerFactory,
  WorkerSupervisor,
  type WorkerSupervisorOptions,
  type WorkerThread,
  withOrdering,
} from "./worker-threads.ts";

test("a thread is pinged even while its messages are held back", () => {
  const sent: ToWorker["do"][] = [];
  const make: WorkerFactory = () => ({ separate: true, send: (message) => sent.push(message.do), end() {} });
  const held: (() => void)[] = [];
  const ordering = (send: (message: ToWorker) => void) => (message: ToWorker) => void held.push(() => send(message));
  const thread = withOrdering(make, ordering)(
    () => {},
    () => {},
  );
  thread.send({ do: "abort", drive: 1 });
  thread.send({ do: "ping" });
  expect(sent).toEqual(["ping"]);
  for (const leave of held) leave();
  expect(sent).toEqual(["ping", "abort"]);
});

interface Made {
  thread: WorkerThread;
  say(message: FromWorker): void;
  die(): void;
  sent: ToWorker[];
  ended: boolean;
}

/** Fake threads, controlled by the test. */
function set(options: Partial<WorkerSupervisorOptions> = {}) {
  const made: Made[] = [];
  const deaths: WorkerThread[] = [];
  const back = { wait: Promise.withResolvers<void>() };
  const threads = new WorkerSupervisor({
    threads(onMessages, onExit) {
      const one: Made = {
        thread: {
          separate: true,
          send: (message) => void one.sent.push(message),
          end() {
            one.ended = true;
          },
        },
        say: (message) => onMessages([message]),
        die: () => onExit("killed by the test"),
        sent: [],
        ended: false,
      };
      made.push(one);
      return one.thread;
    },
    most: 1,
    isStanding: true,
    hasWork: () => true,
    log: silentLog,
    onMessage() {},
    onExit(thread) {
      deaths.push(thread);
      return () => {
        back.wait.resolve();
        back.wait = Promise.withResolvers();
      };
    },
    ...options,
  });
  return { threads, made, deaths, replaced: () => back.wait.promise, [Symbol.dispose]: () => threads.stop() };
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
  well.thread.send = (message) => {
    send(message);
    well.say({ do: "pong" });
  };
  await all.replaced();
  expect(all.deaths).toEqual([stuck.thread]);
  expect([stuck.ended, well.ended, stuck.sent.length]).toEqual([true, false, 3]);
});

test("threads that have no work and have answered are left alone, until there is work again", async () => {
  let hasWork = true;
  let onPing = () => {};
  using all = set({ beat_ms: 1, hasWork: () => hasWork });
  const [one] = all.made as [Made];
  const { send } = one.thread;
  one.thread.send = (message) => {
    send(message);
    one.say({ do: "pong" });
    onPing();
  };
  const pinged = () => new Promise<void>((resolve) => (onPing = resolve));
  for (let n = 0; n < 5; n++) await pinged();
  hasWork = false;
  await pinged(); // Once more, because its last work may have blocked it.
  const { length } = one.sent;
  await Bun.sleep(20); // Twenty beats.
  expect(one.sent).toHaveLength(length);
  all.threads.choose("work", "a", []);
  await pinged();
});

test("a thread that is stuck in work that was given up is found although it has no other", async () => {
  using all = set({ beat_ms: 1, hasWork: () => false });
  const [one] = all.made as [Made];
  const { send } = one.thread;
  let isStuck = false;
  const rested = Promise.withResolvers<void>();
  one.thread.send = (message) => {
    send(message);
    if (isStuck) return;
    one.say({ do: "pong" });
    rested.resolve();
  };
  await rested.promise;
  isStuck = true;
  all.threads.choose("work", "a", []);
  await all.replaced();
  expect(all.deaths).toEqual([one.thread]);
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
  const received: FromWorker[] = [];
  using all = set({ onMessage: (message) => received.push(message) });
  const first = all.threads.choose("one", "a", []);
  expect(all.threads.choose("two", "b", [{ owner: "a", thread: first }])).toBe(all.made[1]!.thread);
  all.threads.stop();
  expect(all.made.map(({ ended }) => ended)).toEqual([true, true]);
  all.made[0]!.say({ do: "log", level: "warn", message: "late", fields: {} });
  all.made[0]!.die();
  expect([received, all.deaths]).toEqual([[], []]);
});
