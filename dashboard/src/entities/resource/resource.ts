import { queryOptions } from "@tanstack/react-query";
import type { List } from "../../../../server/wire/schema.ts";
import { get, patch, post, query, remove, resourceUrl } from "../../lib/api.ts";
import { asPage, getAll, type WholeList } from "../../lib/get-all.ts";
import { hasWords } from "../../lib/has-words.ts";
import { type NamedSearch, pageQuery } from "../../lib/page-search.ts";
import type { Workspace } from "../../lib/workspace.ts";

export type At = Pick<Workspace, "projectId" | "mode">;

/**
 * What every kind of thing of the API has: addresses, reads and writes. All keys of what is read of one kind begin with its
 * name, so that a change makes all of it out of date at once. `nameOf`: the text in which one of them is sought.
 */
export function resource<
  One,
  Listed extends { id: string } = One & { id: string },
  Order extends object = object,
  Made = One,
>(name: string, nameOf: (item: Listed) => string = ({ id }) => id) {
  const key = (at: At, ...more: unknown[]) => [name, at.projectId, at.mode, ...more];
  const url = (at: At, id = "", rest = "") => resourceUrl(at, `/${name}${id && `/${encodeURIComponent(id)}`}${rest}`);
  return {
    key,
    url,
    /** All that was read of this kind. */
    all: (at: At) => ({ queryKey: key(at) }),
    /** All that was read of one of them. */
    of: (at: At, id: string) => ({ queryKey: key(at, "one", id) }),
    one: (at: At, id: string) =>
      queryOptions({
        queryKey: key(at, "one", id),
        queryFn: ({ signal }) => get<One>(url(at, id), signal),
      }),
    /**
     * A page of the list, newest first, or all that has the words of `q` in its name: the API does not search by it, so all
     * of the list is read. `filters` are parameters of the API.
     */
    page: (at: At, { q, ...place }: NamedSearch, filters: Record<string, string | undefined> = {}) => {
      const values = { limit: 50, ...filters, ...pageQuery(place) };
      return queryOptions({
        queryKey: q ? key(at, "whole", filters) : key(at, "page", values),
        queryFn: async ({ signal }): Promise<WholeList<Listed>> =>
          q
            ? asPage(await getAll<Listed>(at, `/${name}`, filters, signal))
            : await get<List<Listed>>(url(at) + query(values), signal),
        select: (list) => (q ? { ...list, data: list.data.filter((item) => hasWords(nameOf(item), q)) } : list),
      });
    },
    /** All of them, to pick from and for their names. */
    every: (at: At) =>
      queryOptions({
        queryKey: key(at, "every"),
        queryFn: ({ signal }) => getAll<Listed>(at, `/${name}`, {}, signal),
        staleTime: 15_000,
      }),
    create: (at: At, order: Order): Promise<Made> => post(url(at), order),
    change: (at: At, id: string, change: Partial<Order>): Promise<One> => patch(url(at, id), change),
    remove: (at: At, id: string): Promise<unknown> => remove(url(at, id)),
  };
}
