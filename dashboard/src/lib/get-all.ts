import type { List } from "../../../server/domain/api-types/schema.ts";
import { get, query, resourceUrl } from "./api.ts";
import type { Workspace } from "./workspace.ts";

const pageSize = 100;
const most = 1000;

/** A complete list, or its newest thousand items. */
export interface WholeList<T> extends List<T> {
  is_cut?: boolean;
}

/** Wraps an unpaginated list as one page. */
export const asPage = <T>(data: T[]): WholeList<T> => ({
  object: "list",
  data,
  has_more: false,
  first_id: null,
  last_id: null,
  request_id: "",
  is_cut: data.length >= most,
});

/** Fetches a whole list, at most its newest thousand items, for searching and picking in the browser. */
export async function getAll<T extends { id: string }>(
  at: Pick<Workspace, "projectId" | "mode">,
  path: string,
  values: Record<string, string | undefined> = {},
  signal?: AbortSignal,
): Promise<T[]> {
  const all: T[] = [];
  let starting_after: string | undefined;
  while (all.length < most) {
    const url = resourceUrl(at, `${path}${query({ ...values, limit: pageSize, starting_after })}`);
    const page = await get<List<T>>(url, signal);
    all.push(...page.data);
    if (!page.has_more || !page.last_id) break;
    starting_after = page.last_id;
  }
  return all;
}
