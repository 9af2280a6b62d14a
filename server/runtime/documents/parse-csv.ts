import { decodeText } from "./decode.ts";
import { markdownTable } from "./markdown.ts";
import type { Outline } from "./outline.ts";

/** Parses a table of text. The separator is the one that occurs most often in the first line. */
export function parseCsv(bytes: Uint8Array, outline: Outline): void {
  const text = decodeText(bytes);
  const rows = rowsOf(text, separatorOf(text.slice(0, 10_000).split("\n", 1)[0] ?? ""));
  if (rows.length > 0) outline.block(markdownTable(rows));
}

function separatorOf(line: string): string {
  const counted = [",", ";", "\t", "|"].map((mark) => ({ mark, count: line.split(mark).length }));
  return counted.reduce((best, one) => (one.count > best.count ? one : best)).mark;
}

function rowsOf(text: string, separator: string): string[][] {
  const rows: string[][] = [];
  let row: string[] = [];
  const endRow = () => {
    if (row.some((cell) => cell.trim() !== "")) rows.push(row);
    row = [];
  };
  for (let at = 0; at < text.length; ) {
    const { value, end } = text[at] === '"' ? quoted(text, at) : bare(text, at, separator);
    row.push(value);
    at = end + 1;
    if (text[end] === "\n" || end >= text.length) endRow();
    // Text after a closing quote still belongs to the cell.
    else if (text[end] !== separator) {
      const rest = bare(text, end, separator);
      row.push((row.pop() ?? "") + rest.value);
      at = rest.end + 1;
      if (text[rest.end] !== separator) endRow();
    }
  }
  endRow();
  return rows;
}

function bare(text: string, start: number, separator: string): { value: string; end: number } {
  let end = start;
  while (end < text.length && text[end] !== separator && text[end] !== "\n") end++;
  return { value: text.slice(start, end), end };
}

function quoted(text: string, start: number): { value: string; end: number } {
  let end = start + 1;
  for (;;) {
    const quote = text.indexOf('"', end);
    if (quote < 0) return { value: text.slice(start + 1), end: text.length };
    if (text[quote + 1] !== '"') return { value: text.slice(start + 1, quote).replaceAll('""', '"'), end: quote + 1 };
    end = quote + 2;
  }
}
