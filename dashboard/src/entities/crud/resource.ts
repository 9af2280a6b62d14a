import { queryOptions } from "@tanstack/react-query";
import type { List } from "../../../../server/domain/api-types/schema.ts";
import { get, patch, post, query, remove, resourceUrl } from "../../lib/api.ts";
import { asPage, getAll, type WholeList } from "../../lib/get-all.ts";
import { matchesQuery } from "../../lib/matches-query.ts";
import { type NamedSearch, pageQuery } from "../../lib/page-search.ts";
import type { Workspace } from "../../lib/workspace.ts";

export type WorkspaceKey = Pick<Workspace, "projectId" | "mode">;

/**
 * Queries and mutations that all resource types share. All query keys of a type begin with its name, so that one
 * invalidation covers them. `nameOf` returns the text that the search matches.
 */
export function resource<
  One,
  Listed extends { id: string } = One & { id: string },
  Order extends object = object,
  Made = One,
>(name: string, nameOf: (item: Listed) => string = ({ id }) => id) {
  const key = (at: WorkspaceKey, ...more: unknown[]) => [name, at.projectId, at.mode, ...more];
  const url = (at: WorkspaceKey, id = "", rest = "") =>
    resourceUrl(at, `/${name}${id && `/${encodeURIComponent(id)}`}${rest}`);
  return {
    key,
    url,
    /** Key prefix of all queries of this type. */
    all: (at: WorkspaceKey) => ({ queryKey: key(at) }),
    /** Key prefix of all queries of one object. */
    of: (at: WorkspaceKey, id: string) => ({ queryKey: key(at, "one", id) }),
    one: (at: WorkspaceKey, id: string) =>
      queryOptions({
        queryKey: key(at, "one", id),
        queryFn: ({ signal }) => get<One>(url(at, id), signal),
      }),
    /**
     * One page of the list, newest first. With `q`, all objects whose names contain its words: the API has no search by
     * name, so the whole list is fetched. `filters` are query parameters of the API.
     */
    page: (at: WorkspaceKey, { q, ...place }: NamedSearch, filters: Record<string, string | undefined> = {}) => {
      const values = { limit: 50, ...filters, ...pageQuery(place) };
      return queryOptions({
        queryKey: q ? key(at, "whole", filters) : key(at, "page", values),
        queryFn: async ({ signal }): Promise<WholeList<Listed>> =>
          q
            ? asPage(await getAll<Listed>(at, `/${name}`, filters, signal))
            : await get<List<Listed>>(url(at) + query(values), signal),
        select: (list) => (q ? { ...list, data: list.data.filter((item) => matchesQuery(nameOf(item), q)) } : list),
      });
    },
    /** All objects, for pickers and to resolve names. */
    every: (at: WorkspaceKey) =>
      queryOptions({
        queryKey: key(at, "every"),
        queryFn: ({ signal }) => getAll<Listed>(at, `/${name}`, {}, signal),
        staleTime: 15_000,
      }),
    create: (at: WorkspaceKey, order: Order): Promise<Made> => post(url(at), order),
    change: (at: WorkspaceKey, id: string, change: Partial<Order>): Promise<One> => patch(url(at, id), change),
    remove: (at: WorkspaceKey, id: string): Promise<unknown> => remove(url(at, id)),
  };
}
