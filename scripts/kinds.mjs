import { existsSync, readdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join, parse } from "node:path";

/** Folders in which each module is one kind, named after it, with its export. */
const folders = {
  "server/runtime/guardrails/types": "kind",
  "server/resources/tools/catalog": "entry",
  "server/resources/tools/types": "kind",
  "server/runtime/agent-loop/tools": "run",
  "dashboard/src/features/tools/types": "part",
};

/**
 * Writes `all.ts` of these folders, which exports the kinds by name, and the list of migrations, because a bundler
 * follows only literal imports.
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
  writeMigrations(join(root, "migrations"));
}

/** Writes the list of migrations, in the order of their names. */
function writeMigrations(folder) {
  if (!existsSync(folder)) return;
  const names = readdirSync(folder)
    .filter((file) => file.endsWith(".sql"))
    .sort()
    .map((file) => parse(file).name);
  const exportOf = (name) => name.replace(/^\d+_/, "").replace(/_(\w)/g, (_, letter) => letter.toUpperCase());
  const imports = names.map((name) => `import ${exportOf(name)} from "./${name}.sql" with { type: "text" };\n`);
  const entries = names.map((name) => `  { name: "${name}", sql: ${exportOf(name)} },\n`);
  const head = [
    "",
    "/** Every migration in order; the database's `user_version` is how many of them it has. Landed ones are never edited. */",
    "export const migrations: readonly { name: string; sql: string }[] = [",
    "",
  ];
  replace(join(folder, "index.ts"), `${imports.join("")}${head.join("\n")}${entries.join("")}];\n`);
}

function replace(path, text) {
  if (existsSync(path) && readFileSync(path, "utf8") === text) return;
  // Atomic, because another command may be reading it.
  const unfinished = `${path}.${process.pid}`;
  writeFileSync(unfinished, text);
  renameSync(unfinished, path);
}
