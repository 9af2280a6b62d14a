import type { Outline } from "./outline.ts";

const fence = /^ {0,3}(`{3,}|~{3,})/;
const atx = /^ {0,3}(#{1,6})[ \t]+(.*)$/;
const underline = /^ {0,3}(=+|-{2,})[ \t]*$/;

/** Splits Markdown into sections by its headings. A `#` in a code block is no heading. */
export function outlineMarkdown(markdown: string, outline: Outline): void {
  let blockLines: string[] = [];
  let closing: string | null = null;
  const flush = () => {
    outline.block(blockLines.join("\n"));
    blockLines = [];
  };
  const take = (line: string) => {
    const mark = fence.exec(line)?.[1];
    if (closing !== null) {
      if (mark?.startsWith(closing)) closing = null;
      return blockLines.push(line);
    }
    if (mark) closing = mark;
    const heading = atx.exec(line);
    if (heading) {
      flush();
      return outline.heading(heading[1]?.length ?? 1, (heading[2] ?? "").replace(/\s+/g, " ").replace(/ #+ ?$/, ""));
    }
    const level = underline.exec(line)?.[1]?.startsWith("=") ? 1 : 2;
    const title = isTitle(blockLines) && underline.test(line) ? blockLines.pop() : undefined;
    if (title === undefined) return blockLines.push(line);
    flush();
    return outline.heading(level, title);
  };
  for (const line of markdown.split("\n")) take(line);
  flush();
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
