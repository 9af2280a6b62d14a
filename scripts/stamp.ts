import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { inProject, root } from "./root.ts";

const executable = inProject("dist/runnel");
const stamp = inProject("dist/.inputs");
// A single pattern with a path among its alternatives would match nothing.
const folders = ["server", "dashboard", "migrations", "scripts/docs", "scripts/sdk-codegen"];
const rest = [
  "package.json",
  "bun.lock",
  "scripts/build.ts",
  "scripts/python-files.ts",
  "scripts/data-python-files.ts",
  "scripts/limit-wasm-memory.ts",
  "scripts/sentence-model.ts",
  "scripts/int8-graph.ts",
];

/** True if `dist/runnel` was built for this machine from exactly the current files. */
export function isFresh(): boolean {
  return existsSync(executable) && existsSync(stamp) && readFileSync(stamp, "utf8") === fingerprint();
}

/** Stores the fingerprint of the built sources. Take it before the build, or an edit meanwhile is missed. */
export function markFresh(built: string): void {
  writeFileSync(stamp, built);
}

/** Returns the input files of the executable, by path in the project. */
export function inputs(): string[] {
  const files = folders.flatMap((folder) => [...new Bun.Glob(`${folder}/**/*`).scanSync({ cwd: root })]);
  return [...files.filter((path) => !/\.test\.tsx?$/.test(path)).sort(), ...rest];
}

/**
 * Hashes content and not times, so that an unchanged checkout or copy builds nothing. Tests are not part of the build.
 */
export function fingerprint(): string {
  const hash = new Bun.CryptoHasher("sha256");
  for (const path of inputs()) hash.update(`${path}\0`).update(readFileSync(inProject(path)));
  return hash.digest("hex");
}
