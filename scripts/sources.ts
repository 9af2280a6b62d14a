import { readFileSync } from "node:fs";
import { inProject, root } from "./root.ts";
import type { Files } from "./tidy.ts";

/** Reads every source file. */
export function readSources(): Files {
  const sources = new Bun.Glob("{server,dashboard,migrations,e2e,scripts}/**/*.{ts,tsx,mjs}");
  // Excludes the clients' packages, because the build generates half of their modules, and the programs of the
  // documentation, which run on the readers' machines and import nothing from here.
  const apart = ["server/sdks/", "server/docs/files/"];
  const paths = [...sources.scanSync({ cwd: root })]
    .filter((path) => !apart.some((folder) => path.startsWith(folder)))
    .sort();
  return Object.fromEntries(paths.map((path) => [path, readFileSync(inProject(path), "utf8")]));
}
