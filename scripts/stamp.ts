import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { inProject, root } from "./root.ts";

const executable = inProject("dist/runnel");
const stamp = inProject("dist/.inputs");
// One pattern for all of them, with a path among its choices, would match nothing.
const folders = ["server", "dashboard", "migrations", "scripts/docs", "scripts/clients"];
const rest = [
  "package.json",
  "bun.lock",
  "scripts/build.ts",
  "scripts/python-files.ts",
  "scripts/embedding-files.ts",
  "scripts/sentence-model.ts",
  "scripts/int8-graph.ts",
];

/** Whether `dist/runnel` was built for this machine from exactly the files that lie here now. */
export function isFresh(): boolean {
  return existsSync(executable) && existsSync(stamp) && readFileSync(stamp, "utf8") === fingerprint();
}

/** Remembers what the executable was built from; take the fingerprint before the build, or an edit meanwhile is lost. */
export function markFresh(built: string): void {
  writeFileSync(stamp, built);
}

/** The files that the executable is made of, by their paths in the project. */
export function inputs(): string[] {
  const files = folders.flatMap((folder) => [...new Bun.Glob(`${folder}/**/*`).scanSync({ cwd: root })]);
  return [...files.filter((path) => !/\.test\.tsx?$/.test(path)).sort(), ...rest];
}

/** Content and not time: a checkout or a copy that changes nothing builds nothing. Tests are not part of the build. */
export function fingerprint(): string {
  const hash = new Bun.CryptoHasher("sha256");
  for (const path of inputs()) hash.update(`${path}\0`).update(readFileSync(inProject(path)));
  return hash.digest("hex");
}
