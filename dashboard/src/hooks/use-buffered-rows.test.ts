import { expect, test } from "bun:test";
import { bufferedRows } from "./use-buffered-rows.ts";

const rows = ["dlv_4", "dlv_3", "dlv_2"].map((id) => ({ id }));

test("rows added after scrolling started are held back, even if the first row was removed", () => {
  expect(bufferedRows(rows, null)).toEqual({ shown: rows, held: 0 });
  expect(bufferedRows(rows, "dlv_3")).toEqual({ shown: rows.slice(1), held: 1 });
  expect(bufferedRows([rows[0]!, rows[2]!], "dlv_3")).toEqual({ shown: [rows[2]!], held: 1 });
  expect(bufferedRows(rows, "dlv_1")).toEqual({ shown: rows, held: 0 });
  expect(bufferedRows(undefined, "dlv_3")).toEqual({ shown: undefined, held: 0 });
});
