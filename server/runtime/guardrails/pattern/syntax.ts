/** A parsed pattern. `char` has the source of a native expression that tests one character. */
export type PatternNode =
  | { kind: "char"; source: string; flags: "u" | "iu" }
  | { kind: "edge"; edge: Edge }
  | { kind: "all"; of: PatternNode[] }
  | { kind: "any"; of: PatternNode[] }
  | { kind: "repeat"; of: PatternNode; min: number; max: number };

export const edges = ["begin_text", "end_text", "begin_line", "end_line", "word", "not_word"] as const;
export type Edge = (typeof edges)[number];

/** Reason why a pattern is invalid, without a full stop. */
export class PatternFault extends Error {}

interface Flags {
  i: boolean;
  m: boolean;
  s: boolean;
}

const perl: Record<string, string> = { d: "0-9", s: "\\t\\n\\f\\r ", w: "0-9A-Za-z_" };
const posix: Record<string, string> = {
  alnum: "0-9A-Za-z",
  alpha: "A-Za-z",
  ascii: "\\x00-\\x7f",
  blank: "\\t ",
  cntrl: "\\x00-\\x1f\\x7f",
  digit: "0-9",
  graph: "!-~",
  lower: "a-z",
  print: " -~",
  punct: "!-\\/:-@\\[-`\\{-~",
  space: "\\t-\\r ",
  upper: "A-Z",
  word: "0-9A-Za-z_",
  xdigit: "0-9A-Fa-f",
};
const controls: Record<string, number> = { a: 7, f: 12, t: 9, n: 10, r: 13, v: 11 };
const textEdges: Record<string, Edge> = { A: "begin_text", z: "end_text", b: "word", B: "not_word" };
const repeatsMax = 1000;

/**
 * Parses a pattern of RE2's syntax. Lazy repetitions and names of groups are ignored, because all matches are found
 * (see `scanner.ts`).
 */
