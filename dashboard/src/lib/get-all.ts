import type { List } from "../../../server/wire/schema.ts";
import { get, query, resourceUrl } from "./api.ts";
import type { Workspace } from "./workspace.ts";

const pageSize = 100;
const most = 1000;

/** A list that is here as a whole, or its newest thousand. */
export interface WholeList<T> extends List<T> {
  is_cut?: boolean;
}

/** What was read without pages, as one page. */
export const asPage = <T>(data: T[]): WholeList<T> => ({
  object: "list",
  data,
  has_more: false,
  first_id: null,
  last_id: null,
  request_id: "",
  is_cut: data.length >= most,
});

/** A list of the API, all of it or its newest thousand: for what is searched and picked from here. */
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
