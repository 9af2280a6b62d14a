import { expect, test } from "bun:test";
import { inputs } from "./stamp.ts";

test("a change in any folder that the executable is made of makes it anew", () => {
  expect(inputs()).toEqual(
    expect.arrayContaining([
      "server/main.ts",
      "server/docs/index.md",
      "server/clients/python/runnel_sdk/_errors.py",
      "migrations/index.ts",
      "dashboard/src/main.tsx",
      "dashboard/src/index.css",
      "scripts/docs/site.css",
      "scripts/clients/python.ts",
      "package.json",
      "scripts/build.ts",
    ]),
  );
});
