import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { inProject } from "./root.ts";

/**
 * The `node_modules` of a folder in `.tools/` that has these packages (`tsx@4.23.15`), fetched from the npm registry when
 * it is not there yet. Null where they cannot be had.
 */
export async function npmWith(name: string, packages: readonly string[]): Promise<string | null> {
  const folder = inProject(".tools", name);
  const modules = join(folder, "node_modules");
  if (existsSync(folder)) return modules;
  const making = `${folder}.${process.pid}`; // Two suites may begin at once.
  mkdirSync(making, { recursive: true });
  try {
    writeFileSync(join(making, "package.json"), '{"private": true}');
    const flags = ["--ignore-scripts", "--save-exact", "--no-audit", "--no-fund", "--loglevel=error"];
    const npm = Bun.spawn(["npm", "install", ...flags, ...packages], {
      ...{ cwd: making, stdin: "ignore", stdout: "ignore", stderr: "ignore" },
    });
    if ((await npm.exited) !== 0) return null;
    if (!existsSync(folder)) renameSync(making, folder);
    return modules;
  } finally {
    rmSync(making, { recursive: true, force: true });
  }
}
