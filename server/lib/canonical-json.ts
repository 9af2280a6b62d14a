import { isObject } from "./json.ts";

/** Serializes with sorted keys, so that equal values have equal text. */
export const canonicalJson = (value: unknown): string => JSON.stringify(value ?? null, (_, each) => ordered(each));

const ordered = (value: unknown): unknown =>
  isObject(value) ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))) : value;
