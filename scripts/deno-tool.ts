import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { inProject } from "./root.ts";

const version = "2.9.6";
const libc = process.platform === "linux" ? "-glibc" : "";

/** The path of a Deno, which is fetched from the npm registry when it is not there yet; null where it cannot be had. */
export async function denoPath(): Promise<string | null> {
  const name = `@deno/${process.platform}-${process.arch}${libc}`;
  const folder = inProject(".tools", `deno-${version}`);
  const path = join(folder, "node_modules", name, "deno");
  if (existsSync(path)) return path;
  const making = `${folder}.${process.pid}`; // Two suites may begin at once.
  mkdirSync(making, { recursive: true });
  try {
    writeFileSync(join(making, "package.json"), '{"private": true}');
    const flags = ["--ignore-scripts", "--save-exact", "--no-audit", "--no-fund", "--loglevel=error"];
    const npm = Bun.spawn(["npm", "install", ...flags, `${name}@${version}`], {
      ...{ cwd: making, stdin: "ignore", stdout: "ignore", stderr: "ignore" },
    });
    if ((await npm.exited) !== 0) return null;
    if (!existsSync(folder)) renameSync(making, folder);
    return path;
  } finally {
    rmSync(making, { recursive: true, force: true });
  }
}
