import { queryOptions } from "@tanstack/react-query";
import type { List } from "../../../../server/domain/api-types/schema.ts";
import type { Snippet, SnippetVersion } from "../../../../server/domain/api-types/snippet.ts";
import { get } from "../../lib/api.ts";
import { resource, type WorkspaceKey } from "../crud/resource.ts";

interface SnippetOrder {
  name: string;
  text: string;
  description?: string | null;
  expected_version?: number;
}

export const snippetApi = resource<Snippet, Snippet, SnippetOrder>("snippets", ({ name }) => name);

/** The newest versions of a snippet, newest first. */
export function snippetVersionsQuery(at: WorkspaceKey, id: string) {
  return queryOptions({
    queryKey: [...snippetApi.of(at, id).queryKey, "versions"],
    queryFn: ({ signal }) => get<List<SnippetVersion>>(snippetApi.url(at, id, "/versions?limit=50"), signal),
  });
}
