/** Creates a value at first use and caches it, so that rarely needed values do not slow the start. */
export function lazy<T>(make: () => T): () => T {
  let made: { it: T } | null = null;
  return () => {
    made ??= { it: make() };
    return made.it;
  };
}
