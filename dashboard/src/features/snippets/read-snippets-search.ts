import { type NamedSearch, readNamedSearch } from "../../lib/page-search.ts";

/** Parses the search parameters of the list. */
export const readSnippetsSearch = (search: Record<string, unknown>): NamedSearch => readNamedSearch(search, "snp");
