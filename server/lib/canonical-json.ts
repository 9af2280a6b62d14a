import { isObject } from "./json.ts";

/** JSON in which the keys of every object have one order: what is equal has the same text. */
export const canonicalJson = (value: unknown): string => JSON.stringify(value ?? null, (_, each) => ordered(each));

const ordered = (value: unknown): unknown =>
  isObject(value) ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))) : value;
