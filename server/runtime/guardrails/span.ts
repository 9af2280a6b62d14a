/** Part of a text: UTF-16 code units from `start` to before `end`. */
export type Span = [start: number, end: number];

/** Scans a streamed text, whose pieces never split a surrogate pair. */
export interface Scanner {
  /** Spans found so far, in order and without overlaps; those at or behind `safe` may still grow. */
  readonly spans: Span[];
  /** No further spans will begin before this position. */
  readonly safe: number;
  push(text: string): void;
  /** Ends the text: everything is decided. */
  end(): void;
}

/** Adds a span that ends behind all others and merges those that it overlaps or touches. */
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

/** Merges lists of spans, in order; those that overlap or touch become one. */
export function mergeSpans(lists: readonly (readonly Span[])[]): Span[] {
  const merged: Span[] = [];
  for (const [start, end] of lists.flat().sort((a, b) => a[1] - b[1] || a[0] - b[0])) addSpan(merged, start, end);
  return merged;
}
