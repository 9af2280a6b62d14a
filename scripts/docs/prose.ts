import { plain } from "./pages.ts";

/** Removes blocks of code from Markdown. */
export const stripCode = (markdown: string): string => markdown.replace(/^```[\s\S]*?^```$/gm, "");

/** Returns the sentences of paragraphs and lists, without tables and headings. */
export const sentencesIn = (markdown: string): string[] =>
  stripCode(markdown)
    .split(/\n\s*\n|\n(?=[-*|>#]|\d+\. )/)
    .filter((block) => !/^\s*[|#]/.test(block))
    .flatMap((block) => sentencesOf(block.replace(/^\s*(?:[-*>]|\d+\.)\s+/, "").replaceAll("\n", " ")));

/** Returns the sentences in the cells of tables. */
export const sentencesInTables = (markdown: string): string[] =>
  stripCode(markdown)
    .split("\n")
    .filter((line) => line.startsWith("|"))
    .flatMap((row) => row.split(/(?<!\\)\|/).flatMap(sentencesOf));

const sentencesOf = (text: string): string[] =>
  plain(text)
    .trim()
    .split(/(?<=[.!?:;])\s+/);
