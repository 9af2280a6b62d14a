import { Needles } from "./needles.ts";
import { escapeSign, escapesReach, type Spelling, signsIn, spellings } from "./spellings.ts";

/** What stands in the place of a secret. */
export const hidden = "[hidden]";

/** The length of a secret that is looked for: anything shorter is also part of ordinary words. */
export const shortest = 8;

interface Sought {
  needles: Needles;
  /** Those that nobody reads with, by their signs: to make them costs more than to read a short text. */
  spellings: Map<string, Spelling[][]>;
}

interface Span {
  from: number;
  to: number;
}

/**
 * Hides secrets in a text that comes in pieces, also where they stand escaped or lie in two pieces. All are looked for in
 * one pass; of the text it keeps what is not decided yet, and a place of each character only near escapes.
 */
export class Mask {
  /** Whether anything was hidden so far. */
  hasHidden = false;
  private state = 0;
  // How much was read.
  private place = 0;
  // While there are escapes: who reads what they stand for, and up to where at least.
  private spelled: Spelling[] | null = null;
  private until = 0;
  // In order, apart from one another.
  private readonly spans: Span[] = [];
  private held = "";
  private heldFrom = 0;

  /** `signs`: those that may come. */
  constructor(
    private readonly sought: Sought,
    private readonly signs: string,
  ) {}

  /** What may be shown now that this has come, too. */
  push(text: string): string {
    this.held += text;
    for (let at = 0; at < text.length; ) {
      const end = this.spelled ? this.stretch(text, at) : signIn(text, at, text.length);
      this.read(text.slice(at, end));
      at = end;
      if (this.spelled && this.place >= this.until) this.sleep();
      else if (!this.spelled && at < text.length) this.wake();
    }
    const { needles } = this.sought;
    let decided = this.place - needles.depths[this.state]!;
    for (const each of this.spelled ?? none) decided = Math.min(decided, each.begun(1), each.open());
    return this.release(decided);
  }

  /** The rest. Of a text that was `cut` off somewhere the end may be the beginning of a secret. */
  end(cut = false): string {
    // The cut may go through an escape, of which nobody has read the first half yet.
    let begun = cut ? this.begun() : this.place;
    for (const each of this.spelled ?? none)
      if (each.open() < this.place)
        each.push({ text: "", begins: new Int32Array([this.place]) }, true, (from, to) => this.add(from, to));
    if (cut) begun = Math.min(begun, this.begun());
    this.sleep();
    if (begun < this.place) this.add(begun, this.place);
    return this.release(this.place);
  }

  /** Where the longest beginning of a secret begins that the text ends with, unless it is a few letters. */
  private begun(): number {
    const atLeast = shortest / 2;
    const depth = this.sought.needles.depths[this.state]!;
    let first = this.place - (depth >= atLeast ? depth : 0);
    for (const each of this.spelled ?? none) first = Math.min(first, each.begun(atLeast));
    return first;
  }

  /** How far the text goes on with escapes, and until they cannot matter any more. */
  private stretch(text: string, from: number): number {
    const end = () => Math.min(text.length, from + this.until - this.place);
    for (let at = from; ; ) {
      const sign = signIn(text, at, end());
      if (sign === end()) return sign;
      at = sign + 1;
      this.until = this.place + at - from + this.sought.needles.longest + escapesReach;
    }
  }

  private read(text: string): void {
    const { needles } = this.sought;
    const begin = this.place;
    let { state } = this;
    for (let index = 0; index < text.length; index++) {
      const code = text.charCodeAt(index);
      if (state === 0 && code < 256 && needles.begins[code] === 0) continue;
      state = needles.next(state, code);
      const length = needles.ends[state]!;
      if (length > 0) this.add(begin + index + 1 - length, begin + index + 1);
    }
    this.state = state;
    this.place += text.length;
    if (!this.spelled) return;
    const begins = new Int32Array(text.length + 1);
    for (let index = 0; index <= text.length; index++) begins[index] = begin + index;
    for (const each of this.spelled) each.push({ text, begins }, false, (from, to) => this.add(from, to));
  }

  private wake(): void {
    this.spelled = this.sought.spellings.get(this.signs)?.pop() ?? spellings(this.sought.needles, this.signs);
    for (const each of this.spelled) each.begin(this.state, this.place);
    this.until = this.place + 1;
  }

  private sleep(): void {
    if (!this.spelled) return;
    const { spellings } = this.sought;
    spellings.set(this.signs, spellings.get(this.signs) ?? []);
    spellings.get(this.signs)!.push(this.spelled);
    this.spelled = null;
  }

  /** What overlaps is one: one secret may be the beginning of another, or begin in it. */
  private add(from: number, to: number): void {
    const { spans } = this;
    let [low, high] = [0, spans.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (spans[middle]!.to > from) high = middle;
      else low = middle + 1;
    }
    const span = { from, to };
    while (high < spans.length && spans[high]!.from < span.to) {
      span.from = Math.min(span.from, spans[high]!.from);
      span.to = Math.max(span.to, spans[high]!.to);
      high++;
    }
    if (high === low + 1) spans[low] = span;
    else spans.splice(low, high - low, span);
  }

  /** Shows the text up to a place before which all is decided. */
  private release(to: number): string {
    let [shown, at, done] = ["", this.heldFrom, 0];
    for (; done < this.spans.length && this.spans[done]!.to <= to; done++) {
      const span = this.spans[done]!;
      shown += this.held.slice(at - this.heldFrom, span.from - this.heldFrom) + hidden;
      at = span.to;
    }
    if (done > 0) this.hasHidden = true;
    this.spans.splice(0, done);
    const end = Math.min(to, this.spans[0]?.from ?? to);
    shown += this.held.slice(at - this.heldFrom, end - this.heldFrom);
    this.held = this.held.slice(end - this.heldFrom);
    this.heldFrom = end;
    return shown;
  }
}

const none: readonly Spelling[] = [];

/** The next character that may begin an escape, or where the search ends. */
function signIn(text: string, from: number, to: number): number {
  escapeSign.lastIndex = from;
  const sign = escapeSign.exec(text)?.index ?? to;
  return Math.min(sign, to);
}

const known = new WeakMap<readonly string[], Map<boolean, Sought | null>>();

const anySigns = signsIn("\\%&");

/**
 * A mask for one text; null where none of the secrets is long enough. Of the same list it is made ready once. Of a `text`
 * that is known it looks for no escapes that are not in it.
 */
export function maskFor(
  secrets: readonly string[],
  { text, anyCase = false }: { text?: string; anyCase?: boolean } = {},
): Mask | null {
  const ready = known.get(secrets) ?? new Map<boolean, Sought | null>();
  known.set(secrets, ready);
  const before = ready.get(anyCase);
  const sought = before === undefined ? soughtOf(secrets, anyCase) : before; // Null is an answer too.
  if (before === undefined) ready.set(anyCase, sought);
  return sought && new Mask(sought, text === undefined ? anySigns : signsIn(text));
}

function soughtOf(secrets: readonly string[], anyCase: boolean): Sought | null {
  const long = [...new Set(secrets)].filter(({ length }) => length >= shortest);
  return long.length === 0 ? null : { needles: new Needles(long, anyCase), spellings: new Map() };
}
