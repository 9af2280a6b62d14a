import type { AhoCorasick } from "./aho-corasick.ts";

/** A piece of a text, with or without its escapes decoded. */
interface Piece {
  text: string;
  /** Start of each character in the original, and the end of the last one. */
  begins: Int32Array;
}

interface Escapes {
  /** First character of each escape. */
  sign: string;
  form: RegExp;
  /** Matches an incomplete escape at the end of a text. */
  begun: RegExp;
  read: (escaped: string) => string;
}

const controls: Record<string, string> = { b: "\b", f: "\f", n: "\n", r: "\r", t: "\t" };
const entities: Record<string, string> = { "&quot;": '"', "&apos;": "'", "&amp;": "&", "&lt;": "<", "&gt;": ">" };

// Schemes are decoded one after the other and never mixed, so that a secret with a percent sign is found in JSON.
const schemes: Escapes[] = [
  {
    sign: "\\",
    form: /\\(?:u[\da-f]{4}|["\\/bfnrt])/gi,
    begun: /\\(?:u[\da-f]{0,3})?$/i,
    read: (escaped) =>
      escaped.length > 2
        ? String.fromCharCode(Number.parseInt(escaped.slice(2), 16))
        : (controls[escaped.charAt(1)] ?? escaped.charAt(1)),
  },
  {
    sign: "%",
    form: /%(?:[0-7][\da-f]|[cd][\da-f]%[89ab][\da-f]|e[\da-f]%[89ab][\da-f]%[89ab][\da-f])/gi,
    begun: /%(?:[0-7]?|[cd](?:[\da-f](?:%[89ab]?)?)?|e(?:[\da-f](?:%(?:[89ab](?:[\da-f](?:%[89ab]?)?)?)?)?)?)$/i,
    read: (escaped) => Buffer.from(escaped.replaceAll("%", ""), "hex").toString("utf8"),
  },
  {
    sign: "&",
    form: /&(?:#\d{1,5}|#x[\da-f]{1,4}|quot|apos|amp|lt|gt);/gi,
    begun: /&(?:#\d{0,5}|#x[\da-f]{0,4}|[a-z]{0,4})$/i,
    read: (escaped) =>
      entities[escaped.toLowerCase()] ?? String.fromCharCode(Number(escaped.slice(2, -1).replace(/^x/i, "0x"))),
  },
];

/** Characters that may begin an escape. */
export const escapeSign = /[\\%&]/g;

const longestEscape = 9;

/** After this number of characters without a sign no escape is open, not even a nested one. */
export const escapesReach = 2 * longestEscape;

/** Decodes the escapes of one scheme in a text that comes in pieces. An incomplete escape waits for the rest. */
class EscapeDecoder {
  private rest: Piece | null = null;

  constructor(private readonly scheme: Escapes) {}

  push(piece: Piece, isLast: boolean): Piece {
    const whole = this.rest ? joined(this.rest, piece) : piece;
    this.rest = null;
    const { text, begins } = whole;
    if (!text.includes(this.scheme.sign)) return whole;
    const places = new Int32Array(begins.length);
    let [plain, count, end] = ["", 0, 0];
    const keep = (to: number) => {
      places.set(begins.subarray(end, to), count);
      plain += text.slice(end, to);
      count += to - end;
    };
    const { form, read } = this.scheme;
    form.lastIndex = 0;
    for (let match = form.exec(text); match; match = form.exec(text)) {
      const { 0: escaped, index } = match;
      keep(index);
      places[count++] = begins[index]!;
      // Exactly one character per escape, so that text and positions stay aligned.
      plain += read(escaped)[0] ?? "\uFFFD";
      end = index + escaped.length;
    }
    const half = isLast ? -1 : text.slice(Math.max(end, text.length - longestEscape)).search(this.scheme.begun);
    const to = half === -1 ? text.length : Math.max(end, text.length - longestEscape) + half;
    keep(to);
    places[count] = begins[to]!;
    if (to < text.length) this.rest = { text: text.slice(to), begins: begins.slice(to) };
    return { text: plain, begins: places.subarray(0, count + 1) };
  }

  /** Start of the waiting text; infinite if none waits. */
  open(): number {
    return this.rest?.begins[0] ?? Number.POSITIVE_INFINITY;
  }
}

function joined(a: Piece, b: Piece): Piece {
  const begins = new Int32Array(a.text.length + b.begins.length);
  begins.set(a.begins.subarray(0, a.text.length));
  begins.set(b.begins, a.text.length);
  return { text: a.text + b.text, begins };
}

type Found = (from: number, to: number) => void;

/** Searches for needles in a text decoded by one scheme and, below it, by a second one. */
export class SecretEncoding {
  private readonly plainer: EscapeDecoder;
  private readonly within: SecretEncoding[];
  private state = 0;
  private count = 0;
  // Ring buffer of the start positions of the last characters, as many as the longest needle has.
  private readonly places: Int32Array;

  constructor(
    scheme: Escapes,
    private readonly needles: AhoCorasick,
    isOuter: boolean,
  ) {
    this.plainer = new EscapeDecoder(scheme);
    this.within = isOuter ? schemes.map((inner) => new SecretEncoding(inner, needles, false)) : [];
    this.places = new Int32Array(2 ** Math.ceil(Math.log2(needles.longest + 1)));
  }

  /** Continues from the state that the search of the raw text reached here; the matched characters have no escapes. */
  begin(state: number, place: number): void {
    const depth = this.needles.depths[state]!;
    this.state = state;
    this.count = depth;
    for (let index = 0; index < depth; index++) this.places[index] = place - depth + index;
    for (const inner of this.within) inner.begin(state, place);
  }

  push(piece: Piece, isLast: boolean, found: Found): void {
    const plain = this.plainer.push(piece, isLast);
    const { text, begins } = plain;
    const { needles, places } = this;
    const mask = places.length - 1;
    for (let index = 0; index < text.length; index++, this.count++) {
      const code = text.charCodeAt(index);
      if (this.state === 0 && code < 256 && needles.begins[code] === 0) continue;
      places[this.count & mask] = begins[index]!;
      this.state = needles.next(this.state, code);
      const length = needles.ends[this.state]!;
      if (length > 0) found(places[(this.count + 1 - length) & mask]!, begins[index + 1]!);
    }
    for (const inner of this.within) inner.push(plain, isLast, found);
  }

  /** Start of the longest partial match, if it has at least this number of characters. */
  begun(atLeast: number): number {
    const depth = this.needles.depths[this.state]!;
    let first =
      depth < atLeast ? Number.POSITIVE_INFINITY : this.places[(this.count - depth) & (this.places.length - 1)]!;
    for (const inner of this.within) first = Math.min(first, inner.begun(atLeast));
    return first;
  }

  /** Start of the first incomplete escape. */
  open(): number {
    let first = this.plainer.open();
    for (const inner of this.within) first = Math.min(first, inner.open());
    return first;
  }
}

/** Signs of the escape schemes that a text may use. */
export const signsIn = (text: string): string => schemes.map(({ sign }) => (text.includes(sign) ? sign : "")).join("");

/** Decoders for JSON, URL and HTML escapes, also nested ones, of the schemes with these signs. */
export const secretEncodings = (needles: AhoCorasick, signs: string): SecretEncoding[] =>
  schemes.filter(({ sign }) => signs.includes(sign)).map((scheme) => new SecretEncoding(scheme, needles, true));
