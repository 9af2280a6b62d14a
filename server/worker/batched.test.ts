import { expect, test } from "bun:test";
import { batched } from "./batched.ts";

const nextTick = () => new Promise<void>((resolve) => setImmediate(resolve));

test("what comes in one tick goes together, in its order", async () => {
  const batches: number[][] = [];
  const send = batched<number>((items) => batches.push(items));
  for (const item of [1, 2, 3]) send(item);
  expect(batches).toEqual([]);
  await nextTick();
  send(4);
  await nextTick();
  expect(batches).toEqual([[1, 2, 3], [4]]);
});

test("patient items wait for each other, the first of them does not, and nothing overtakes them", async () => {
  const batches: string[][] = [];
  const gathered = Promise.withResolvers<void>();
  const send = batched<string>(
    (items) => {
      batches.push(items);
      if (items.includes("last")) gathered.resolve();
    },
    { patient: (item) => item !== "now", pace_ms: 50 },
  );
  send("first");
  await nextTick();
  for (const item of ["a", "b", "now", "c"]) send(item);
  await nextTick();
  for (const item of ["d", "last"]) send(item);
  await nextTick();
  expect(batches).toEqual([["first"], ["a", "b", "now", "c"]]);
  await gathered.promise;
  expect(batches[2]).toEqual(["d", "last"]);
});
