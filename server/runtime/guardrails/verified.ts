import type { Pattern } from "./pattern/pattern.ts";
import { addSpan, mergeSpans, type Scanner, type Span } from "./span.ts";

/** Returns the valid spans of a candidate from a position on. */
export type Verify = (candidate: string, from: number) => Span[];

/** Same for a candidate that is still growing: the spans so far, and the position up to which they are decided. */
export type VerifyPart = (begun: string, from: number) => { spans: Span[]; decided: number };

// Longer candidates are verified while they grow, because verifying them at once would block the thread.
const part = 1024;
// Characters before a position that decide about what may begin there.
const context = 64;

/** Searches a whole text: a pattern finds candidates, code verifies them. */
export const searchVerified =
  (pattern: Pattern, verify: Verify) =>
  (text: string): Span[] =>
    pattern
      .search(text)
      .flatMap(([start, end]) => mergeSpans([verify(text.slice(start, end), 0)]).map((span) => moved(span, start)));

const moved = ([start, end]: Span, by: number): Span => [start + by, end + by];

/** Searches a streamed text; a candidate is undecided until it cannot grow any more, or is long. */
export class VerifiedScanner implements Scanner {
  readonly spans: Span[] = [];
  safe = 0;
  private readonly candidates: Scanner;
  private held = "";
  private heldFrom = 0;
  private position = 0;
  /** Position up to which a long candidate is verified, and its end at that time. */
  private verified = 0;
  private looked = 0;

  constructor(
    pattern: Pattern,
    private readonly verify: Verify,
    private readonly verifyPart?: VerifyPart,
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

  /** Verifies the candidates that end at or before a position, and the known part of a long one. */
  private settle(before: number): void {
    const { spans } = this.candidates;
    let settled = 0;
    for (const span of spans) {
      if (span[1] > before) break;
      settled++;
      const { text, from, at } = this.unverified(span);
      this.add(this.verify(text, at), from - at);
    }
    spans.splice(0, settled);
    if (this.verifyPart && spans[0]) this.look(spans[0], this.verifyPart);
    const open = Math.min(this.candidates.safe, spans[0]?.[0] ?? this.position);
    this.safe = Math.max(open, this.verified);
    const keep = Math.max(open, this.verified - context);
    this.held = this.held.slice(keep - this.heldFrom);
    this.heldFrom = keep;
  }

  private look(open: Span, verifyPart: VerifyPart): void {
    const [start, end] = open;
    if (end - Math.max(start, this.looked) < part) return;
    const { text, from, at } = this.unverified(open);
    const { spans, decided } = verifyPart(text, at);
    this.add(spans, from - at);
    this.verified = from - at + decided;
    this.looked = end;
  }

  /** Returns the unverified part of a candidate: it begins at `from`, which is index `at` of the text. */
  private unverified([start, end]: Span): { text: string; from: number; at: number } {
    const from = Math.max(start, this.verified);
    const begin = Math.max(start, from - context);
    return { text: this.held.slice(begin - this.heldFrom, end - this.heldFrom), from, at: from - begin };
  }

  private add(spans: readonly Span[], by: number): void {
    for (const span of mergeSpans([spans])) addSpan(this.spans, ...moved(span, by));
  }
}
