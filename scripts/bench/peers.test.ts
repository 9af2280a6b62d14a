import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { inProject } from "../root.ts";

const read = (...path: string[]) => readFileSync(join(import.meta.dir, "peers", ...path), "utf8");

/** The packages of an npm folder, as names and versions. */
function packagesOf(text: string): [name: string, version: string][] {
  const { dependencies = {}, devDependencies = {}, optionalDependencies = {} } = JSON.parse(text);
  return Object.entries({ ...dependencies, ...devDependencies, ...optionalDependencies });
}

test("another server is installed with exact versions only", () => {
  for (const name of ["voltagent", "mastra"])
    for (const [, version] of packagesOf(read(name, "package.json"))) expect(version).toMatch(/^\d+\.\d+\.\d+$/);
  for (const line of read("agno", "requirements.txt").trim().split("\n")) expect(line).toMatch(/^[\w-]+==\d+(\.\w+)+$/);
});

test("no other server is a dependency of runnel", () => {
  const names = packagesOf(readFileSync(inProject("package.json"), "utf8")).map(([name]) => name);
  expect(names.filter((name) => /^@voltagent\/|^@?mastra\b/.test(name))).toEqual([]);
});
