import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import type { SearchType } from "../../../../server/domain/api-types/enums.ts";
import type { List } from "../../../../server/domain/api-types/schema.ts";
import type { SearchResult } from "../../../../server/domain/api-types/search.ts";
import { get, query, resourceUrl } from "../../lib/api.ts";
import type { WorkspaceKey } from "../crud/resource.ts";

/** Full-text matches of these types in a workspace, newest first. */
export const searchQuery = (at: WorkspaceKey, q: string, types: readonly SearchType[], limit: number) =>
  queryOptions({
    queryKey: ["search", at.projectId, at.mode, types, q],
    queryFn: ({ signal }) =>
      get<List<SearchResult>>(resourceUrl(at, `/search${query({ q, types: types.join(), limit })}`), signal),
    placeholderData: keepPreviousData,
    staleTime: 4000,
    retry: false,
  });
