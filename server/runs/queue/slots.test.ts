import { expect, test } from "bun:test";
import type { RunHead } from "../../storage/journal/journal.ts";
import { createSlots } from "./slots.ts";

const scope = { project_id: "proj_a", environment: "test" } as const;

const head = (run_id: string, of: Partial<RunHead> = {}): RunHead => ({
  ...scope,
  run_id,
  status: "in_progress",
  seq: 1,
  attempt: 1,
  parent_run_id: null,
  depth: 0,
  root_run_id: run_id,
  ...of,
});
const child = (run_id: string, root_run_id: string): RunHead =>
  head(run_id, { depth: 1, parent_run_id: root_run_id, root_run_id });

/** Runs that take a slot as soon as it is free. */
function runs(limit: number) {
  const slots = createSlots({ limit: () => limit });
  const held = new Map<string, ReturnType<typeof slots.take>>();
  const gone = new Set<string>();
  const begin = (of: RunHead) => void held.set(of.run_id, slots.take(of));
  return {
    slots,
    start(of: RunHead): void {
      if (slots.isOpen(of)) begin(of);
      else slots.wait({ head: of, isStillNeeded: () => !gone.has(of.run_id), begin: () => begin(of) });
    },
    slot: (id: string) => held.get(id)!,
    end: (id: string): void => held.get(id)!.release(),
    cancel: (id: string): void => void gone.add(id),
    begun: () => [...held.keys()],
  };
}

test("slots are given in the order of arrival, and a run that ended while it waited takes none", () => {
  const { start, end, cancel, begun, slots } = runs(1);
  for (const id of ["a", "b", "c", "d"]) start(head(id));
  expect([begun(), slots.waits("c")]).toEqual([["a"], true]);
  cancel("b");
  end("a");
  expect([begun(), slots.waits("b"), slots.taken(scope)]).toEqual([["a", "c"], false, 1]);
});

test("a new run does not overtake waiting ones", () => {
  const { start, end, begun, slots } = runs(1);
  start(head("a"));
  start(head("b"));
  expect(slots.isOpen(head("c"))).toBe(false);
  end("a");
  start(head("c"));
  expect(begun()).toEqual(["a", "b"]);
});

test("each project and environment has its own slots", () => {
  const { start, begun } = runs(1);
  start(head("a"));
  start(head("b", { project_id: "proj_b" }));
  start(head("c", { environment: "live" }));
  expect(begun()).toEqual(["a", "b", "c"]);
});

test("a tree takes all slots of child runs until another comes, which gets one at once", () => {
  const { start, end, begun, slots } = runs(2);
  for (const id of ["a1", "a2", "a3"]) start(child(id, "a"));
  expect(begun()).toEqual(["a1", "a2"]);
  start(child("b1", "b"));
  expect([begun().at(-1), slots.takenBelow(scope)]).toEqual(["b1", [2, 1]]);
  end("a1"); // Two are still taken, by two trees: the first tree's next run waits.
  expect(slots.waits("a3")).toBe(true);
  end("b1");
  expect([begun().at(-1), slots.takenBelow(scope)]).toEqual(["a3", [2]]);
});

test("a lent slot is used by another run, taken back without waiting, and counted once in every case", () => {
  const { start, slot, begun, slots } = runs(1);
  start(child("a1", "a"));
  start(child("a2", "a"));
  slot("a1").lend();
  slot("a1").lend(); // It waits for two children.
  expect([begun(), slots.lent(), slots.takenBelow(scope)]).toEqual([["a1", "a2"], 1, [1]]);
  slot("a1").takeBack();
  expect(slots.lent()).toBe(1);
  slot("a1").takeBack();
  expect([slots.lent(), slots.takenBelow(scope)]).toEqual([0, [2]]);
  slot("a2").lend();
  slot("a2").release();
  slot("a2").takeBack(); // The child's end came after its own.
  slot("a1").release();
  slot("a1").release();
  expect([slots.lent(), slots.takenBelow(scope)]).toEqual([0, []]);
});
