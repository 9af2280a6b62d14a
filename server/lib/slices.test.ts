import { afterAll, beforeAll, expect, spyOn, test } from "bun:test";
import { inSlices, mayGoOn } from "./slices.ts";

const tick = () => new Promise((resolve) => setImmediate(resolve));

// A clock that stands still but for the work of these tests: a machine that does is no long work.
let at = 0;
const work = (ms: number) => {
  at += ms;
};
const clock = spyOn(performance, "now");
beforeAll(() => void clock.mockImplementation(() => at));
afterAll(() => clock.mockRestore());

test("long work lets others go first, and short work does not wait for them", async () => {
  await tick(); // Work of another test may have had its slice of this turn.
  let pauses = 0;
  const rest = inSlices(() => void pauses++);
  await rest();
  expect(pauses).toBe(0);
  work(9);
  await rest();
  await rest();
  expect(pauses).toBe(1);
});

test("much long work at once takes no more of a turn than one alone", async () => {
  const order: string[] = [];
  const longWork = async (name: string) => {
    const rest = inSlices();
    for (let piece = 0; piece < 3; piece++) {
      order.push(name);
      work(9); // More than a slice.
      await rest();
    }
  };
  const all = ["a", "b", "c"].map(longWork);
  const turns: number[] = [];
  while (order.length < 9) {
    const before = order.length; // All three have begun.
    await tick();
    turns.push(order.length - before);
  }
  await Promise.all(all);
  expect(Math.max(...turns)).toBe(1);
  expect(order).toEqual(["a", "b", "c", "a", "b", "c", "a", "b", "c"]);
});

test("short work goes on beside long work in the same turn, until it is long itself", async () => {
  await tick();
  const long = inSlices();
  work(9);
  const theirs = long();
  const rest = inSlices();
  for (let piece = 0; piece < 5; piece++) await rest();
  expect(Bun.peek.status(theirs)).toBe("pending");
  work(9);
  const own = rest();
  await Promise.resolve();
  expect(Bun.peek.status(own)).toBe("pending");
  await Promise.all([theirs, own]);
});

test("who cannot wait is told whether to go on, and called once others have had their turn", async () => {
  await tick();
  let calls = 0;
  const goOn = () => void calls++;
  expect(mayGoOn(goOn)).toBe(true);
  work(9);
  expect([mayGoOn(goOn), calls]).toEqual([false, 0]);
  await tick();
  expect([mayGoOn(goOn), calls]).toEqual([true, 1]);
});
