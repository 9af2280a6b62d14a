/** A server that refuses every token must not make its issuer issue one for each call. */
const new_ms = 5000;

/** True for a token that was just issued: if it is refused, another one would be refused too. Times in ms. */
export function isNew(issued_at: number, at: number): boolean {
  const age = at - issued_at;
  // A clock that was set back makes it younger than nothing.
  return age >= 0 && age < new_ms;
}

/** True until `until`, which was set at most `length_ms` before. A clock that was set back ends it. Times in ms. */
export const isPending = (until: number, length_ms: number, at: number): boolean =>
  at < until && until - at <= length_ms;
