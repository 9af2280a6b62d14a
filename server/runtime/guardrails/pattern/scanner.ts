import { addSpan, type Scanner, type Span } from "../span.ts";
import { beside, edgeHolds, op, type Program } from "./program.ts";

/**
 * Finds all matches in a streamed text. All alternatives are followed in parallel; of those at the same instruction
 * only the one that began first is kept, because its span covers the others. The work per character is thus bounded by
 * the pattern's size, and the text is undecided from the oldest open alternative on. Unlike other engines it finds all
 * matches, including those that overlap.
 */
export class PatternScanner implements Scanner {
  readonly spans: Span[] = [];
  safe = 0;
  private position = 0;
  private before: number = beside.nothing;
  /** Open alternatives, oldest first; `starts` has the position where each began. */
  private ways: Int32Array;
  private starts: Float64Array;
  private count = 0;
  private nextWays: Int32Array;
  private nextStarts: Float64Array;
  private nextCount = 0;
  private readonly seen: Int32Array;
  private readonly seenNext: Int32Array;
  private round = 0;
  private matched = -1;

  constructor(private readonly program: Program) {
    const size = program.ops.length;
    this.ways = new Int32Array(size);
    this.nextWays = new Int32Array(size);
    this.starts = new Float64Array(size);
    this.nextStarts = new Float64Array(size);
    this.seen = new Int32Array(size);
    this.seenNext = new Int32Array(size);
  }

  /** Resets the scanner. `before` is the kind of the character in front of `position`. */
  restart(position: number, before: number): void {
    this.spans.length = 0;
    this.count = 0;
    this.position = position;
    this.safe = position;
    this.before = before;
  }

  push(text: string): void {
    this.read(text, 0, false);
  }

  /** Reads from an index; with `untilIdle` only until no match is open. Returns the index where it stopped. */
  read(text: string, from: number, untilIdle: boolean): number {
    const { classes } = this.program;
    let index = from;
    while (index < text.length) {
      const code = text.codePointAt(index)!;
      const width = code > 0xffff ? 2 : 1;
      const cls = classes.of(code);
      if (this.count > 0 || classes.begins[cls]) this.step(cls, width);
      else this.position += width;
      this.before = classes.kinds[cls]!;
      index += width;
      if (untilIdle && this.count === 0) break;
    }
    this.safe = this.count > 0 ? this.starts[0]! : this.position;
    return index;
  }

  /** Kind of the character in front of the next one. */
  get context(): number {
    return this.before;
  }

  end(): void {
    this.round++;
    this.matched = -1;
    for (let i = 0; i < this.count; i++) this.visit(this.ways[i]!, this.starts[i]!, -1, beside.nothing);
    this.note(this.matched, this.position);
    this.count = 0;
    this.safe = this.position;
  }

  private step(cls: number, width: number): void {
    const kind = this.program.classes.kinds[cls]!;
    this.round++;
    this.nextCount = 0;
    this.matched = -1;
    const matchedNext = this.advance(cls, kind);
    this.note(this.matched, this.position);
    this.position += width;
    this.note(matchedNext, this.position);
    [this.ways, this.nextWays] = [this.nextWays, this.ways];
    [this.starts, this.nextStarts] = [this.nextStarts, this.starts];
    this.count = this.nextCount;
  }

  /** Advances all alternatives by one character and starts a new one. Returns the start of the oldest match, or -1. */
  private advance(cls: number, kind: number): number {
    const { first, ops, classes } = this.program;
    const fits = classes.fits[cls]!;
    let matched = -1;
    for (let i = 0; i < this.count; i++) {
      const at = this.ways[i]!;
      const start = this.starts[i]!;
      const isMatch = ops[at] === op.char ? this.consume(at, start, fits) : this.visit(at, start, cls, kind);
      if (isMatch && matched < 0) matched = start;
    }
    for (let i = 0; i < first.length; i++)
      if (this.visit(first[i]!, this.position, cls, kind) && matched < 0) matched = this.position;
    return matched;
  }

  /** True if a match ends behind the character; a match that ends before it sets `matched`. */
  private visit(at: number, start: number, cls: number, kind: number): boolean {
    const { ops, args, follow, classes } = this.program;
    if (ops[at] === op.char) return cls >= 0 && this.consume(at, start, classes.fits[cls]!);
    if (this.seen[at] === this.round) return false;
    this.seen[at] = this.round;
    if (ops[at] === op.match) {
      if (this.matched < 0) this.matched = start;
      return false;
    }
    if (!edgeHolds(args[at]!, this.before, kind)) return false;
    let matched = false;
    for (const each of follow(at)) if (this.visit(each, start, cls, kind)) matched = true;
    return matched;
  }

  private consume(at: number, start: number, fits: Uint8Array): boolean {
    const { seen, seenNext, round, nextWays, nextStarts, program } = this;
    if (seen[at] === round) return false;
    seen[at] = round;
    if (fits[program.args[at]!] === 0) return false;
    const ways = program.follow(at);
    let matched = false;
    for (let i = 0; i < ways.length; i++) {
      const each = ways[i]!;
      if (seenNext[each] === round) continue;
      seenNext[each] = round;
      if (program.ops[each] === op.match) matched = true;
      else {
        nextWays[this.nextCount] = each;
        nextStarts[this.nextCount++] = start;
      }
    }
    return matched;
  }

  private note(start: number, end: number): void {
    if (start >= 0) addSpan(this.spans, start, end);
  }
}
