import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { writeKinds } from "../scripts/kinds.mjs";
import { agentField } from "./recipes/agents.ts";
import { dashboardPage, documentationPage } from "./recipes/dashboard.ts";
import { documentFormat, guardrailType, memoryKind, modelProvider, webhookEvent } from "./recipes/kinds.ts";
import { copySources, follow, pathsIn, pathsOf, sectionOf, testsIn } from "./recipes/recipe.ts";
import { resourceWithRoutes } from "./recipes/resource.ts";
import { toolType } from "./recipes/tool-type.ts";

// Follows the recipes of `server/docs/develop/recipes.md` in a copy of the sources, one after the other.

const recipes = [
  agentField,
  toolType,
  webhookEvent,
  guardrailType,
  memoryKind,
  documentFormat,
  modelProvider,
  resourceWithRoutes,
  dashboardPage,
  documentationPage,
];

test.each(recipes.map((recipe) => [recipe.title, recipe] as const))(
  '"%s" names each file that is changed',
  (_, recipe) => {
    const named = new Set(pathsIn(sectionOf(recipe.title)));
    expect(pathsOf(recipe).filter((path) => !named.has(path))).toEqual([]);
  },
);

describe("the recipes, followed in a copy", () => {
  let copy: ReturnType<typeof copySources>;
  beforeAll(() => {
    copy = copySources();
    for (const recipe of recipes) follow(copy.folder, recipe);
    writeKinds(copy.folder);
  }, 180_000);
  afterAll(() => copy[Symbol.dispose](), 180_000);

  test.each(["server", "dashboard", "scripts"])(
    "the types of %s fit",
    async (project) => {
      const { stdout } = await run([process.execPath, "--bun", "node_modules/.bin/tsc", "-p", project]);
      expect(stdout).toBe("");
    },
    300_000,
  );

  test("the named tests pass", async () => {
    const paths = [...new Set(recipes.flatMap(({ title }) => testsIn(sectionOf(title))))];
    expect(paths.length).toBeGreaterThan(10);
    const { code, stderr } = await run([
      process.execPath,
      "test",
      "--parallel=2",
      "--timeout=60000",
      ...paths.map((path) => `./${path}`),
    ]);
    const failed = stderr.split("\n").filter((line) => line.startsWith("(fail)"));
    expect({ code, failed }).toEqual({ code: 0, failed: [] });
  }, 600_000);

  async function run(command: string[]) {
    const child = Bun.spawn(command, { cwd: copy.folder, stdin: "ignore", stdout: "pipe", stderr: "pipe" });
    const [stdout, stderr, code] = await Promise.all([
      new Response(child.stdout).text(),
      new Response(child.stderr).text(),
      child.exited,
    ]);
    return { stdout, stderr, code };
  }
});
