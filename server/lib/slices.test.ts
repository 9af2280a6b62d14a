import { expect, test } from "bun:test";
import { inSlices } from "./slices.ts";

test("long work lets others go first, and short work does not wait for them", async () => {
  let pauses = 0;
  const rest = inSlices(async () => void pauses++);
  await rest();
  expect(pauses).toBe(0);
  Bun.sleepSync(9);
  await rest();
  await rest();
  expect(pauses).toBe(1);
});
