import { expect, test } from "bun:test";
import { rebased } from "../../lib/use-edited.ts";
import { basicsChanges, basicsOf, basicsWords } from "./basics.ts";

const store = { name: "Manuals", ttl_seconds: null };

test("a store that nobody changed has no changes, whatever stands around its name", () => {
  expect(basicsChanges(basicsOf(store), store)).toEqual({});
  expect(basicsChanges({ name: " Manuals ", ttl: " " }, store)).toEqual({});
});

test("only what was changed is said", () => {
  expect(basicsChanges({ name: "Manuals", ttl: "60" }, store)).toEqual({ ttl_seconds: 60 });
  expect(basicsWords({ ttl_seconds: 60 })).toEqual(["expiry"]);
});

test("a number that is none is not yet saved, and not lost either", () => {
  expect(Object.keys(basicsChanges({ name: "Manuals", ttl: "soon" }, store))).toEqual(["ttl_seconds"]);
});

test("a colleague's new name stands beside one's own lifetime", () => {
  const theirs = { name: "Handbooks", ttl_seconds: null };
  const both = rebased({ name: "Manuals", ttl: "60" }, basicsOf(store), basicsOf(theirs));
  expect(basicsChanges(both, theirs)).toEqual({ ttl_seconds: 60 });
});
