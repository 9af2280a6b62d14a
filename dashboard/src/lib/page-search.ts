import { isId, type Kind } from "../../../server/domain/ids.ts";

/** Page of a list in the address. */
export interface PageSearch {
  /** Id of the item before the page. */
  after?: string;
  /** Id of the item after the page. */
  before?: string;
}

/** A page of a list, or a search by name. */
export interface NamedSearch extends PageSearch {
  q?: string;
}

/** Omits undefined values. */
export const omitUndefined = <T extends object>(values: T): Partial<T> =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as Partial<T>;

/** Parses the page of a list whose ids begin with `prefix`; invalid values are omitted. */
export function readPageSearch(search: Record<string, unknown>, prefix: string): PageSearch {
  const id = (value: unknown) =>
    typeof value === "string" && value.startsWith(`${prefix}_`) && /^\w{1,64}$/.test(value) ? value : undefined;
  const after = id(search.after);
  return omitUndefined({ after, before: after ? undefined : id(search.before) });
}

/** Parses a search, which has a single page, or the page of a list. */
export function readNamedSearch(search: Record<string, unknown>, prefix: string): NamedSearch {
  const q = readText(search.q);
  return q ? { q } : readPageSearch(search, prefix);
}

/** Returns the value if it is an id of this kind, otherwise undefined. */
export const readId = (value: unknown, kind: Kind): string | undefined =>
  typeof value === "string" && isId(kind, value) ? value : undefined;

/** Returns the value if it is one of `known`, otherwise undefined. */
export function readChoice<T extends string>(value: unknown, known: readonly T[]): T | undefined {
  return known.find((each) => each === value);
}

/** Returns non-empty text, cut to `max`, otherwise undefined. */
export function readText(value: unknown, max = 200): string | undefined {
  if (typeof value === "number") return String(value);
  return typeof value === "string" && value !== "" ? value.slice(0, max) : undefined;
}

/** Returns text that matches the form, otherwise undefined. */
export function readForm(value: unknown, form: RegExp): string | undefined {
  const text = readText(value, 64);
  return text !== undefined && form.test(text) ? text : undefined;
}

/** Converts a page to API parameters. */
export const pageQuery = ({ after, before }: PageSearch) => ({ starting_after: after, ending_before: before });
