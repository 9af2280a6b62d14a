import { expect, test } from "bun:test";
import { chooseWorker, type WorkerLoad } from "./worker-placement.ts";
import type { WorkerThread } from "./worker-threads.ts";

const thread = (): WorkerThread => ({ separate: true, send() {}, end() {} });
const [first, second, third] = [thread(), thread(), thread()];
const works = (owner: string, thread: WorkerThread, count: number): WorkerLoad<WorkerThread>[] =>
  Array.from({ length: count }, () => ({ owner, thread }));

test("one owner's work spreads over its permitted threads only", () => {
  expect(chooseWorker("a", [first, second], works("a", first, 1), 2)).toBe(second);
  expect(chooseWorker("a", [first, second], [...works("a", first, 2), ...works("a", second, 1)], 2)).toBe(second);
  const all = [...works("a", first, 5), ...works("a", second, 4)];
  expect(chooseWorker("a", [first, second, third], all, 2)).toBe(second);
});

test("a second owner gets a thread without others' work", () => {
  expect(chooseWorker("b", [first, second], works("a", first, 9), 1)).toBe(second);
  expect(chooseWorker("b", [first], works("a", first, 1), 1)).toBeNull();
  expect(chooseWorker("b", [], [], 1)).toBeNull();
});

test("if all threads have others' work, the last owner shares the one with the least", () => {
  const placed = [...works("a", first, 9), ...works("b", second, 2)];
  expect(chooseWorker("c", [first, second], placed, 1)).toBe(second);
});

test("work on a dead thread is not counted", () => {
  expect(chooseWorker("a", [second], works("a", first, 9), 1)).toBe(second);
});
