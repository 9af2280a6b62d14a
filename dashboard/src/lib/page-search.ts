import { isId, type Kind } from "../../../server/core/ids.ts";

/** Where in a list its page lies, as in the address. */
export interface PageSearch {
  /** The thing after which the page begins. */
  after?: string;
  /** The thing before which the page ends. */
  before?: string;
}

/** Where in a list one is: on a page of it, or at what has these words in its name. */
export interface NamedSearch extends PageSearch {
  q?: string;
}

/** What is there of all that an address may hold: what is none of it is left out. */
export const given = <T extends object>(read: T): Partial<T> =>
  Object.fromEntries(Object.entries(read).filter(([, value]) => value !== undefined)) as Partial<T>;

/** Of an address: its place in a list of things whose ids begin with `prefix`. What is none is left out. */
export function readPageSearch(search: Record<string, unknown>, prefix: string): PageSearch {
  const id = (value: unknown) =>
    typeof value === "string" && value.startsWith(`${prefix}_`) && /^\w{1,64}$/.test(value) ? value : undefined;
  const after = id(search.after);
  return given({ after, before: after ? undefined : id(search.before) });
}

/** Of an address: what is sought in a list, which is then one page, or its place in the list. */
export function readNamedSearch(search: Record<string, unknown>, prefix: string): NamedSearch {
  const q = readText(search.q);
  return q ? { q } : readPageSearch(search, prefix);
}

/** The id of a thing of this kind, or nothing. */
export const readId = (value: unknown, kind: Kind): string | undefined =>
  typeof value === "string" && isId(kind, value) ? value : undefined;

/** One of the words that are known, or nothing. */
export function readChoice<T extends string>(value: unknown, known: readonly T[]): T | undefined {
  return known.find((each) => each === value);
}

/** Text of an address, to a length; nothing where there is none. */
export function readText(value: unknown, max = 200): string | undefined {
  if (typeof value === "number") return String(value);
  return typeof value === "string" && value !== "" ? value.slice(0, max) : undefined;
}

/** Text of this form, or nothing. */
export function readForm(value: unknown, form: RegExp): string | undefined {
  const text = readText(value, 64);
  return text !== undefined && form.test(text) ? text : undefined;
}

/** For a list of the API. */
export const pageQuery = ({ after, before }: PageSearch) => ({ starting_after: after, ending_before: before });
