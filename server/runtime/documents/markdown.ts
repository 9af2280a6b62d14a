import type { Outline } from "./outline.ts";

const fence = /^ {0,3}(`{3,}|~{3,})(.*)$/;
const atx = /^ {0,3}(#{1,6})[ \t]+(.*)$/;
const underline = /^ {0,3}(=+|-{2,})[ \t]*$/;
const frontMatter = /^(---|\+\+\+)[ \t]*\n([\s\S]{1,20000}?\n)\1[ \t]*(?:\n|$)/;

/**
 * Splits Markdown into sections by its headings. A `#` in a code block or a comment is no heading. `finish` completes
 * each piece of text.
 */
export function outlineMarkdown(
  markdown: string,
  outline: Outline,
  finish: (text: string) => string = (text) => text,
): void {
  let blockLines: string[] = [];
  let closing: string | null = null;
  let inComment = false;
  const flush = () => {
    outline.block(finish(blockLines.join("\n")));
    blockLines = [];
  };
  const heading = (level: number, title: string) => {
    flush();
    outline.heading(level, finish(title));
  };
  const take = (line: string) => {
    const [, mark, info = ""] = fence.exec(line) ?? [];
    if (closing !== null) {
      if (mark?.startsWith(closing) && info.trim() === "") closing = null;
      return blockLines.push(line);
    }
    const isComment = inComment || line.includes("<!--");
    if (isComment)
      inComment = line.lastIndexOf("-->") < line.lastIndexOf("<!--") || (inComment && !line.includes("-->"));
    if (isComment) return blockLines.push(line);
    if (mark && !(mark.startsWith("`") && info.includes("`"))) closing = mark;
    const title = atx.exec(line);
    if (title) return heading(title[1]?.length ?? 1, (title[2] ?? "").replace(/\s+/g, " ").replace(/ #+ ?$/, ""));
    const level = underline.exec(line)?.[1]?.startsWith("=") ? 1 : 2;
    const underlined = isTitle(blockLines) && underline.test(line) ? blockLines.pop() : undefined;
    return underlined === undefined ? blockLines.push(line) : heading(level, underlined);
  };
  for (const line of markdown.split("\n")) take(line);
  flush();
}

/** Splits a Markdown file. The title in its front matter is its heading if it has no other one of the first level. */
export function outlineMarkdownFile(markdown: string, outline: Outline): void {
  const [whole = "", , settings = ""] = frontMatter.exec(markdown) ?? [];
  const text = markdown.slice(whole.length);
  const [, title = ""] = /^title[ \t]*[:=][ \t]*(["']?)(.+?)\1[ \t]*$/m.exec(settings)?.slice(1) ?? [];
  if (title !== "" && !/^(?:# |.+\n=+[ \t]*$)/m.test(text)) outline.heading(1, title);
  outline.block(settings);
  outlineMarkdown(text, outline);
}

/** True if the last line stands alone, as a title above an underline does. */
function isTitle(lines: readonly string[]): boolean {
  const [before = "", last = ""] = lines.length > 1 ? lines.slice(-2) : ["", lines[0]];
  return before.trim() === "" && /^\s{0,3}[^\s|>*+\-#]/.test(last);
}

/** Formats rows as a Markdown table; the first row is the header. */
export function markdownTable(rows: readonly (readonly string[])[]): string {
  const [header = [], ...others] = rows;
  return [tableRow(header), `|${" --- |".repeat(Math.max(1, header.length))}`, ...others.map(tableRow)].join("\n");
}

const tableRow = (cells: readonly string[]): string =>
  `| ${cells.map((cell) => cell.trim().replaceAll("|", "\\|").replace(/\s+/g, " ")).join(" | ")} |`;

/** Appends a paragraph to the last cell of the last row. */
export function addToCell(rows: readonly string[][], text: string): void {
  const row = rows.at(-1);
  if (row && row.length > 0 && text.trim() !== "") row.push(`${row.pop()} ${text.trim()}`.trim());
}
