import { existsSync } from "node:fs";
import { Command } from "commander";
import { docsDir } from "../../lib/assets.ts";
import { builtFilesIn, readBuiltText } from "../../lib/built-files.ts";
import { docsFinder } from "../../lib/docs-search.ts";
import { usageError } from "./exit-code.ts";
import { writeOut } from "./output.ts";

/** `runnel docs [topic…]`: prints a page as Markdown, or the pages with these words; without a topic all pages. */
export const docsCommand = (): Command =>
  new Command("docs")
    .description("print a page of the documentation, or search it")
    .argument(
      "[topic...]",
      "a page, such as guides/streaming, or the end of its name: streaming; or words to search for",
    )
    .action((words: string[]) => writeOut(pageFor(builtDocs(), words.length > 0 ? words.join(" ") : undefined)));

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

/**
 * Returns the page of a topic, or a list of the pages that are called so or that a search for it finds. Throws if there are
 * none.
 */
export function pageFor(folder: string, topic: string | undefined): string {
  if (topic === undefined) return textIn(folder, "llms.txt");
  const pages = [...builtFilesIn(folder).keys()]
    .filter((name) => name.endsWith(".md"))
    .map((name) => name.slice(0, -".md".length));
  const topicName = topic.replace(/\.md$/, "").replace(/\/$/, "");
  const exact = [topicName, `${topicName}/index`].find((name) => pages.includes(name));
  const ending = pages.filter((name) => name.endsWith(`/${topicName}`) || name.endsWith(`/${topicName}/index`));
  const page = exact ?? (ending.length === 1 ? ending[0] : undefined);
  if (page !== undefined) return textIn(folder, `${page}.md`);
  const called = ending.map((path) => ({ path, title: titleOf(textIn(folder, `${path}.md`)) }));
  const found = called.length > 0 ? called : docsFinder(textIn(folder, "search.json"))(topic);
  if (found.length === 0) throw usageError(`There is no page "${topic}". \`runnel docs\` lists them.`);
  const lines = found.slice(0, 10).map(({ path, title }) => `${path || "index"}\t${title}\n`);
  return lines.join("");
}

const titleOf = (markdown: string): string => markdown.slice("# ".length).split("\n", 1)[0] ?? "";

function textIn(folder: string, name: string): string {
  const file = builtFilesIn(folder).get(name);
  if (!file) throw new Error(`The documentation has no ${name}.`);
  return readBuiltText(file);
}
