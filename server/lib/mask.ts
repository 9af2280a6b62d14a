import { AhoCorasick } from "./aho-corasick.ts";
import { escapeSign, escapesReach, type SecretEncoding, secretEncodings, signsIn } from "./secret-encodings.ts";

/** Replacement of a secret. */
export const hiddenText = "[hidden]";

/** Minimum length of a secret that is masked: shorter ones also occur within ordinary words. */
export const shortest = 8;

interface Sought {
  needles: AhoCorasick;
  /** Idle decoders, by their escape signs: creating them costs more than reading a short text. */
  spellings: Map<string, SecretEncoding[][]>;
}

interface Span {
  from: number;
  to: number;
}

/**
 * Hides secrets in a text that comes in pieces, also if they are escaped or span two pieces. Finds all in one pass, and
 * keeps only the text that is not decided yet. Maps each character's position only near escapes.
 */
export class Mask {
  /** True once a secret was hidden. */
  hasHidden = false;
  private state = 0;
  // Number of characters read.
  private place = 0;
  // Near escapes: decoders that read the text without them, and the position up to which they are needed.
  private spelled: SecretEncoding[] | null = null;
  private until = 0;
  // Sorted and disjoint.
  private readonly spans: Span[] = [];
  private held = "";
  private heldFrom = 0;

  /** `signs`: escape signs that may occur. */
  constructor(
    private readonly sought: Sought,
    private readonly signs: string,
  ) {}

  /** Returns the text that can be shown now. */
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

  /** Returns the rest. A text that was `cut` may end in the beginning of a secret, which is hidden as well. */
  end(cut = false): string {
    // The cut may go through an escape, whose first half is still unread.
    let begun = cut ? this.begun() : this.place;
    for (const each of this.spelled ?? none)
      if (each.open() < this.place)
        each.push({ text: "", begins: new Int32Array([this.place]) }, true, (from, to) => this.add(from, to));
    if (cut) begun = Math.min(begun, this.begun());
    this.sleep();
    if (begun < this.place) this.add(begun, this.place);
    return this.release(this.place);
  }

  /**
   * Returns the start of the longest prefix of a secret that the text ends with, ignoring prefixes of a few letters.
   */
  private begun(): number {
    const atLeast = shortest / 2;
    const depth = this.sought.needles.depths[this.state]!;
    let first = this.place - (depth >= atLeast ? depth : 0);
    for (const each of this.spelled ?? none) first = Math.min(first, each.begun(atLeast));
    return first;
  }

  /** Returns the end of the stretch of text in which escapes can still matter. */
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
    this.spelled = this.sought.spellings.get(this.signs)?.pop() ?? secretEncodings(this.sought.needles, this.signs);
    for (const each of this.spelled) each.begin(this.state, this.place);
    this.until = this.place + 1;
  }

  private sleep(): void {
    if (!this.spelled) return;
    const { spellings } = this.sought;
    const idle = spellings.get(this.signs) ?? [];
    spellings.set(this.signs, idle);
    idle.push(this.spelled);
    this.spelled = null;
  }

  /** Adds a span and merges those that overlap it: one secret may be the beginning of another, or begin within it. */
  private add(from: number, to: number): void {
    const { spans } = this;
    let [low, high] = [0, spans.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (spans[middle]!.to > from) high = middle;
      else low = middle + 1;
    }
    const span = { from, to };
    for (let next = spans[high]; next && next.from < span.to; next = spans[++high]) {
      span.from = Math.min(span.from, next.from);
      span.to = Math.max(span.to, next.to);
    }
    if (high === low + 1) spans[low] = span;
    else spans.splice(low, high - low, span);
  }

  /** Shows the text up to a position before which all is decided. */
  private release(to: number): string {
    let [shown, at, done] = ["", this.heldFrom, 0];
    for (const span of this.spans) {
      if (span.to > to) break;
      done++;
      shown += this.held.slice(at - this.heldFrom, span.from - this.heldFrom) + hiddenText;
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

const none: readonly SecretEncoding[] = [];

/** Returns the next character that may begin an escape, or `to`. */
function signIn(text: string, from: number, to: number): number {
  escapeSign.lastIndex = from;
  const sign = escapeSign.exec(text)?.index ?? to;
  return Math.min(sign, to);
}

const known = new WeakMap<readonly string[], Map<boolean, Sought | null>>();

const anySigns = signsIn("\\%&");

/**
 * Returns a mask for one text, or null if no secret is long enough. The preparation is cached per list of secrets. If
 * `text` is given, escapes that do not occur in it are not decoded.
 */
export function maskFor(
  secrets: readonly string[],
  { text, anyCase = false }: { text?: string; anyCase?: boolean } = {},
): Mask | null {
  const ready = known.get(secrets) ?? new Map<boolean, Sought | null>();
  known.set(secrets, ready);
  const before = ready.get(anyCase);
  const sought = before === undefined ? soughtOf(secrets, anyCase) : before; // Null is a cached result, too.
  if (before === undefined) ready.set(anyCase, sought);
  return sought && new Mask(sought, text === undefined ? anySigns : signsIn(text));
}

function soughtOf(secrets: readonly string[], anyCase: boolean): Sought | null {
  const long = [...new Set(secrets)].filter(({ length }) => length >= shortest);
  return long.length === 0 ? null : { needles: new AhoCorasick(long, anyCase), spellings: new Map() };
}
