import { expect, test } from "bun:test";
import { createQueue } from "./queue.ts";

/** Jobs of so many pieces each, all done; answers the pieces in their order, by the names of their jobs. */
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

test("an owner's search does not wait for all of another's, in however many stores those are", () => {
  const noisy = [1, 2, 3, 4].map((store): [string, number, number] => ["a", store, 3]);
  const seen = order([...noisy, ["b", 9, 2]]);
  expect(seen.slice(0, 4)).toEqual(["a1.0", "b9.4", "a2.1", "b9.4"]);
  expect(seen).toHaveLength(14);
});

test("of one store one search is at work, and stores take turns", () => {
  expect(
    order([
      ["a", 1, 2],
      ["a", 1, 1],
      ["a", 2, 2],
    ]),
  ).toEqual(["a1.0", "a2.2", "a1.0", "a2.2", "a1.1"]);
});

test("what is dropped is not done", () => {
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
