import { keyScopes } from "../../entities/key/key-api.ts";
import { omitUndefined, readChoice, readText } from "../../lib/page-search.ts";
import { type KeysSearch, keyFilters } from "./find-keys.ts";

/** Reads the query parameters of the list. Invalid filters are dropped. */
export const readKeysSearch = (search: Record<string, unknown>): KeysSearch =>
  omitUndefined({
    q: readText(search.q),
    status: readChoice(search.status, keyFilters),
    scope: readChoice(search.scope, keyScopes),
  });
