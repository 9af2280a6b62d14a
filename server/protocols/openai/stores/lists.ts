import { isId, type Kind } from "../../../domain/ids.ts";
import { notFound } from "../../../domain/not-found.ts";
import { invalid } from "../../../http/errors.ts";
import { ownValue } from "../../../lib/collections.ts";

// Conversion of lists and ids between OpenAI's format and the API's.

/**
 * Returns the id if it is of this kind, else throws 404. Keeps any other text, or one that could not be decoded (null),
 * out of API paths.
 */
export function idIn(kind: Kind, text: string | null): string {
  if (text === null || !isId(kind, text)) throw notFound();
  return text;
}

/** The API's largest page. Clients request further pages by themselves. */
const limitMax = 100;

const names: Record<string, string> = {
  limit: "limit",
  order: "order",
  after: "starting_after",
  before: "ending_before",
};

/** Converts the query of a list. `more` converts further parameters; unknown ones are ignored. */
export function listQuery(
  url: string,
  more: Record<string, (value: string) => Record<string, string>> = {},
): URLSearchParams {
  const query = new URLSearchParams();
  for (const [name, value] of new URL(url).searchParams) {
    const [translate, renamed] = [ownValue(more, name), ownValue(names, name)];
    const translated = translate?.(value) ?? (renamed ? { [renamed]: value } : {});
    for (const [key, one] of Object.entries(translated)) query.set(key, one);
  }
  if (Number(query.get("limit") ?? 0) > limitMax) query.set("limit", String(limitMax));
  return query;
}

/** Translates a word of OpenAI's. Throws if it is unknown. */
export function wordIn(words: Record<string, string>, param: string, value: string): string {
  const word = Object.hasOwn(words, value) ? words[value] : undefined;
  if (word === undefined) throw invalid(param, `Must be one of ${Object.keys(words).join(", ")}.`);
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

/** Converts a time to seconds, as OpenAI's clients expect. */
export const seconds = (time: string): number => Math.floor(Date.parse(time) / 1000);
