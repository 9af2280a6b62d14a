import { readForm } from "../../lib/page-search.ts";

/** The query parameters of a document's page. */
export interface DocumentSearch {
  /** Index of the selected chunk. */
  chunk?: number;
}

/** Reads the query parameters of a document's page. */
export function readDocumentSearch(search: Record<string, unknown>): DocumentSearch {
  const chunk = readForm(String(search.chunk ?? ""), /^\d{1,7}$/);
  return chunk ? { chunk: Number(chunk) } : {};
}
