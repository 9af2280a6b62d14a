import { isId, type Kind } from "../../../core/ids.ts";
import { notFound } from "../../../core/not-found.ts";
import { invalid } from "../../../http/errors.ts";

// Lists and ids as OpenAI's clients have them, and as the API does.

/**
 * An id of this kind; throws as for what is not there. No other text becomes a part of a path, and none that could not be
 * decoded: that is null.
 */
export function idIn(kind: Kind, text: string | null): string {
  if (text === null || !isId(kind, text)) throw notFound();
  return text;
}

/** The API has no longer pages. Clients read on by themselves. */
const limitMax = 100;

const names: Record<string, string> = {
  limit: "limit",
  order: "order",
  after: "starting_after",
  before: "ending_before",
};

/** The query of a list, as the API takes it: its place, and what `more` makes of other parameters; those unknown are ignored. */
export function listQuery(
  url: string,
  more: Record<string, (value: string) => Record<string, string>> = {},
): URLSearchParams {
  const query = new URLSearchParams();
  for (const [name, value] of new URL(url).searchParams) {
    const said = Object.hasOwn(more, name)
      ? more[name]!(value)
      : Object.hasOwn(names, name)
        ? { [names[name]!]: value }
        : {};
    for (const [key, one] of Object.entries(said)) query.set(key, one);
  }
  if (Number(query.get("limit") ?? 0) > limitMax) query.set("limit", String(limitMax));
  return query;
}

/** What a word of theirs is called here; throws where there is no such thing. */
export function wordIn(words: Record<string, string>, param: string, value: string): string {
  const word = Object.hasOwn(words, value) ? words[value] : undefined;
  if (word === undefined) throw invalid(param, `Expected one of ${Object.keys(words).join(", ")}.`);
  return word;
}

interface ApiList<Item> {
  data: Item[];
  has_more: boolean;
}

export function listOf<Item, Shown extends { id: string }>(
  { data, has_more }: ApiList<Item>,
  toItem: (item: Item) => Shown,
) {
  const items = data.map(toItem);
  return {
    object: "list",
    data: items,
    has_more,
    first_id: items[0]?.id ?? null,
    last_id: items.at(-1)?.id ?? null,
  };
}

/** In seconds, as OpenAI's clients read times. */
export const seconds = (time: string): number => Math.floor(Date.parse(time) / 1000);
