import { expect, test } from "bun:test";
import { readTraceSearch } from "./read-trace-search.ts";

test("step, tab and replay position are read from an address", () => {
  const search = { step: 12, tab: "raw", view: "detail", q: "503", fold: "off", t: 9300, fork: true };
  expect(readTraceSearch(search)).toEqual(search as ReturnType<typeof readTraceSearch>);
  for (const step of ["run", "6-2-1", "r2", "6-r3"]) expect(readTraceSearch({ step }).step).toBe(step);
});

test("invalid values are left out", () => {
  expect(readTraceSearch({ step: -1, tab: "x", view: "events", q: "", fold: 1, t: -5, fork: "yes", a: 1 })).toEqual({});
  for (const step of ["../x", "6-", "6.2", 1.5, null]) expect(readTraceSearch({ step })).toEqual({});
});
