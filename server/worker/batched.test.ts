import { expect, spyOn, test } from "bun:test";
import { batched, deltaPace } from "./batched.ts";
import type { Notice } from "./messages.ts";

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
  const gathering = { patient: (item: string) => item !== "now", pace_ms: 60_000 };
  const send = batched<string>((items) => batches.push(items), gathering);
  send("first");
  await nextTick();
  for (const item of ["a", "b", "now", "c"]) send(item);
  await nextTick();
  for (const item of ["d", "last"]) send(item);
  await nextTick();
  expect(batches).toEqual([["first"], ["a", "b", "now", "c"]]);
});

test("patient items go once they have waited, though nothing follows", async () => {
  const { promise: passed, resolve } = Promise.withResolvers<string[]>();
  const pass = (items: string[]) => void (items.includes("last") && resolve(items));
  using _ = spyOn(performance, "now").mockReturnValue(0); // However long it takes to get here, they have to wait.
  const send = batched<string>(pass, { patient: () => true, pace_ms: 20 });
  send("first");
  await nextTick();
  for (const item of ["a", "last"]) send(item);
  expect(await passed).toEqual(["a", "last"]);
});

test("the first delta of an answer waits for nothing, the others for each other", async () => {
  const piece = { anchor: 2, step_index: 0, part: 0, kind: "output", text: "a", ms: 1 } as const;
  const delta = (run_id: string, first?: true): Notice => ({ do: "delta", run_id, delta: piece, first });
  const batches: Notice[][] = [];
  const send = batched<Notice>((items) => batches.push(items), { ...deltaPace, pace_ms: 60_000 });
  const [begins, goesOn, another] = [delta("run_1", true), delta("run_1"), delta("run_2", true)];
  for (const notice of [begins, goesOn, another]) {
    send(notice);
    await nextTick();
  }
  expect(batches).toEqual([[begins], [goesOn, another]]);
});
