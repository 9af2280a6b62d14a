import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { succeeds, toolFolder } from "./tool-folder.ts";

/**
 * The `node_modules` of a folder in `.tools/` that has these packages (`tsx@4.23.15`), fetched from the npm registry when
 * it is not there yet: by Bun, which takes a fifth of npm's time. Null where they cannot be had.
 */
export async function npmWith(name: string, packages: readonly string[]): Promise<string | null> {
  const folder = await toolFolder(name, async (cwd) => {
    writeFileSync(join(cwd, "package.json"), '{"private": true}');
    return await succeeds([process.execPath, "add", "--exact", "--ignore-scripts", ...packages], { cwd });
  });
  return folder && join(folder, "node_modules");
}
