/** From a time to a later one, in milliseconds. */
export interface Span {
  from: number;
  to: number;
}

/** The same times without overlaps, in order. */
export function union(spans: readonly Span[]): Span[] {
  const joined: Span[] = [];
  for (const span of spans.filter(({ from, to }) => to > from).sort((a, b) => a.from - b.from)) {
    const last = joined.at(-1);
    if (last && span.from <= last.to) last.to = Math.max(last.to, span.to);
    else joined.push({ ...span });
  }
  return joined;
}

/** What of `within` none of the spans covers. */
export function gaps(within: Span, spans: readonly Span[]): Span[] {
  const free: Span[] = [];
  let from = within.from;
  for (const span of union(spans)) {
    if (span.from > from) free.push({ from, to: Math.min(span.from, within.to) });
    from = Math.max(from, span.to);
  }
  if (from < within.to) free.push({ from, to: within.to });
  return free.filter((gap) => gap.to > gap.from);
}

/** How long all of them take together. */
export const total = (spans: readonly Span[]): number => spans.reduce((sum, { from, to }) => sum + to - from, 0);

/** How long both have in common. */
export function overlap(a: readonly Span[], b: readonly Span[]): number {
  return total(union(a)) + total(union(b)) - total(union([...a, ...b]));
}
