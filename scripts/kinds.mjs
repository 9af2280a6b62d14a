import { existsSync, readdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join, parse } from "node:path";

/** Folders in which each module is one kind, named after it, with its export. */
const folders = {
  "server/runtime/guardrails/types": "kind",
  "server/resources/tools/types": "kind",
  "server/runtime/agent-loop/tools": "run",
  "dashboard/src/features/tools/types": "part",
};

/**
 * Writes `all.ts` of these folders, which exports the kinds by name, because a bundler follows only literal imports.
 */
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
  // Atomic, because another command may be reading it.
  const unfinished = `${path}.${process.pid}`;
  writeFileSync(unfinished, text);
  renameSync(unfinished, path);
}
