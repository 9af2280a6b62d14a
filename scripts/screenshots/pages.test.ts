import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { inProject } from "../root.ts";
import { pagesOf, signedOutPages } from "./pages.ts";
import type { SeededIds } from "./seed.ts";

test("every route of the dashboard is among the pages checked by people and by axe", () => {
  const ids = new Proxy({}, { get: (_, name) => `id_${String(name)}` }) as SeededIds;
  const looked = [...Object.values(pagesOf(ids)), ...signedOutPages].map((path) => path.replace(/[?#].*/, ""));
  const routes = readFileSync(inProject("dashboard/src/app/routes.tsx"), "utf8");
  const paths = [...routes.matchAll(/(?:\(\s*|path: )"(\/[a-z][^"]*)"/g)].map(([, path]) => path!);
  expect(paths.length).toBeGreaterThan(30);
  const isLookedAt = (path: string) => {
    const pattern = new RegExp(`^${path.replaceAll(/\$\w+/g, "[^/]+")}$`);
    return looked.some((each) => pattern.test(each));
  };
  expect(paths.filter((path) => !isLookedAt(path))).toEqual([]);
});
