import { existsSync, readdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join, parse } from "node:path";

/** Folders in which a module is a kind of something, named after it, with what each of them exports. */
const folders = {
  "server/guardrails/types": "kind",
  "server/tools/types": "kind",
  "server/worker/tools": "run",
  "dashboard/src/features/tools/types": "part",
};

/** Writes `all.ts` of these folders, which exports their kinds by name: a bundler follows only imports that are written out. */
export function writeKinds(root) {
  for (const [name, exported] of Object.entries(folders)) {
    const folder = join(root, name);
    if (!existsSync(folder)) continue;
    const isKind = (file) =>
      file !== "all.ts" &&
      new RegExp(`^export const ${exported}\\b`, "m").test(readFileSync(join(folder, file), "utf8"));
    const lines = readdirSync(folder)
      .filter((file) => /\.tsx?$/.test(file) && isKind(file))
      .sort()
      .map((file) => `export { ${exported} as ${parse(file).name.replaceAll("-", "_")} } from "./${file}";\n`);
    replace(join(folder, "all.ts"), lines.join(""));
  }
}

function replace(path, text) {
  if (existsSync(path) && readFileSync(path, "utf8") === text) return;
  // Whole in one step: another command may be reading it.
  const unfinished = `${path}.${process.pid}`;
  writeFileSync(unfinished, text);
  renameSync(unfinished, path);
}
