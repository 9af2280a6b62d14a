import { expect, test } from "bun:test";
import { throttle } from "./paced.ts";

test("frequent requests run the work at once, then once more, and never concurrently", async () => {
  let [running, most, done] = [0, 0, 0];
  const second = Promise.withResolvers<void>();
  const pace = throttle(async () => {
    most = Math.max(most, ++running);
    await Promise.resolve();
    running--;
    if (++done === 2) second.resolve();
  }, 5);
  for (let i = 0; i < 10; i++) pace.ask();
  expect(done).toBe(0);
  await second.promise;
  expect([done, most]).toEqual([2, 1]);
  pace.stop();
});

test("failed work runs again with the next request", async () => {
  let tries = 0;
  const again = Promise.withResolvers<void>();
  const pace = throttle(async () => {
    if (++tries === 1) throw new Error("busy");
    again.resolve();
  }, 1);
  pace.ask();
  pace.ask();
  await again.promise;
  expect(tries).toBe(2);
  pace.stop();
});
