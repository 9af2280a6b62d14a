/** Makes something when it is first asked for, and then keeps it: what few requests need costs no start anything. */
export function lazy<T>(make: () => T): () => T {
  let made: { it: T } | null = null;
  return () => {
    made ??= { it: make() };
    return made.it;
  };
}
