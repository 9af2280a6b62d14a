import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import type { SearchType } from "../../../../server/wire/names.ts";
import type { List } from "../../../../server/wire/schema.ts";
import type { SearchResult } from "../../../../server/wire/search.ts";
import { get, query, resourceUrl } from "../../lib/api.ts";
import type { At } from "../resource/resource.ts";

/** What there is of these types in a project and mode by its words, the newest first. */
export const searchQuery = (at: At, q: string, types: readonly SearchType[], limit: number) =>
  queryOptions({
    queryKey: ["search", at.projectId, at.mode, types, q],
    queryFn: ({ signal }) =>
      get<List<SearchResult>>(resourceUrl(at, `/search${query({ q, types: types.join(), limit })}`), signal),
    placeholderData: keepPreviousData,
    staleTime: 4000,
    retry: false,
  });
