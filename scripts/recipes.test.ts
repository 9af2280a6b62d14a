import { describe, expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { dirname } from "node:path";
import { runErrorCodes } from "../server/domain/errors.ts";
import { inProject } from "./root.ts";

const read = (page: string) => readFileSync(inProject("server/docs/develop", page), "utf8");
const recipes = read("recipes.md") + read("debug-a-run.md");

describe("the pages on common changes and on debugging", () => {
  const paths = [...recipes.matchAll(/`([\w./<>-]*\/[\w./<>-]+|README\.md|[\w/-]+\/)`/g)].map(([, path]) => path!);

  test("names more than twenty files", () => {
    expect(paths.length).toBeGreaterThan(20);
  });

  // The folder of a new file exists; if that is new too, its parent.
  test.each([...new Set(paths)])("%s exists, or is a placeholder in an existing folder", (path) => {
    const known = path.includes("<") ? dirname(path.slice(0, path.indexOf("<") + 1)) : path;
    expect(existsSync(inProject(known))).toBe(true);
  });

  test("names for each error code of runs the source files that contain it", () => {
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

describe("server/docs/develop/tokens-way.md", () => {
  const page = read("tokens-way.md");
  const way = [...page.matchAll(/^\| `([\w./-]+)` \|/gm)].map(([, path]) => path!);

  test("leads a token from the provider to the page through at most twelve files", () => {
    expect(way[0]).toStartWith("server/runtime/models/");
    expect(way.at(-1)).toStartWith("dashboard/src/");
    expect(way.length).toBeLessThanOrEqual(12);
    expect(way.filter((path) => !existsSync(inProject(path)))).toEqual([]);
  });

  test("names existing files beside the way of a token", () => {
    const paths = [...page.matchAll(/`((?:server|dashboard)\/[\w./-]+)`/g)].map(([, path]) => path!);
    expect(paths.length).toBeGreaterThan(way.length);
    expect(paths.filter((path) => !existsSync(inProject(path)))).toEqual([]);
  });
});
