import { expect, spyOn, test } from "bun:test";
import { createMessageBatcher, deltaPace } from "./message-batcher.ts";
import type { FromWorker } from "./messages.ts";

const nextTick = () => new Promise<void>((resolve) => setImmediate(resolve));

test("items of one tick are sent together, in order", async () => {
  const batches: number[][] = [];
  const send = createMessageBatcher<number>((items) => batches.push(items));
  for (const item of [1, 2, 3]) send(item);
  expect(batches).toEqual([]);
  await nextTick();
  send(4);
  await nextTick();
  expect(batches).toEqual([[1, 2, 3], [4]]);
});

test("patient items wait for each other, except the first, and keep their order", async () => {
  const batches: string[][] = [];
  const gathering = { patient: (item: string) => item !== "now", pace_ms: 60_000 };
  const send = createMessageBatcher<string>((items) => batches.push(items), gathering);
  send("first");
  await nextTick();
  for (const item of ["a", "b", "now", "c"]) send(item);
  await nextTick();
  for (const item of ["d", "last"]) send(item);
  await nextTick();
  expect(batches).toEqual([["first"], ["a", "b", "now", "c"]]);
});

test("patient items are sent after the pause even if no item follows", async () => {
  const { promise: passed, resolve } = Promise.withResolvers<string[]>();
  const pass = (items: string[]) => void (items.includes("last") && resolve(items));
  using _ = spyOn(performance, "now").mockReturnValue(0); // Elapsed real time does not count: the items have to wait.
  const send = createMessageBatcher<string>(pass, { patient: () => true, pace_ms: 20 });
  send("first");
  await nextTick();
  for (const item of ["a", "last"]) send(item);
  expect(await passed).toEqual(["a", "last"]);
});

test("the first delta of an answer is sent at once, the others are batched", async () => {
  const piece = { anchor: 2, step_index: 0, part: 0, kind: "output", text: "a", ms: 1 } as const;
  const delta = (run_id: string, first?: true): FromWorker => ({ do: "delta", run_id, delta: piece, first });
  const batches: FromWorker[][] = [];
  const send = createMessageBatcher<FromWorker>((items) => batches.push(items), { ...deltaPace, pace_ms: 60_000 });
  const [begins, goesOn, another] = [delta("run_1", true), delta("run_1"), delta("run_2", true)];
  for (const notice of [begins, goesOn, another]) {
    send(notice);
    await nextTick();
  }
  expect(batches).toEqual([[begins], [goesOn, another]]);
});
