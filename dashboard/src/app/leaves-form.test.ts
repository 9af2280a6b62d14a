import { expect, test } from "bun:test";
import { leavesForm } from "./leaves-form.ts";

const form = { pathname: "/agents/agt_1", search: {} };

test("another page or another tab does not have the form", () => {
  expect(leavesForm(form, { pathname: "/agents", search: {} })).toBe(true);
  expect(leavesForm(form, { ...form, search: { tab: "versions" } })).toBe(true);
});

test("another project or mode does not have the form", () => {
  const search = { workspace: "proj_1/test" };
  expect(leavesForm({ ...form, search }, { ...form, search: { workspace: "proj_1/live" } })).toBe(true);
  expect(leavesForm({ ...form, search }, { ...form, search: { workspace: "proj_2/test" } })).toBe(true);
});

test("a fork form belongs to one step, regardless of the open tab", () => {
  const fork = { pathname: "/runs/run_1", search: { step: 3, fork: true } };
  expect(leavesForm(fork, { ...fork, search: { step: 4, fork: true } })).toBe(true);
  expect(leavesForm(fork, { ...fork, search: { step: 3 } })).toBe(true);
  expect(leavesForm(fork, { ...fork, search: { step: 3, fork: true, tab: "raw" } })).toBe(false);
  expect(leavesForm({ ...fork, search: { step: 3 } }, { ...fork, search: { step: 4 } })).toBe(false);
});

test("a filter or a selection keeps the form", () => {
  const filtered = { ...form, search: { q: "refund", delivery: "del_1" } };
  expect(leavesForm(form, filtered)).toBe(false);
  expect(leavesForm(form, form)).toBe(false);
});
