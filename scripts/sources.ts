import { readFileSync } from "node:fs";
import { inProject, root } from "./root.ts";
import type { Files } from "./tidy.ts";

/** Every source file there is. */
export function readSources(): Files {
  const sources = new Bun.Glob("{server,dashboard,migrations,e2e,scripts}/**/*.{ts,tsx,mjs}");
  // The clients' packages are apart: the half of them that imports the other is made by the build.
  const paths = [...sources.scanSync({ cwd: root })].filter((path) => !path.startsWith("server/clients/")).sort();
  return Object.fromEntries(paths.map((path) => [path, readFileSync(inProject(path), "utf8")]));
}
