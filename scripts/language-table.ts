import { measureLanguage } from "./language.ts";
import { readSources } from "./sources.ts";
import type { Files } from "./tidy.ts";

// Prints how the sources read, folder by folder: `node scripts/run.mjs scripts/language-table.ts`.

const isTest = (path: string) => /\.(?:test|e2e|browser)\.tsx?$|__fixtures__|^server\/testing\/|^e2e\//.test(path);
const all = readSources();
const groups: Record<string, (path: string) => boolean> = {
  server: (path) => path.startsWith("server/") && !isTest(path),
  dashboard: (path) => path.startsWith("dashboard/") && !isTest(path),
  scripts: (path) => path.startsWith("scripts/") && !isTest(path),
  tests: isTest,
  all: () => true,
};
const pick = (holds: (path: string) => boolean): Files =>
  Object.fromEntries(Object.entries(all).filter(([path]) => holds(path)));

console.log("| | lines | literal spreads | comments with What | whoever | somebody, nobody | ! per 1,000 lines |");
console.log("| --- | --- | --- | --- | --- | --- | --- |");
for (const [name, holds] of Object.entries(groups)) {
  const figures = measureLanguage(pick(holds));
  const share = ((100 * figures.comments_with_what) / figures.comments).toFixed(1);
  const assertions = ((1000 * figures.non_null) / figures.lines).toFixed(1);
  const cells = [
    name,
    figures.lines,
    figures.literal_spreads,
    `${share}%`,
    figures.whoever,
    figures.somebody,
    assertions,
  ];
  console.log(`| ${cells.join(" | ")} |`);
}
