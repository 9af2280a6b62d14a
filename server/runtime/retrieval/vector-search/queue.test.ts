import { expect, test } from "bun:test";
import { createQueue } from "./queue.ts";

/** Runs jobs of the given numbers of pieces; returns the order of pieces by job name. */
function order(jobs: [owner: string, store: number, pieces: number][], drop: number[] = []): string[] {
  const seen: string[] = [];
  const steps: (() => void)[] = [];
  const queue = createQueue<void>((next) => void steps.push(next));
  for (const [id, [owner, store, pieces]] of jobs.entries()) {
    function* work() {
      for (let piece = 1; piece <= pieces; piece++) {
        seen.push(`${owner}${store}.${id}`);
        if (piece < pieces) yield;
      }
    }
    queue.add(id, { owner, store, work: work(), done: () => {}, failed: () => {} });
  }
  for (const id of drop) queue.drop(id);
  for (let step = steps.shift(); step; step = steps.shift()) step();
  return seen;
}

test("a search does not wait for all searches of another owner, in however many stores", () => {
  const noisy = [1, 2, 3, 4].map((store): [string, number, number] => ["a", store, 3]);
  const seen = order([...noisy, ["b", 9, 2]]);
  expect(seen.slice(0, 4)).toEqual(["a1.0", "b9.4", "a2.1", "b9.4"]);
  expect(seen).toHaveLength(14);
});

test("one search runs per store, and stores take turns", () => {
  expect(
    order([
      ["a", 1, 2],
      ["a", 1, 1],
      ["a", 2, 2],
    ]),
  ).toEqual(["a1.0", "a2.2", "a1.0", "a2.2", "a1.1"]);
});

test("a dropped job is not done", () => {
  expect(
    order(
      [
        ["a", 1, 1],
        ["b", 1, 1],
        ["a", 2, 1],
      ],
      [0, 1, 7],
    ),
  ).toEqual(["a2.2"]);
});