export function parsePattern(pattern: string): PatternNode {
  const chars = [...pattern];
  let at = 0;
  const peek = () => chars[at];
  const rest = (length: number) => chars.slice(at, at + length).join("");
  const consume = (text: string): boolean => {
    const fits = rest(text.length) === text;
    if (fits) at += text.length;
    return fits;
  };
  const until = (end: string): string => {
    const from = at;
    while (at < chars.length && rest(end.length) !== end) at++;
    const found = chars.slice(from, at).join("");
    if (!consume(end)) throw new PatternFault(`"${end}" is missing`);
    return found;
  };

  function alternatives(outer: Flags, depth: number): PatternNode {
    if (depth > 200) throw new PatternFault("groups nest too deep");
    const flags = { ...outer }; // `(?i)` applies until the end of its group.
    const of: PatternNode[] = [];
    do of.push(sequence(flags, depth));
    while (consume("|"));
    return of.length === 1 ? of[0]! : { kind: "any", of };
  }

  function sequence(flags: Flags, depth: number): PatternNode {
    const of: PatternNode[] = [];
    while (at < chars.length && peek() !== "|" && peek() !== ")") {
      if (consume("\\Q")) of.push(...parseQuoted(flags));
      else {
        const node = atom(flags, depth);
        if (node) of.push(parseRepeat(node));
      }
    }
    return of.length === 1 ? of[0]! : { kind: "all", of };
  }

  function parseQuoted(flags: Flags): PatternNode[] {
    const from = at;
    while (at < chars.length && rest(2) !== "\\E") at++;
    const nodes = chars.slice(from, at).map((each) => literal(each.codePointAt(0)!, flags));
    consume("\\E");
    if (nodes.length > 0) nodes.push(parseRepeat(nodes.pop()!));
    return nodes;
  }

  function parseRepeat(node: PatternNode): PatternNode {
    const bounds = readBounds();
    if (!bounds) return node;
    consume("?");
    if (readBounds()) throw new PatternFault("a repetition is repeated without a group");
    return { kind: "repeat", of: node, ...bounds };
  }

  function readBounds(): { min: number; max: number } | null {
    if (consume("*")) return { min: 0, max: Number.POSITIVE_INFINITY };
    if (consume("+")) return { min: 1, max: Number.POSITIVE_INFINITY };
    if (consume("?")) return { min: 0, max: 1 };
    const counted = /^\{(\d+)(,?)(\d*)\}/.exec(rest(16));
    if (!counted) return null; // A brace that is not a repetition is a literal.
    at += counted[0].length;
    const min = Number(counted[1]);
    const max = counted[3] ? Number(counted[3]) : counted[2] ? Number.POSITIVE_INFINITY : min;
    if (min > repeatsMax || (max !== Number.POSITIVE_INFINITY && max > repeatsMax) || max < min)
      throw new PatternFault(`${counted[0]} is no repetition of at most ${repeatsMax}`);
    return { min, max };
  }

  function atom(flags: Flags, depth: number): PatternNode | null {
    const char = chars[at++]!;
    if (char === "(") return group(flags, depth);
    if (char === "[") return set(flags);
    if (char === ".") return { kind: "char", source: flags.s ? "[^]" : "[^\\n]", flags: "u" };
    if (char === "^") return { kind: "edge", edge: flags.m ? "begin_line" : "begin_text" };
    if (char === "$") return { kind: "edge", edge: flags.m ? "end_line" : "end_text" };
    if (char === "\\") return parseEscape(flags);
    if ("*+?".includes(char)) throw new PatternFault(`"${char}" has nothing to repeat`);
    return literal(char.codePointAt(0)!, flags);
  }

  function group(flags: Flags, depth: number): PatternNode | null {
    let inner = flags;
    if (consume("?")) {
      const named = /^(?:P?<[A-Za-z_]\w*>)/.exec(rest(80));
      if (named) at += named[0].length;
      else {
        inner = readFlags(flags);
        if (chars[at++] === ")") {
          Object.assign(flags, inner);
          return null;
        }
      }
    }
    const node = alternatives(inner, depth + 1);
    if (!consume(")")) throw new PatternFault('")" is missing');
    return node;
  }

  /** Parses `i-s:` or `i-s)`; stops before the end mark. */
  function readFlags(flags: Flags): Flags {
    const written = /^([imsU]*)(?:-([imsU]+))?(?=[:)])/.exec(rest(20));
    if (!written || (written[0] === "" && peek() === ")"))
      throw new PatternFault(`"(?${rest(3)}" is not of RE2's syntax: it has no look-around and no references`);
    at += written[0].length;
    const changed = { ...flags };
    for (const flag of written[1] ?? "") if (flag !== "U") changed[flag as keyof Flags] = true;
    for (const flag of written[2] ?? "") if (flag !== "U") changed[flag as keyof Flags] = false;
    return changed;
  }

  function parseEscape(flags: Flags): PatternNode {
    const letter = peek();
    if (letter !== undefined && Object.hasOwn(textEdges, letter)) {
      at++;
      return { kind: "edge", edge: textEdges[letter]! };
    }
    const range = escapedRange();
    if (range) return { kind: "char", source: `[${range}]`, flags: "u" };
    return literal(escapedChar(), flags);
  }

  /** Parses `\d`, `\pL` or `\P{Greek}` behind a backslash into the inside of a native set; null for others. */
  function escapedRange(): string | null {
    const letter = peek() ?? "";
    const base = perl[letter.toLowerCase()];
    if (base !== undefined && letter !== "") {
      at++;
      return letter === letter.toLowerCase() ? base : complement(base);
    }
    if (letter !== "p" && letter !== "P") return null;
    at++;
    let name = consume("{") ? until("}") : (chars[at++] ?? "");
    let negated = letter === "P";
    if (name.startsWith("^")) {
      negated = !negated;
      name = name.slice(1);
    }
    return unicodeRange(name, negated);
  }

  function escapedChar(): number {
    const letter = chars[at++];
    if (letter === undefined) throw new PatternFault("it ends with a backslash");
    if (Object.hasOwn(controls, letter)) return controls[letter]!;
    if (letter === "x") {
      const digits = consume("{") ? until("}") : rest(2);
      if (!/^[0-9A-Fa-f]{1,6}$/.test(digits) || Number.parseInt(digits, 16) > 0x10ffff)
        throw new PatternFault(`"\\x${digits}" is no character`);
      if (chars[at - 1] !== "}") {
        if (digits.length < 2) throw new PatternFault(`"\\x${digits}" is no character`);
        at += 2;
      }
      return Number.parseInt(digits, 16);
    }
    const octal = /^(?:0[0-7]{0,2}|[1-7][0-7]{1,2})/.exec(letter + rest(2));
    if (octal) {
      at += octal[0].length - 1;
      return Number.parseInt(octal[0], 8);
    }
    if (/[0-9A-Za-z]/.test(letter)) throw new PatternFault(`"\\${letter}" is not of RE2's syntax`);
    return letter.codePointAt(0)!;
  }

  function set(flags: Flags): PatternNode {
    const negated = consume("^");
    let inside = "";
    for (let first = true; first || peek() !== "]"; first = false) {
      if (at >= chars.length) throw new PatternFault('"]" is missing');
      inside += setItem();
    }
    at++;
    return { kind: "char", source: `[${negated ? "^" : ""}${inside}]`, flags: flags.i ? "iu" : "u" };
  }

  function setItem(): string {
    if (rest(2) === "[:") {
      const named = /^\[:(\^?)([a-z]+):\]/.exec(rest(12));
      if (!named || !Object.hasOwn(posix, named[2]!)) throw new PatternFault(`"${rest(8)}" names no set`);
      at += named[0].length;
      return named[1] ? complement(posix[named[2]!]!) : posix[named[2]!]!;
    }
    const low = setChar();
    if (typeof low === "string") return low;
    if (peek() !== "-" || chars[at + 1] === "]" || at + 1 >= chars.length) return native(low);
    at++;
    const high = setChar();
    if (typeof high === "string" || high < low) throw new PatternFault("a range in a set runs backwards");
    return `${native(low)}-${native(high)}`;
  }

  function setChar(): number | string {
    const char = chars[at++]!;
    if (char !== "\\") return char.codePointAt(0)!;
    return escapedRange() ?? escapedChar();
  }

  const node = alternatives({ i: false, m: false, s: false }, 0);
  if (at < chars.length) throw new PatternFault('")" has no beginning');
  return node;
}

