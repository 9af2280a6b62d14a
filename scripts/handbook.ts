import { readFileSync } from "node:fs";
import { inProject, root } from "./root.ts";

/** README.md, and the rules of each part of the server in detail: all that is written of the API, in one text. */
export const handbook = ["README.md", ...[...new Bun.Glob("server/*/API.md").scanSync({ cwd: root })].sort()]
  .map((path) => readFileSync(inProject(path), "utf8"))
  .join("\n");
