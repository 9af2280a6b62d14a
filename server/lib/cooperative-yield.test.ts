import { afterAll, beforeAll, expect, spyOn, test } from "bun:test";
import { canContinue, createYielder } from "./cooperative-yield.ts";

const tick = () => new Promise((resolve) => setImmediate(resolve));

// A clock that only these tests advance, so that a stalled machine is not taken for long work.
let at = 0;
const work = (ms: number) => {
  at += ms;
};
const clock = spyOn(performance, "now");
beforeAll(() => void clock.mockImplementation(() => at));
afterAll(() => clock.mockRestore());

test("long work yields, and short work does not wait", async () => {
  await tick(); // Work of another test may have had its slice of this turn.
  let pauses = 0;
  const rest = createYielder(() => void pauses++);
  await rest();
  expect(pauses).toBe(0);
  work(9);
  await rest();
  await rest();
  expect(pauses).toBe(1);
});

test("several long works together take no more of a turn than a single one", async () => {
  const order: string[] = [];
  const longWork = async (name: string) => {
    const rest = createYielder();
    for (let piece = 0; piece < 3; piece++) {
      order.push(name);
      work(9); // More than a slice.
      await rest();
    }
  };
  const all = ["a", "b", "c"].map(longWork);
  const turns: number[] = [];
  while (order.length < 9) {
    const before = order.length; // All three have started.
    await tick();
    turns.push(order.length - before);
  }
  await Promise.all(all);
  expect(Math.max(...turns)).toBe(1);
  expect(order).toEqual(["a", "b", "c", "a", "b", "c", "a", "b", "c"]);
});

test("short work continues beside long work in the same turn, until it is long itself", async () => {
  await tick();
  const long = createYielder();
  work(9);
  const theirs = long();
  const rest = createYielder();
  for (let piece = 0; piece < 5; piece++) await rest();
  expect(Bun.peek.status(theirs)).toBe("pending");
  work(9);
  const own = rest();
  await Promise.resolve();
  expect(Bun.peek.status(own)).toBe("pending");
  await Promise.all([theirs, own]);
});

test("synchronous work learns whether it may continue, and is called back after other work", async () => {
  await tick();
  let calls = 0;
  const goOn = () => void calls++;
  expect(canContinue(goOn)).toBe(true);
  work(9);
  expect([canContinue(goOn), calls]).toEqual([false, 0]);
  await tick();
  expect([canContinue(goOn), calls]).toEqual([true, 1]);
});
