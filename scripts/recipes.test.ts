import { describe, expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { dirname } from "node:path";
import { runErrorCodes } from "../server/core/errors.ts";
import { inProject } from "./root.ts";

const recipes = readFileSync(inProject("server/docs/develop/recipes.md"), "utf8");

describe("server/docs/develop/recipes.md", () => {
  const paths = [...recipes.matchAll(/`([\w./<>-]*\/[\w./<>-]+|README\.md|[\w/-]+\/)`/g)].map(([, path]) => path!);

  test("names files", () => {
    expect(paths.length).toBeGreaterThan(20);
  });

  // Of a new file the folder is there; where that is new too, the one above.
  test.each([...new Set(paths)])("%s is there, or is a new file beside such", (path) => {
    const known = path.includes("<") ? dirname(path.slice(0, path.indexOf("<") + 1)) : path;
    expect(existsSync(inProject(known))).toBe(true);
  });

  test("says of each code that a run fails with where it comes from, and that file has it", () => {
    const rows = [...recipes.matchAll(/^\| `(\w+)` \| (.*) \|$/gm)].map(([, code, files]) => ({
      code: code!,
      files: [...files!.matchAll(/`([^`]+)`/g)].map(([, path]) => path!),
    }));
    expect(rows.map(({ code }) => code)).toEqual([...runErrorCodes]);
    const without = rows.flatMap(({ code, files }) =>
      files.filter((path) => !readFileSync(inProject(path), "utf8").includes(`"${code}"`)),
    );
    expect(without).toEqual([]);
  });
});
