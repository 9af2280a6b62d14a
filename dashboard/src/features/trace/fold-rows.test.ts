import { expect, test } from "bun:test";
import { foldCalls, keyOfDetail, lineOf } from "./fold-rows.ts";
import { placeRows, rowsOf } from "./rows.ts";
import { stepOf, traceOf } from "./trace-fixtures.ts";

const rowsWith = (names: readonly string[], more: (index: number) => object = () => ({})) =>
  rowsOf({
    root: {
      trace: traceOf(),
      steps: names.map((name, index) => stepOf(index, { name, ...more(index) })),
      hasMore: false,
    },
    name: "Clerk",
    children: new Map(),
    open: new Set(["run"]),
  });
const shown = (rows: ReturnType<typeof rowsWith>, open: string[] = []) =>
  foldCalls(rows, new Set(open)).map(({ name, level }) => `${level} ${name}`);

test("four or more consecutive calls of a tool are folded into one line, fewer are not", () => {
  expect(shown(rowsWith(["look", "noop", "noop", "noop", "noop", "look", "look", "look"]))).toEqual([
    "1 Clerk",
    "2 look",
    "2 noop ×4",
    "2 look",
    "2 look",
    "2 look",
  ]);
});

test("an expanded line shows its calls one level below", () => {
  const rows = rowsWith(["noop", "noop", "noop", "noop"]);
  expect(shown(rows, ["0~"])).toEqual(["1 Clerk", "2 noop ×4", "3 noop", "3 noop", "3 noop", "3 noop"]);
});

test("positions count the visible lines, folded or not", () => {
  const rows = rowsWith(["look", "noop", "noop", "noop", "noop", "look"]);
  const places = (open: string[]) =>
    placeRows(foldCalls(rows, new Set(open))).map(({ key, position, siblings }) => `${key} ${position}/${siblings}`);
  expect(places([])).toEqual(["run 1/1", "0 1/3", "1~ 2/3", "5 3/3"]);
  expect(places(["1~"])).toEqual(["run 1/1", "0 1/3", "1~ 2/3", "1 1/4", "2 2/4", "3 3/4", "4 4/4", "5 3/3"]);
});

test("failed and running calls are never folded", () => {
  const names = Array.from({ length: 9 }, () => "noop");
  expect(shown(rowsWith(names, (index) => (index === 4 ? { status: "failed" } : {})))).toEqual([
    "1 Clerk",
    "2 noop ×4",
    "2 noop",
    "2 noop ×4",
  ]);
});

test("five thousand equal calls become two lines", () => {
  const rows = rowsWith(Array.from({ length: 5000 }, () => "noop"));
  expect(shown(rows)).toEqual(["1 Clerk", "2 noop ×5000"]);
});

test("a folded call maps to its line", () => {
  const rows = rowsWith(["look", "noop", "noop", "noop", "noop"]);
  expect(lineOf(foldCalls(rows, new Set()), rows, "3")).toBe("1~");
  expect(lineOf(foldCalls(rows, new Set(["1~"])), rows, "3")).toBe("3");
  expect(lineOf(rows, rows, "9")).toBe("9");
  expect([keyOfDetail("1~"), keyOfDetail("1")]).toEqual(["1", "1"]);
});
