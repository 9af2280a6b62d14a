import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { succeeds, toolFolder } from "./tool-folder.ts";

/**
 * Returns the `node_modules` of a folder in `.tools/` with these packages (`tsx@4.23.15`), fetched from the npm
 * registry if missing: by Bun, which takes a fifth of npm's time. Returns null if unavailable.
 */
export async function npmWith(name: string, packages: readonly string[]): Promise<string | null> {
  const folder = await toolFolder(name, async (cwd) => {
    writeFileSync(join(cwd, "package.json"), '{"private": true}');
    return await succeeds([process.execPath, "add", "--exact", "--ignore-scripts", ...packages], { cwd });
  });
  return folder && join(folder, "node_modules");
}
