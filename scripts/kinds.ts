import { writeFileSync } from "node:fs";
import { basename, dirname, extname } from "node:path";
import { inProject } from "./root.ts";
import { readSources } from "./sources.ts";
import type { Files } from "./tidy.ts";

/** Folders in which a module is a kind of something, named after it, with what each of them exports. */
const folders = {
  "server/guardrails/types": "kind",
  "server/tools/types": "kind",
  "server/worker/tools": "run",
  "dashboard/src/features/tools/types": "part",
};

/** `all.ts` of these folders: their kinds by name. A bundler follows only imports that are written out. */
export function kindLists(files: Files): Files {
  const lists = Object.entries(folders).map(([folder, exported]) => {
    const modules = Object.keys(files).filter(
      (path) => dirname(path) === folder && RegExp(`^export const ${exported}\\b`, "m").test(files[path]!),
    );
    const lines = modules.map((path) => {
      const name = basename(path, extname(path)).replaceAll("-", "_");
      return `export { ${exported} as ${name} } from "./${basename(path)}";\n`;
    });
    return [`${folder}/all.ts`, ["// Written by `npm run kinds`: what is in this folder.\n", ...lines].join("")];
  });
  return Object.fromEntries(lists);
}

if (import.meta.main)
  for (const [path, text] of Object.entries(kindLists(readSources()))) writeFileSync(inProject(path), text);
