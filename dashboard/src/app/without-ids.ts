/** Removes ids from search parameters, because they belong to one workspace. */
export function withoutIds<T extends object>(search: T): Partial<T> {
  return Object.fromEntries(Object.entries(search).filter(([, value]) => !isId(value))) as Partial<T>;
}

const isId = (value: unknown): boolean => typeof value === "string" && /^[a-z]+_[0-9a-z]{26}$/.test(value);
