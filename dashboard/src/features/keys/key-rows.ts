import type { ApiKey } from "../../../../server/domain/api-types/key.ts";
import { isUsable } from "./key-state.ts";

/** A key in the list. */
export interface KeyRow {
  key: ApiKey;
  /** True if the row is shown below the key that it replaces, while both are usable. */
  isNested: boolean;
  /** True if a successor is shown below this row. */
  hasNested: boolean;
}

/** Returns the rows of the list: newest first, keys of a rotation together, unusable keys last. */
export function keyRows(keys: readonly ApiKey[], now: number): KeyRow[] {
  const usable = keys.filter((key) => isUsable(key, now));
  const ended = keys.filter((key) => !isUsable(key, now));
  const byId = new Map(usable.map((key) => [key.id, key]));
  const groups = usable.filter(({ rotated_from }) => !byId.has(rotated_from ?? "")).map((key) => chain(key, byId));
  const newest = (group: ApiKey[]) => group.at(-1)!.id;
  groups.sort((one, other) => (newest(one) < newest(other) ? 1 : -1));
  return [...groups, ...ended.map((key) => [key])].flatMap((group) =>
    group.map((key, index) => ({ key, isNested: index > 0, hasNested: index < group.length - 1 })),
  );
}

function chain(first: ApiKey, byId: ReadonlyMap<string, ApiKey>): ApiKey[] {
  const keys = [first];
  for (
    let next = byId.get(first.rotated_to ?? "");
    next && !keys.includes(next);
    next = byId.get(next.rotated_to ?? "")
  )
    keys.push(next);
  return keys;
}
