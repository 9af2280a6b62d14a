import { keyScopes } from "../../entities/key/key-api.ts";
import { given, readChoice, readText } from "../../lib/page-search.ts";
import { type KeysSearch, keyFilters } from "./find-keys.ts";

/** The filters in an address; what is none is left out. */
export const readKeysSearch = (search: Record<string, unknown>): KeysSearch =>
  given({
    q: readText(search.q),
    status: readChoice(search.status, keyFilters),
    scope: readChoice(search.scope, keyScopes),
  });
