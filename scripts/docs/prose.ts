import { plain } from "./pages.ts";

/** Markdown without its blocks of code. */
export const withoutCode = (markdown: string): string => markdown.replace(/^```[\s\S]*?^```$/gm, "");

/** Sentences of paragraphs and lists; tables and headings have none. */
export const sentencesIn = (markdown: string): string[] =>
  withoutCode(markdown)
    .split(/\n\s*\n|\n(?=[-*|>#]|\d+\. )/)
    .filter((block) => !/^\s*[|#]/.test(block))
    .flatMap((block) => sentencesOf(block.replace(/^\s*(?:[-*>]|\d+\.)\s+/, "").replaceAll("\n", " ")));

/** Sentences of the cells of tables. */
export const sentencesInTables = (markdown: string): string[] =>
  withoutCode(markdown)
    .split("\n")
    .filter((line) => line.startsWith("|"))
    .flatMap((row) => row.split(/(?<!\\)\|/).flatMap(sentencesOf));

const sentencesOf = (text: string): string[] =>
  plain(text)
    .trim()
    .split(/(?<=[.!?:;])\s+/);

/** The words that pages do not use, as the glossary lists them. */
export function refusedInPages(glossary: string): string[] {
  const [, section = ""] = glossary.split("## Words of the documentation\n");
  return [...section.matchAll(/^- `([^`\n]+)`: /gm)].map(([, word]) => word!);
}

/** Those of the words that a page has outside of its code. */
export function wordsFound(markdown: string, words: readonly string[]): string[] {
  const text = withoutCode(markdown).replace(/`[^`\n]*`/g, "");
  return words.filter((word) => new RegExp(`(?<![\\w-])${RegExp.escape(word)}(?![\\w-])`, "i").test(text));
}
