import { expect, test } from "bun:test";
import { createDispatchGate } from "./dispatch-gate.ts";

test("a gate admits only the given runs, and notifies when others may be driven", () => {
  const gate = createDispatchGate();
  const told: boolean[] = [];
  gate.listen(() => told.push(gate.isOpen()));
  expect([gate.isOpen(), gate.admits("a")]).toEqual([true, true]);
  gate.only(new Set(["a"]));
  expect([gate.isOpen(), gate.admits("a"), gate.admits("b")]).toEqual([false, true, false]);
  gate.only(null);
  expect([gate.admits("b"), told]).toEqual([true, [false, true]]);
});
