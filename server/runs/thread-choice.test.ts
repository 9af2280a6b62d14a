import { expect, test } from "bun:test";
import { chooseThread, type Placed } from "./thread-choice.ts";
import type { Thread } from "./threads.ts";

const thread = (): Thread => ({ separate: true, send() {}, end() {} });
const [first, second, third] = [thread(), thread(), thread()];
const works = (owner: string, thread: Thread, count: number): Placed[] =>
  Array.from({ length: count }, () => ({ owner, thread }));

test("one owner's work spreads over the threads that it may have, and no further", () => {
  expect(chooseThread("a", [first, second], works("a", first, 1), 2)).toBe(second);
  expect(chooseThread("a", [first, second], [...works("a", first, 2), ...works("a", second, 1)], 2)).toBe(second);
  const all = [...works("a", first, 5), ...works("a", second, 4)];
  expect(chooseThread("a", [first, second, third], all, 2)).toBe(second);
});

test("who comes beside another gets a thread on which there is no work of others", () => {
  expect(chooseThread("b", [first, second], works("a", first, 9), 1)).toBe(second);
  expect(chooseThread("b", [first], works("a", first, 1), 1)).toBeNull();
  expect(chooseThread("b", [], [], 1)).toBeNull();
});

test("of threads that others work on, who comes last shares the one with the least of it", () => {
  const placed = [...works("a", first, 9), ...works("b", second, 2)];
  expect(chooseThread("c", [first, second], placed, 1)).toBe(second);
});

test("work on a thread that is gone counts nowhere", () => {
  expect(chooseThread("a", [second], works("a", first, 9), 1)).toBe(second);
});
