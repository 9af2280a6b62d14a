import { readFileSync } from "node:fs";
import { inProject, root } from "./root.ts";
import type { Files } from "./tidy.ts";

/** Every source file there is. */
export function readSources(): Files {
  const sources = new Bun.Glob("{server,dashboard,migrations,e2e,scripts}/**/*.{ts,tsx,mjs}");
  // The clients' packages are apart: the half of them that imports the other is made by the build. So are the programs
  // that the documentation gives to its readers: they run on machines of their own, and import nothing from here.
  const apart = ["server/clients/", "server/docs/files/"];
  const paths = [...sources.scanSync({ cwd: root })]
    .filter((path) => !apart.some((folder) => path.startsWith(folder)))
    .sort();
  return Object.fromEntries(paths.map((path) => [path, readFileSync(inProject(path), "utf8")]));
}
