import { expect, test } from "bun:test";
import { heldRows } from "./use-held-rows.ts";

const rows = ["dlv_4", "dlv_3", "dlv_2"].map((id) => ({ id }));

test("what came since somebody began to scroll is held back, also when the row at that place is gone", () => {
  expect(heldRows(rows, null)).toEqual({ shown: rows, held: 0 });
  expect(heldRows(rows, "dlv_3")).toEqual({ shown: rows.slice(1), held: 1 });
  expect(heldRows([rows[0]!, rows[2]!], "dlv_3")).toEqual({ shown: [rows[2]!], held: 1 });
  expect(heldRows(rows, "dlv_1")).toEqual({ shown: rows, held: 0 });
  expect(heldRows(undefined, "dlv_3")).toEqual({ shown: undefined, held: 0 });
});