const literal = (code: number, { i }: Flags): PatternNode => ({
  kind: "char",
  source: native(code),
  flags: i ? "iu" : "u",
});

const native = (code: number): string => `\\u{${code.toString(16)}}`;

/** Returns the complement as the inside of a native set, because sets do not nest. */
function complement(ranges: string): string {
  const rangeItems = [...ranges.matchAll(/(\\?.|\\x..)(?:-(\\?.|\\x..))?/gs)];
  if (rangeItems.length === 0) return ranges;
  const member = new RegExp(`[${ranges}]`);
  let [written, from] = ["", -1];
  for (let code = 0; code <= 128; code++) {
    const outside = code === 128 || !member.test(String.fromCharCode(code));
    if (outside && from < 0) from = code;
    if (!outside && from >= 0) {
      written += `${native(from)}-${native(code - 1)}`;
      from = -1;
    }
  }
  return `${written}${native(from)}-${native(0x10ffff)}`;
}

function unicodeRange(name: string, negated: boolean): string {
  const letter = negated ? "P" : "p";
  const names = name === "Any" ? ["Any"] : name.length <= 2 ? [name] : [`Script=${name}`];
  for (const each of names) {
    const range = `\\${letter}{${each}}`;
    try {
      new RegExp(`[${range}]`, "u");
      if (/^[A-Za-z_=]+$/.test(each)) return range;
    } catch {
      break; // No such name.
    }
  }
  throw new PatternFault(`"\\${letter}{${name}}" names no set`);
}
