import { existsSync } from "node:fs";
import { Command } from "commander";
import { docsDir } from "../../lib/assets.ts";
import { builtFilesIn, readBuiltText } from "../../lib/built-files.ts";
import { usageError } from "./exit-code.ts";
import { writeOut } from "./output.ts";

/** `runnel docs [topic]`: prints a page as Markdown; without a topic the list of all pages. */
export const docsCommand = (): Command =>
  new Command("docs")
    .description("print a page of the documentation")
    .argument("[topic]", "a page, such as guides/streaming, or the end of its name: streaming")
    .action((topic: string | undefined) => writeOut(pageFor(builtDocs(), topic)));

/** `runnel licenses`: prints the licence of runnel and those of its dependencies. */
export const licensesCommand = (): Command =>
  new Command("licenses")
    .description("print the license of runnel, and the licenses of everything that it carries")
    .action(() => writeOut(textIn(builtDocs(), "licenses.txt")));

/** Throws if runnel runs from source and the documentation is not built. */
function builtDocs(): string {
  const folder = docsDir();
  if (!existsSync(folder)) throw new Error("The documentation is not built: `npm run build` builds it.");
  return folder;
}

/** Returns the page of a topic. Throws for an unknown or ambiguous topic. */
export function pageFor(folder: string, topic: string | undefined): string {
  if (topic === undefined) return textIn(folder, "llms.txt");
  const pages = [...builtFilesIn(folder).keys()]
    .filter((name) => name.endsWith(".md"))
    .map((name) => name.slice(0, -".md".length));
  const topicName = topic.replace(/\.md$/, "").replace(/\/$/, "");
  const found = [topicName, `${topicName}/index`].find((name) => pages.includes(name));
  const ending = pages.filter((name) => name.endsWith(`/${topicName}`) || name.endsWith(`/${topicName}/index`));
  const page = found ?? (ending.length === 1 ? ending[0] : undefined);
  if (page !== undefined) return textIn(folder, `${page}.md`);
  const hint = ending.length > 1 ? `Several pages are called so: ${ending.join(", ")}.` : "`runnel docs` lists them.";
  throw usageError(`There is no page "${topic}". ${hint}`);
}

function textIn(folder: string, name: string): string {
  const file = builtFilesIn(folder).get(name);
  if (!file) throw new Error(`The documentation has no ${name}.`);
  return readBuiltText(file);
}
