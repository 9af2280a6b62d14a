import { expect, test } from "bun:test";
import { leavesForm } from "./leaves-form.ts";

const form = { pathname: "/agents/agt_1", search: {} };

test("another page or another tab has no such form", () => {
  expect(leavesForm(form, { pathname: "/agents", search: {} })).toBe(true);
  expect(leavesForm(form, { ...form, search: { tab: "versions" } })).toBe(true);
});

test("a filter or a selection leaves the form where it is", () => {
  const filtered = { ...form, search: { q: "refund", delivery: "del_1" } };
  expect(leavesForm(form, filtered)).toBe(false);
  expect(leavesForm(form, form)).toBe(false);
});
