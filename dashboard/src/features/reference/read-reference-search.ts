import { readText } from "../../lib/page-search.ts";

/** What of the reference lies in the address: the operation that is shown, and the search of the list. */
export interface ReferenceSearch {
  op?: string;
  q?: string;
}

/** Reads an address. */
export function readReferenceSearch(search: Record<string, unknown>): ReferenceSearch {
  const [op, q] = [readText(search.op, 64), readText(search.q, 100)];
  return { ...(op && /^\w+$/.test(op) && { op }), ...(q && { q }) };
}
