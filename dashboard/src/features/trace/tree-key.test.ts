import { expect, test } from "bun:test";
import type { LoadedTrace } from "../../entities/run/trace-api.ts";
import { rowsOf } from "./rows.ts";
import { stepOf, traceOf } from "./trace-fixtures.ts";
import { treeKey } from "./tree-key.ts";

const child: LoadedTrace = { trace: traceOf({ run_id: "run_2" }), steps: [stepOf(0)], hasMore: false };
const call = stepOf(1, { type: "subagent", subagent: { run_id: "run_2", agent_id: "agt_2" } });
const root: LoadedTrace = { trace: traceOf(), steps: [stepOf(0), call, stepOf(2)], hasMore: false };
const rows = (...open: string[]) =>
  rowsOf({ root, name: "Clerk", children: new Map([["run_2", child]]), open: new Set(open) });

test("arrow keys move from row to row and stop at the ends", () => {
  const all = rows("run");
  expect(treeKey("ArrowDown", all, 0)).toEqual({ to: 1 });
  expect(treeKey("ArrowDown", all, 3)).toEqual({ to: 3 });
  expect(treeKey("ArrowUp", all, 0)).toEqual({ to: 0 });
  expect([treeKey("Home", all, 2), treeKey("End", all, 0)]).toEqual([{ to: 0 }, { to: 3 }]);
  expect(treeKey("PageDown", all, 0)).toEqual({ to: 3 });
});

test("right expands, then enters; left collapses, then moves to the parent", () => {
  expect(treeKey("ArrowRight", rows("run"), 2)).toEqual({ open: true });
  expect(treeKey("ArrowRight", rows("run", "1"), 2)).toEqual({ to: 3 });
  expect(treeKey("ArrowLeft", rows("run", "1"), 3)).toEqual({ to: 2 });
  expect(treeKey("ArrowLeft", rows("run", "1"), 2)).toEqual({ open: false });
  expect(treeKey("ArrowLeft", rows("run"), 1)).toEqual({ to: 0 });
  expect(treeKey("ArrowRight", rows("run"), 1)).toEqual({ to: 1 });
});

test("other keys are ignored", () => {
  expect(treeKey("x", rows("run"), 1)).toBeNull();
  expect(treeKey("Enter", rows("run"), 1)).toEqual({ enter: true });
  expect(treeKey("ArrowDown", [], 0)).toBeNull();
});
