import { expect, test } from "bun:test";
import { planListener } from "../serve/listen-plan.ts";
import { planCluster, readCells } from "./cluster-plan.ts";

test("cells are read in order, without duplicates", () => {
  expect(readCells("main")).toEqual(["main"]);
  expect(readCells(" main, east ,main,a-1 ")).toEqual(["main", "east", "a-1"]);
  const many = Array.from({ length: 1000 }, (_, n) => `cell-${n}`);
  expect(readCells(many.join(","))).toEqual(many as [string, ...string[]]);
  expect(readCells("x".repeat(63))).toHaveLength(1);
});

test.each([
  "",
  ",",
  "main,",
  ",main",
  "main,,east",
  "Main",
  "-a",
  "a b",
  "ümlaut",
  "a\u0301",
  "a/b",
  "../a",
  "a\nb",
  "x".repeat(64),
  "a'b",
  "主",
])("%j is refused in one line that says what a name may be", (text) => {
  expect(() => readCells(text)).toThrow(/^--cell takes small letters, digits and hyphens, not [^\n]*$/);
});

test("the password of Postgres is not in the log, neither encoded nor decoded", () => {
  const flags = { cluster: "postgres://runnel:p%40ss@db1,db2/runnel", cell: "main", clusterTtl: "3" };
  const listening = planListener({ host: "127.0.0.1", insecureHttp: true });
  expect(planCluster(flags, listening, "1".repeat(64))?.passwords).toEqual(["p%40ss", "p@ss"]);
});
