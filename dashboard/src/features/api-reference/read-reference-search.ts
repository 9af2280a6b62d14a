import { omitUndefined, readForm, readText } from "../../lib/page-search.ts";

/** The query parameters of the reference: the id of the selected operation, and the search text of the list. */
export interface ReferenceSearch {
  op?: string;
  q?: string;
}

/** Reads the query parameters. */
export const readReferenceSearch = (search: Record<string, unknown>): ReferenceSearch =>
  omitUndefined({ op: readForm(search.op, /^[\w.]+$/), q: readText(search.q, 100) });
