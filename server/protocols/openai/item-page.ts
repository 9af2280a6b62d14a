import { noSuch, orderExpected } from "../../domain/error-messages.ts";
import { invalid } from "../../http/errors.ts";
import { firstItem, lastItem } from "../../lib/collections.ts";

/** Query of OpenAI's lists of items. */
interface ItemQuery {
  limit: number;
  order: "asc" | "desc";
  /** Id of the item before the page. */
  after: string | null;
}

export function readItemQuery(url: string): ItemQuery {
  const query = new URL(url).searchParams;
  const [limit, order, after] = [query.get("limit") ?? "20", query.get("order") ?? "desc", query.get("after")];
  if (!/^\d{1,3}$/.test(limit) || Number(limit) < 1 || Number(limit) > 100)
    throw invalid("limit", "Must be a number from 1 to 100.");
  if (order !== "asc" && order !== "desc") throw invalid("order", orderExpected);
  return { limit: Number(limit), order, after };
}

/** Returns a page of items that are all in memory, oldest first. */
export function itemPage(items: readonly object[], url: string): object {
  const { limit, order, after } = readItemQuery(url);
  const all = order === "asc" ? items : items.toReversed();
  const place = after === null ? -1 : all.findIndex((item) => idOf(item) === after);
  if (after !== null && place < 0) throw invalid("after", noSuch("item here"));
  const data = all.slice(place + 1, place + 1 + limit);
  return listOfItems(data, place + 1 + limit < all.length);
}

export const listOfItems = (data: readonly object[], has_more: boolean) => ({
  object: "list",
  data,
  first_id: data.length > 0 ? idOf(firstItem(data)) : null,
  last_id: data.length > 0 ? idOf(lastItem(data)) : null,
  has_more,
});

const idOf = (item: object): string => ("id" in item ? String(item.id) : "");
