import type { Span } from "./span.ts";

/** Spans to remove, and their replacement. */
export interface Source {
  mark: string;
  spans: Span[];
}

/**
 * Writes a text without its sources' spans, piece by piece. Spans that overlap or touch are merged, with the mark of
 * the first source that has a span at their start.
 */
export function createRedaction(sources: readonly Source[]) {
  const ends = sources.map(() => -1);
  const matches = sources.map(() => 0);
  let inside = false;

  /** Writes the next piece, whose spans are all decided, and drops those spans. */
  function write(piece: string, from: number): string {
    const to = from + piece.length;
    const cursors = sources.map(() => 0);
    let [written, at] = ["", from];
    while (at < to) {
      let [next, mark] = [to, null as string | null];
      for (const [i, source] of sources.entries()) {
        const span = spanAt(source.spans, cursors, i, at);
        if (!span) continue;
        next = Math.min(next, span[0] > at ? span[0] : span[1]);
        if (span[0] > at) continue;
        mark ??= source.mark;
        count(i, at, Math.min(span[1], to));
      }
      if (mark === null) written += piece.slice(at - from, next - from);
      else if (!inside) written += mark;
      inside = mark !== null;
      at = next;
    }
    for (const [i, { spans }] of sources.entries()) spans.splice(0, cursors[i]!);
    return written;
  }

  /** Counts a match, unless it continues the previous one. */
  function count(i: number, from: number, to: number): void {
    if (from > ends[i]!) matches[i]!++;
    ends[i] = Math.max(ends[i]!, to);
  }

  /** `matches`: number of spans removed so far, by source. */
  return { write, matches: matches as readonly number[] };
}

/** Returns the first span of a source that ends after a position. */
function spanAt(spans: readonly Span[], cursors: number[], i: number, at: number): Span | undefined {
  while (cursors[i]! < spans.length && spans[cursors[i]!]![1] <= at) cursors[i]!++;
  return spans[cursors[i]!];
}

/** Removes the sources' spans from a whole text. */
export const redact = (text: string, sources: readonly Source[]): string => createRedaction(sources).write(text, 0);
