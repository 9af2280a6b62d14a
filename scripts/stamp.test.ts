import { expect, test } from "bun:test";
import { inputs } from "./stamp.ts";

test("a change in any input folder of the executable makes it outdated", () => {
  expect(inputs()).toEqual(
    expect.arrayContaining([
      "server/main.ts",
      "server/docs/index.md",
      "server/sdks/python/runnel_sdk/_errors.py",
      "migrations/index.ts",
      "dashboard/src/main.tsx",
      "dashboard/src/index.css",
      "scripts/docs/site.css",
      "scripts/sdk-codegen/python.ts",
      "package.json",
      "scripts/build.ts",
    ]),
  );
});
