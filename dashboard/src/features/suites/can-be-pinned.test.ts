import { expect, test } from "bun:test";
import { canBePinned } from "./can-be-pinned.ts";

test("a run can be pinned once it is over, as long as its trace is there", () => {
  expect(canBePinned({ status: "failed", trace_id: "trc_1" })).toBe(true);
  expect(canBePinned({ status: "in_progress", trace_id: "trc_1" })).toBe(false);
  expect(canBePinned({ status: "completed", trace_id: null })).toBe(false);
});
