import { given, readForm, readText } from "../../lib/page-search.ts";

/** What of the reference lies in the address: the operation that is shown, and the search of the list. */
export interface ReferenceSearch {
  op?: string;
  q?: string;
}

/** Reads an address. */
export const readReferenceSearch = (search: Record<string, unknown>): ReferenceSearch =>
  given({ op: readForm(search.op, /^[\w.]+$/), q: readText(search.q, 100) });
