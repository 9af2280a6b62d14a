/** A part of a text: UTF-16 code units from `start` to before `end`. */
export type Span = [start: number, end: number];

/** Looks for something in a text that arrives in pieces, which never part a pair of surrogates. */
export interface Scanner {
  /** What was found: in order, apart from one another; what is at or behind `safe` may still grow. */
  readonly spans: Span[];
  /** Before this position nothing will be found that is not known. */
  readonly safe: number;
  push(text: string): void;
  /** There is no more: all is decided. */
  end(): void;
}

/** Adds a span that ends behind all others; those that it overlaps or touches become one with it. */
export function addSpan(spans: Span[], start: number, end: number): void {
  let from = start;
  let to = end;
  for (let last = spans.at(-1); last && last[1] >= from; last = spans.at(-1)) {
    from = Math.min(from, last[0]);
    to = Math.max(to, last[1]);
    spans.pop();
  }
  spans.push([from, to]);
}

/** Spans of several lists as one list, in order; those that overlap or touch become one. */
export function mergeSpans(lists: readonly (readonly Span[])[]): Span[] {
  const merged: Span[] = [];
  for (const [start, end] of lists.flat().sort((a, b) => a[1] - b[1] || a[0] - b[0])) addSpan(merged, start, end);
  return merged;
}
