import { keyScopes } from "../../entities/key/key-api.ts";
import { readChoice, readText } from "../../lib/page-search.ts";
import { type KeysSearch, keyFilters } from "./find-keys.ts";

/** The filters in an address; what is none is left out. */
export function readKeysSearch(search: Record<string, unknown>): KeysSearch {
  const q = readText(search.q);
  const status = readChoice(search.status, keyFilters);
  const scope = readChoice(search.scope, keyScopes);
  return { ...(q && { q }), ...(status && { status }), ...(scope && { scope }) };
}
