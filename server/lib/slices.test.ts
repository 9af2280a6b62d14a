import { expect, test } from "bun:test";
import { inSlices, mayGoOn } from "./slices.ts";

const tick = () => new Promise((resolve) => setImmediate(resolve));

test("long work lets others go first, and short work does not wait for them", async () => {
  await tick(); // Work of another test may have had its slice of this turn.
  let pauses = 0;
  const rest = inSlices(() => void pauses++);
  await rest();
  expect(pauses).toBe(0);
  Bun.sleepSync(9);
  await rest();
  await rest();
  expect(pauses).toBe(1);
});

test("much long work at once takes no more of a turn than one alone", async () => {
  const order: string[] = [];
  const work = async (name: string) => {
    const rest = inSlices();
    for (let piece = 0; piece < 3; piece++) {
      order.push(name);
      Bun.sleepSync(9); // More than a slice.
      await rest();
    }
  };
  const all = ["a", "b", "c"].map(work);
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
  Bun.sleepSync(9);
  const theirs = long();
  const rest = inSlices();
  for (let piece = 0; piece < 5; piece++) await rest();
  expect(Bun.peek.status(theirs)).toBe("pending");
  Bun.sleepSync(9);
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
  Bun.sleepSync(9);
  expect([mayGoOn(goOn), calls]).toEqual([false, 0]);
  await tick();
  expect([mayGoOn(goOn), calls]).toEqual([true, 1]);
});
