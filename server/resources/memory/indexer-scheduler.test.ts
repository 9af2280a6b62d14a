import { expect, test } from "bun:test";
import { createIndexerBackoff } from "./indexer-backoff.ts";
import { createIndexerScheduler } from "./indexer-scheduler.ts";
import type { VectorStoreRow } from "./row.ts";

/** Creates stores that always have work, by owner; a turn lasts until the test ends it. */
function open(stores: Record<string, string[]>) {
  const rows = Object.entries(stores).flatMap(([project_id, ids]) =>
    ids.map((id) => ({ project_id, environment: "test", id, model: `model of ${id}`, next_model: null })),
  ) as VectorStoreRow[];
  const atWork = new Map<string, () => void>();
  const begun: string[] = [];
  const rests = createIndexerBackoff({ now: Date.now, pause_ms: 1000 });
  const turns = createIndexerScheduler({
    queue: { stores: () => rows, store: ({ id }) => rows.find((row) => row.id === id) ?? null },
    rests,
    turn: ({ id }) => {
      if (atWork.has(id)) throw new Error(`${id} has two turns at once`);
      begun.push(id);
      return new Promise((resolve) => {
        atWork.set(id, () => {
          atWork.delete(id);
          resolve();
        });
      });
    },
  });
  const next = async () => {
    // One turn to note the end, one to begin the next.
    for (let turn = 0; turn < 2; turn++) await new Promise(setImmediate);
    return [...atWork.keys()].sort();
  };
  return { turns, rests, begun, next, end: (id: string) => atWork.get(id)!() };
}

const many = ["a1", "a2", "a3", "a4", "a5", "a6"];

test("an owner with many stores leaves slots to others", async () => {
  const { turns, next } = open({ a: many, b: ["b1"] });
  turns.schedule();
  expect(await next()).toEqual(["a1", "a2", "a3", "b1"]);
});

test("a store that had its turn waits for its owner's other stores", async () => {
  const { turns, next, end, begun } = open({ a: many });
  turns.schedule();
  await next();
  end("a1");
  await next();
  expect(begun).toEqual(["a1", "a2", "a3", "a4", "a5"]);
});

test("a resting store gets no turn until it is woken or its rest is over", async () => {
  const { turns, rests, next } = open({ a: ["a1", "a2"] });
  rests.until("a1", Date.now() + 60_000);
  turns.schedule();
  expect(await next()).toEqual(["a2"]);
  turns.wake();
  expect(await next()).toEqual(["a1", "a2"]);
});

test("after a stop no turn begins, and stop resolves once the running ones are over", async () => {
  const { turns, next, end } = open({ a: ["a1"] });
  turns.schedule();
  await next();
  const stopped = turns.stop();
  end("a1");
  await stopped;
  turns.wake();
  expect(await next()).toEqual([]);
});
