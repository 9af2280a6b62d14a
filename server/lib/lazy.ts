/** Creates a value at first use and caches it, so that rarely needed values do not slow the start. */
export function lazy<T>(make: () => T): () => T {
  let cached: { it: T } | null = null;
  return () => {
    cached ??= { it: make() };
    return cached.it;
  };
}
