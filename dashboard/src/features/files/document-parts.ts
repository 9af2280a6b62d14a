import type { FileChunk, File as StoredFile } from "../../../../server/domain/api-types/file.ts";

/** A chunk; `fresh` is its text without the part that repeats the previous chunk. */
export interface Part {
  chunk: FileChunk;
  newText: string;
}

/** The parts of one page; `page` is null in a document without pages. */
export interface PageParts {
  page: number | null;
  parts: Part[];
}

/** The server draws these first pages of a PDF. */
const drawnPages = 20;

/** True if the page can be shown as a person sees it. */
export const hasPicture = ({ mime_type }: Pick<StoredFile, "mime_type">, page: number): boolean =>
  mime_type === "application/pdf" && page <= drawnPages;

/** Returns the text of a document by page, without the overlap of its chunks. */
export function pagesOf(chunks: readonly FileChunk[]): PageParts[] {
  const pages: PageParts[] = [];
  chunks.forEach((chunk, at) => {
    const part = {
      chunk,
      newText: chunk.text.slice(overlapLength(chunks[at - 1]?.text ?? "", chunk.text)).trimStart(),
    };
    const last = pages.at(-1);
    if (last?.page === chunk.page) last.parts.push(part);
    else pages.push({ page: chunk.page, parts: [part] });
  });
  return pages;
}

const probe_chars = 16;

/** Returns the number of characters by which a chunk overlaps the previous one, which is at most half of the chunk. */
function overlapLength(before: string, text: string): number {
  const probe = text.slice(0, probe_chars);
  if (probe === "") return 0;
  const from = Math.max(0, before.length - Math.floor(text.length / 2));
  for (let at = before.indexOf(probe, from); at >= 0; at = before.indexOf(probe, at + 1))
    if (text.startsWith(before.slice(at))) return before.length - at;
  return 0;
}
