import {
  type NamedSearch,
  omitUndefined,
  type PageSearch,
  readChoice,
  readForm,
  readNamedSearch,
  readPageSearch,
  readText,
} from "../../lib/page-search.ts";

/** Search parameters of a client's page: its grants, and the outcome of a consent from which a person comes back. */
export interface OAuthClientSearch extends PageSearch {
  user?: string;
  oauth?: "granted" | "failed";
  oauth_error?: string;
}

/** Parses the search parameters of the list. */
export const readOAuthClientsSearch = (search: Record<string, unknown>): NamedSearch => readNamedSearch(search, "oac");

/** Parses the search parameters of a client's page; invalid values are omitted. */
export function readOAuthClientSearch(search: Record<string, unknown>): OAuthClientSearch {
  return omitUndefined({
    user: readText(search.user, 256),
    oauth: readChoice(search.oauth, ["granted", "failed"] as const),
    oauth_error: readForm(search.oauth_error, /^[a-z_]+$/),
    ...readPageSearch(search, "oag"),
  });
}
