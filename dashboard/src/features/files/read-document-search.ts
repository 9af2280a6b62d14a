import { readForm } from "../../lib/page-search.ts";

/** What the address of a document holds. */
export interface DocumentSearch {
  /** The chunk that is shown in its place, by its index. */
  chunk?: number;
}

/** Of a document's address. */
export function readDocumentSearch(search: Record<string, unknown>): DocumentSearch {
  const chunk = readForm(String(search.chunk ?? ""), /^\d{1,7}$/);
  return chunk ? { chunk: Number(chunk) } : {};
}
