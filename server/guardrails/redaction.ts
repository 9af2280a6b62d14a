import type { Span } from "./span.ts";

/** Spans to take out, and what is left in the place of each. */
export interface Source {
  mark: string;
  spans: Span[];
}

/**
 * Writes a text without the spans of its sources, piece by piece. Spans that overlap or touch are one: its mark is that of
 * the first source that has something where it begins.
 */
export function createRedaction(sources: readonly Source[]) {
  const ends = sources.map(() => -1);
  const matches = sources.map(() => 0);
  let inside = false;

  /** The next piece, which begins at the given place of the text; nothing in it is undecided. Forgets its spans. */
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

  /** One more, unless it goes on with what was counted. */
  function count(i: number, from: number, to: number): void {
    if (from > ends[i]!) matches[i]!++;
    ends[i] = Math.max(ends[i]!, to);
  }

  /** `matches`: how many spans of each source were taken out so far. */
  return { write, matches: matches as readonly number[] };
}

/** The first span of a source that ends behind a place. */
function spanAt(spans: readonly Span[], cursors: number[], i: number, at: number): Span | undefined {
  while (cursors[i]! < spans.length && spans[cursors[i]!]![1] <= at) cursors[i]!++;
  return spans[cursors[i]!];
}

/** A whole text without the spans of its sources. */
export const redact = (text: string, sources: readonly Source[]): string => createRedaction(sources).write(text, 0);
