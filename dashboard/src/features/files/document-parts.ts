import type { FileChunk } from "../../../../server/wire/file.ts";

/** A chunk in its document: what it says that the one before it did not. */
export interface Part {
  chunk: FileChunk;
  fresh: string;
}

/** Parts of a document that stand on one page; null: it has none. */
export interface PageParts {
  page: number | null;
  parts: Part[];
}

/** The text of a document as it was read, page by page: chunks repeat the end of the one before them. */
export function pagesOf(chunks: readonly FileChunk[]): PageParts[] {
  const pages: PageParts[] = [];
  chunks.forEach((chunk, at) => {
    const part = { chunk, fresh: chunk.text.slice(repeated(chunks[at - 1]?.text ?? "", chunk.text)).trimStart() };
    const last = pages.at(-1);
    if (last?.page === chunk.page) last.parts.push(part);
    else pages.push({ page: chunk.page, parts: [part] });
  });
  return pages;
}

const probe_chars = 16;

/** How many characters a text begins with that end the one before it: less than half of it, as chunks are made. */
function repeated(before: string, text: string): number {
  const probe = text.slice(0, probe_chars);
  if (probe === "") return 0;
  const from = Math.max(0, before.length - Math.floor(text.length / 2));
  for (let at = before.indexOf(probe, from); at >= 0; at = before.indexOf(probe, at + 1))
    if (text.startsWith(before.slice(at))) return before.length - at;
  return 0;
}
