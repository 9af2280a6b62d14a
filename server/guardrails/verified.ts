import type { Pattern } from "./pattern/pattern.ts";
import { mergeSpans, type Scanner, type Span } from "./span.ts";

/** What of a text that looks right is right; the spans are of that text. */
export type Verify = (candidate: string) => Span[];

/** Searches a whole text: candidates by a pattern, of which code keeps what it can verify. */
export const searchVerified =
  (pattern: Pattern, verify: Verify) =>
  (text: string): Span[] =>
    pattern.search(text).flatMap(([start, end]) => confirmed(verify, text.slice(start, end), start));

/** What of a candidate is right, as spans of the whole text. One candidate may hold several that overlap: they are one. */
const confirmed = (verify: Verify, candidate: string, from: number): Span[] =>
  mergeSpans([verify(candidate)]).map(([start, end]) => [from + start, from + end]);

/** The same of a text that still arrives; a candidate is undecided until it cannot grow any more. */
export class VerifiedScanner implements Scanner {
  readonly spans: Span[] = [];
  safe = 0;
  private readonly candidates: Scanner;
  private held = "";
  private heldFrom = 0;
  private position = 0;

  constructor(
    pattern: Pattern,
    private readonly verify: Verify,
  ) {
    this.candidates = pattern.scan();
  }

  push(text: string): void {
    this.held += text;
    this.position += text.length;
    this.candidates.push(text);
    this.settle(this.candidates.safe - 1);
  }

  end(): void {
    this.candidates.end();
    this.settle(this.position);
  }

  /** Verifies the candidates that end before or at a place. */
  private settle(before: number): void {
    const { spans } = this.candidates;
    let settled = 0;
    for (; settled < spans.length && spans[settled]![1] <= before; settled++) {
      const [start, end] = spans[settled]!;
      const candidate = this.held.slice(start - this.heldFrom, end - this.heldFrom);
      this.spans.push(...confirmed(this.verify, candidate, start));
    }
    spans.splice(0, settled);
    this.safe = Math.min(this.candidates.safe, spans[0]?.[0] ?? this.position);
    this.held = this.held.slice(this.safe - this.heldFrom);
    this.heldFrom = this.safe;
  }
}
