import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { inProject } from "../root.ts";

const read = (path: string): string => readFileSync(inProject("server/sdks", path), "utf8");
const classesIn = (source: string): string[] =>
  [...source.matchAll(/^(?:export )?class (\w+)/gm)].map(([, name]) => name!);
const classes = classesIn(read("typescript/errors.ts"));

test("the clients of both languages have the same errors, and none has the name of a Python built-in", () => {
  expect(classesIn(read("python/runnel_sdk/_errors.py")).sort()).toEqual(classes.toSorted());
  expect(classes).toContain("APITimeoutError");
  expect(classes.filter((name) => /^(Connection|Timeout|Permission|Runtime)Error$/.test(name))).toEqual([]);
});

test.each(["typescript", "python"])("the README of the client for %s names every error", (language) => {
  const readme = read(`${language}/README.md`);
  expect(classes.filter((name) => !readme.includes(`\`${name}\``))).toEqual([]);
});
