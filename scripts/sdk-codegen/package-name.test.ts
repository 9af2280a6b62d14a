import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { inProject, root } from "../root.ts";
import { packageNameFaults } from "./package-name.ts";

const itself = "scripts/sdk-codegen/package-name.test.ts";

test("no text that a reader copies or runs imports, installs or names the package runnel of npm or PyPI, which belongs to others", () => {
  const kinds = "**/*.{md,ts,tsx,js,jsx,mjs,py,sh,json,html,toml,txt}";
  const folders = ["server", "dashboard", "e2e", "scripts", "migrations"];
  const paths = [
    "README.md",
    ...folders.flatMap((folder) => [...new Bun.Glob(`${folder}/${kinds}`).scanSync(root)]),
  ].filter((path) => path !== itself && !path.includes("node_modules/"));
  for (const path of ["server/docs/start/install.md", "server/docs/files/slack-bot.py"]) expect(paths).toContain(path);
  expect(
    packageNameFaults(Object.fromEntries(paths.map((path) => [path, readFileSync(inProject(path), "utf8")]))),
  ).toEqual([]);
});

test.each([
  'import { Runnel } from "runnel";',
  "import type { Run } from 'runnel'",
  'import "runnel";',
  String.raw`"import { Runnel } from \"runnel\";"`,
  'await import("runnel")',
  'require("runnel")',
  "from runnel import Runnel",
  "from runnel.types import Run",
  "import runnel as library",
  "import os, runnel",
  "python -c 'import runnel; print(1)'",
  "npm install runnel",
  "npm i -D runnel",
  "npm install runnel@0.1.0",
  "bun add runnel",
  "pip install runnel",
  "pip install 'runnel==0.1.0'",
  "uv pip install httpx runnel",
  "npx runnel",
  "https://esm.sh/runnel",
  "node_modules/runnel/dist",
  "/docs/clients/runnel-0.1.0.tgz",
  "runnel-<version>.js",
  "npm install ./runnel-0.1.0.tgz",
  "runnel-0.1.0-py3-none-any.whl",
])("the check refuses %s", (text) => {
  expect(packageNameFaults({ text })).not.toEqual([]);
});

test.each([
  'import { Runnel } from "runnel-sdk";',
  "from runnel_sdk import Runnel",
  "import runnel_sdk as library",
  "npm install ./runnel-sdk-0.1.0.tgz",
  "pip install ./runnel_sdk-0.1.0-py3-none-any.whl",
  "tar -xf runnel-0.1.0-linux-x64.tar.xz",
  "runnel install",
  "const runnel = new Runnel();",
  'const name = "runnel";',
  "npm install, then start runnel",
])("the check accepts %s", (text) => {
  expect(packageNameFaults({ text })).toEqual([]);
});
