import { expect, test } from "bun:test";
import { rebaseDraft } from "../../hooks/use-draft.ts";
import { basicsChanges, basicsOf, basicsWords } from "./basics.ts";

const store = { name: "Manuals", ttl_seconds: null };

test("an unedited store has no changes, and spaces around values are ignored", () => {
  expect(basicsChanges(basicsOf(store), store)).toEqual({});
  expect(basicsChanges({ name: " Manuals ", ttl: " " }, store)).toEqual({});
});

test("only changed fields are sent and named", () => {
  expect(basicsChanges({ name: "Manuals", ttl: "60" }, store)).toEqual({ ttl_seconds: 60 });
  expect(basicsWords({ ttl_seconds: 60 })).toEqual(["expiry"]);
});

test("an invalid number counts as an unsaved change", () => {
  expect(Object.keys(basicsChanges({ name: "Manuals", ttl: "soon" }, store))).toEqual(["ttl_seconds"]);
});

test("another person's new name is merged with one's own new expiry", () => {
  const theirs = { name: "Handbooks", ttl_seconds: null };
  const both = rebaseDraft({ name: "Manuals", ttl: "60" }, basicsOf(store), basicsOf(theirs));
  expect(basicsChanges(both, theirs)).toEqual({ ttl_seconds: 60 });
});
