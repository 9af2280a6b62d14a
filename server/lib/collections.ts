import { requireValue } from "./require-value.ts";

/** Throws for an empty list. */
export const firstItem = <T>(list: readonly T[]): NonNullable<T> => requireValue(list[0], "The first item of a list");

/** Throws for an empty list. */
export const lastItem = <T>(list: readonly T[]): NonNullable<T> => requireValue(list.at(-1), "The last item of a list");

/** Throws if the map has no such key. */
export const entryOf = <Key, Value>(map: Pick<ReadonlyMap<Key, Value>, "get">, key: Key): NonNullable<Value> =>
  requireValue(map.get(key), "The entry of a map");

/** Returns the record's own value, because every object also has "constructor" and the like. */
export const ownValue = <T>(record: Readonly<Record<string, T>>, name: string): T | undefined =>
  Object.hasOwn(record, name) ? record[name] : undefined;

/** Deletes the entry that was added first. */
export function deleteOldest<Key>(entries: Pick<Map<Key, unknown>, "keys" | "delete">): void {
  for (const key of entries.keys()) {
    entries.delete(key);
    return;
  }
}
