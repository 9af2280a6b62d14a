import { expect, test } from "bun:test";
import { createGate } from "./gate.ts";

test("a gate admits those that it is told of, and tells when others may go", () => {
  const gate = createGate();
  const told: boolean[] = [];
  gate.listen(() => told.push(gate.isOpen()));
  expect([gate.isOpen(), gate.admits("a")]).toEqual([true, true]);
  gate.only(new Set(["a"]));
  expect([gate.isOpen(), gate.admits("a"), gate.admits("b")]).toEqual([false, true, false]);
  gate.only(null);
  expect([gate.admits("b"), told]).toEqual([true, [false, true]]);
});
