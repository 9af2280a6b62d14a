import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { inProject, root } from "./root.ts";

const executable = inProject("dist/runnel");
const stamp = inProject("dist/.inputs");
const inputs = new Bun.Glob("{server,dashboard,migrations,scripts/docs,scripts/clients}/**/*");
const rest = ["package.json", "bun.lock", "scripts/build.ts", "scripts/python-files.ts", "scripts/embedding-files.ts"];

/** Whether `dist/runnel` was built for this machine from exactly the files that lie here now. */
export function isFresh(): boolean {
  return existsSync(executable) && existsSync(stamp) && readFileSync(stamp, "utf8") === fingerprint();
}

/** Remembers what the executable was built from; take the fingerprint before the build, or an edit meanwhile is lost. */
export function markFresh(built: string): void {
  writeFileSync(stamp, built);
}

/** Content and not time: a checkout or a copy that changes nothing builds nothing. Tests are not part of the build. */
export function fingerprint(): string {
  const hash = new Bun.CryptoHasher("sha256");
  const files = [...inputs.scanSync({ cwd: root })].filter((path) => !/\.test\.tsx?$/.test(path)).sort();
  for (const path of [...files, ...rest]) hash.update(`${path}\0`).update(readFileSync(inProject(path)));
  return hash.digest("hex");
}
