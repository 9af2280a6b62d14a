import { expect, test } from "bun:test";
import type { JournalEntry } from "../../domain/run-event.ts";
import type { Delta } from "../../runtime/agent-loop/messages.ts";
import { partialAnswer, RunSubscriptions } from "./run-subscriptions.ts";

const start = (seq: number): JournalEntry => ({
  seq,
  at: 0,
  event: {
    type: seq === 2 ? "step.started" : "step.restarted",
    step_type: "model_call",
    step_index: 0,
  } as JournalEntry["event"],
});
const piece = (anchor: number, text: string, more: Partial<Delta> = {}): Delta => ({
  anchor,
  step_index: 0,
  part: 0,
  kind: "output",
  text,
  ms: 1,
  ...more,
});

test("a waiter is woken by a commit and by a delta, but not by other runs", async () => {
  const watches = new RunSubscriptions();
  const watch = watches.join("a");
  const commit = watch.next(60_000);
  watches.committed("b", []);
  watches.committed("a", [start(2)]);
  expect(await commit).toBe(true);
  const delta = watch.next(60_000);
  watches.delta("a", piece(2, "Hi"));
  expect(await delta).toBe(true);
  expect(watch.live()).toMatchObject({ anchor: 2, length: 2 });
  expect(watch.commits()).toBe(1);
});

test("a waiter for commits alone is not woken by deltas", async () => {
  const watches = new RunSubscriptions();
  const watch = watches.join("a");
  watches.committed("a", [start(2)]);
  const woken: string[] = [];
  const waiting = watch.next(60_000, "commits").then(() => woken.push("woken"));
  watches.delta("a", piece(2, "Hi"));
  await new Promise((resolve) => setImmediate(resolve));
  expect(woken).toEqual([]);
  watches.committed("a", []);
  await waiting;
  expect(woken).toEqual(["woken"]);
});

test("deltas of a lost loop are void from its recovery on: their ids would go back", () => {
  const watches = new RunSubscriptions();
  const watch = watches.join("a");
  watches.committed("a", [start(2)]);
  watches.delta("a", piece(2, "one"));
  const recovered = { type: "run.recovered", attempt: 2, step_index: 0 } as const;
  watches.committed("a", [{ seq: 3, at: 0, event: recovered }]);
  watches.delta("a", piece(2, " two"));
  expect(watch.live()).toBeNull();
});

test("a waiter waits no longer than requested, and not after leaving", async () => {
  const watches = new RunSubscriptions();
  const watch = watches.join("a");
  expect(await watch.next(1)).toBe(false);
  const waiting = watch.next(60_000);
  watch.leave();
  expect(await waiting).toBe(false);
  expect(await watch.next(60_000)).toBe(false);
  expect(watches.size()).toBe(0);
});

test("deltas of a superseded attempt are ignored", () => {
  const watches = new RunSubscriptions();
  watches.committed("a", [start(2)]);
  watches.delta("a", piece(2, "old"));
  watches.committed("a", [start(4)]);
  watches.delta("a", piece(2, "late"));
  expect(watches.live("a")).toMatchObject({ anchor: 4, length: 0, pieces: [] });
});

test("nothing is kept of a run without readers and live output", () => {
  const watches = new RunSubscriptions();
  const readers = [watches.read("a", () => {}), watches.read("a", () => {}), watches.join("a")];
  watches.committed("a", [start(2)]);
  expect([watches.readers("a"), watches.size()]).toEqual([2, 1]);
  for (const reader of [...readers, ...readers]) reader.leave();
  expect(watches.size()).toBe(1); // The model call is live.
  watches.committed("a", [{ seq: 3, at: 0, event: { type: "run.cancelled" } as JournalEntry["event"] }]);
  expect([watches.readers("a"), watches.size()]).toEqual([0, 0]);
});

test("readers are notified once per tick, and not after leaving", async () => {
  const watches = new RunSubscriptions();
  const told: string[] = [];
  const [first, second] = ["first", "second"].map((name) => watches.read("a", () => told.push(name)));
  watches.committed("a", [start(2)]);
  for (const text of ["one", "two"]) watches.delta("a", piece(2, text));
  watches.committed("b", []);
  expect(told).toEqual([]);
  await new Promise((resolve) => setImmediate(resolve));
  expect([told, first!.live()?.pieces.length]).toEqual([["first", "second"], 2]);
  watches.committed("a", []);
  second!.leave();
  await new Promise((resolve) => setImmediate(resolve));
  expect(told).toEqual(["first", "second", "first"]);
});

test("a listener is called for every run until it is removed", () => {
  const watches = new RunSubscriptions();
  const heard: string[] = [];
  const stop = watches.listen((id) => heard.push(id));
  watches.committed("a", []);
  watches.committed("b", []);
  stop();
  watches.committed("c", []);
  expect(heard).toEqual(["a", "b"]);
});

test("the streamed part has the shape of the entry that would have ended its step", () => {
  const pieces = [
    piece(2, "hm", { part: 3, kind: "reasoning", ms: 1 }),
    piece(2, "Hel", { part: 7, ms: 2 }),
    piece(2, "lo", { part: 7, ms: 5 }),
  ].map((one) => ({ ...one, at: 0, end: 0 }));
  expect(partialAnswer({ anchor: 2, step_index: 0, pieces, length: 7 })).toEqual({
    parts: [
      { type: "reasoning", text: "hm" },
      { type: "text", text: "Hello" },
    ],
    deltas: [0, 2, 1, 1, 3, 2, 1, 2, 5],
  });
});

test("the partial answer is the same whether its deltas came together or one by one", () => {
  const said = (deltas: Parameters<RunSubscriptions["delta"]>[1][]) => {
    const watches = new RunSubscriptions();
    watches.committed("a", [start(2)]);
    for (const delta of deltas) watches.delta("a", delta);
    return partialAnswer(watches.live("a")!);
  };
  const [one, two] = [piece(2, "one"), { ...piece(2, " two"), ms: 9 }];
  const together = { ...piece(2, "one two"), marks: [3, one.ms, 4, 9] };
  expect(said([together, piece(2, ".")])).toEqual(said([one, two, piece(2, ".")]));
});
