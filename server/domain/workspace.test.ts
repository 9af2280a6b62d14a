import { expect, test } from "bun:test";
import {
  contentsOf,
  emptyWorkspace,
  isInTheWay,
  workspaceAfter,
  workspaceAtStart,
  workspacePathFault,
} from "./workspace.ts";
import { workspaceLimits } from "./workspace-limits.ts";
import type { WorkspaceChange } from "./workspace-schema.ts";

const file = (path: string, sha256 = path) => ({ path, bytes: 1, sha256 });
const change = (more: Partial<WorkspaceChange>): WorkspaceChange => ({
  shared_by: "run",
  changed: [],
  removed: [],
  ...more,
});

test("a workspace follows from the changes of its programs, in the order of the journal", () => {
  const given = [{ file_id: "file_1", ...file("in", "1") }];
  const one = workspaceAfter(
    emptyWorkspace,
    change({ given, changed: [file("b"), file("a")], variables: { bytes: 3, sha256: "v" } }),
  );
  expect(one).toEqual({
    files: [file("a"), file("b"), file("in", "1")],
    given: ["file_1"],
    variables: { bytes: 3, sha256: "v" },
  });
  const two = workspaceAfter(one, change({ changed: [file("a", "2")], removed: ["b", "in"] }));
  expect(two).toEqual({ ...one, files: [file("a", "2")] });
  expect(contentsOf(two)).toEqual(["2", "v"]);
  expect(workspaceAfter(two, change({ variables: null })).variables).toBeNull();
});

test("a program may begin with a workspace that the run does not know, such as its thread's", () => {
  const start = { files: [file("t")], given: ["file_2"], variables: null };
  const known = { files: [file("r")], given: [], variables: null };
  expect(workspaceAfter(known, change({ start, changed: [file("u")] }))).toEqual({
    ...start,
    files: [file("t"), file("u")],
  });
});

test("a new input replaces a file of its name, and of very many inputs the newest are known", () => {
  const before = {
    files: [file("in", "old")],
    given: Array.from({ length: workspaceLimits.given }, (_, i) => `file_${i}`),
    variables: null,
  };
  const after = workspaceAtStart(before, change({ given: [{ file_id: "new", ...file("in", "new") }] }));
  expect(after.files).toEqual([file("in", "new")]);
  expect([after.given.length, after.given.at(-1), after.given[0]]).toEqual([workspaceLimits.given, "new", "file_1"]);
});

test("a file is in the way of a folder with its name, on either side", () => {
  const others = new Set(["a/b", "c"]);
  const inTheWay = ["a", "a/b/c", "c/d/e", "a/b", "c", "a/c", "ab", "cd/e"].filter((path) => isInTheWay(path, others));
  expect(inTheWay).toEqual(["a", "a/b/c", "c/d/e"]);
});

test.each(["a", "a/b.txt", "ü ñ.csv", "CON", "a:b", ".hidden", "...", `${"d/".repeat(16)}f`])(
  "%p is a path of a file",
  (path) => {
    expect(workspacePathFault(path)).toBeNull();
  },
);

test.each([
  "",
  "/a",
  "..",
  "a/../b",
  "./a",
  "a//b",
  "a/",
  "a\\b",
  "a\0",
  "a\n",
  "\ud800",
  "a\ufffd",
  "x".repeat(256),
  "ü".repeat(128),
  `${"d/".repeat(17)}f`,
  "d/".repeat(300),
])("%p is none", (path) => {
  expect(workspacePathFault(path)).toBeString();
});
