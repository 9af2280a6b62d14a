import { expect, test } from "bun:test";
import type { RunHead } from "../journal/journal.ts";
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

/** Runs that take a slot as soon as they get one. */
function runs(limit: number) {
  const slots = createSlots({ limit: () => limit });
  const held = new Map<string, ReturnType<typeof slots.take>>();
  const gone = new Set<string>();
  const begin = (of: RunHead) => void held.set(of.run_id, slots.take(of));
  return {
    slots,
    start(of: RunHead): void {
      if (slots.isOpen(of)) begin(of);
      else slots.wait({ head: of, isStill: () => !gone.has(of.run_id), begin: () => begin(of) });
    },
    slot: (id: string) => held.get(id)!,
    end: (id: string): void => held.get(id)!.give(),
    cancel: (id: string): void => void gone.add(id),
    begun: () => [...held.keys()],
  };
}

test("slots are given in the order in which runs came, and whoever ended while it waited takes none", () => {
  const { start, end, cancel, begun, slots } = runs(1);
  for (const id of ["a", "b", "c", "d"]) start(head(id));
  expect([begun(), slots.waits("c")]).toEqual([["a"], true]);
  cancel("b");
  end("a");
  expect([begun(), slots.waits("b"), slots.taken(scope)]).toEqual([["a", "c"], false, 1]);
});

test("whoever comes while others wait does not overtake them", () => {
  const { start, end, begun, slots } = runs(1);
  start(head("a"));
  start(head("b"));
  expect(slots.isOpen(head("c"))).toBe(false);
  end("a");
  start(head("c"));
  expect(begun()).toEqual(["a", "b"]);
});

test("a project and environment has slots of its own", () => {
  const { start, begun } = runs(1);
  start(head("a"));
  start(head("b", { project_id: "proj_b" }));
  start(head("c", { environment: "live" }));
  expect(begun()).toEqual(["a", "b", "c"]);
});

test("a tree takes all slots below the top until another comes, which has one at once", () => {
  const { start, end, begun, slots } = runs(2);
  for (const id of ["a1", "a2", "a3"]) start(child(id, "a"));
  expect(begun()).toEqual(["a1", "a2"]);
  start(child("b1", "b"));
  expect([begun().at(-1), slots.takenBelow(scope)]).toEqual(["b1", [2, 1]]);
  end("a1"); // Two are taken still, by two trees: the next of the first one waits.
  expect(slots.waits("a3")).toBe(true);
  end("b1");
  expect([begun().at(-1), slots.takenBelow(scope)]).toEqual(["a3", [2]]);
});

test("a slot that is lent is another's, is taken back without waiting, and is counted once whatever happens", () => {
  const { start, slot, begun, slots } = runs(1);
  start(child("a1", "a"));
  start(child("a2", "a"));
  slot("a1").lend();
  slot("a1").lend(); // It waits for two.
  expect([begun(), slots.lent(), slots.takenBelow(scope)]).toEqual([["a1", "a2"], 1, [1]]);
  slot("a1").takeBack();
  expect(slots.lent()).toBe(1);
  slot("a1").takeBack();
  expect([slots.lent(), slots.takenBelow(scope)]).toEqual([0, [2]]);
  slot("a2").lend();
  slot("a2").give();
  slot("a2").takeBack(); // What it waited for came after its end.
  slot("a1").give();
  slot("a1").give();
  expect([slots.lent(), slots.takenBelow(scope)]).toEqual([0, []]);
});
