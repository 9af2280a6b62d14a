/** A part of a regular expression; alternatives are lists of parts. */
export type Term =
  | { kind: "char"; set: CharSet; min: number; max: number }
  | { kind: "group"; alternatives: Alternatives; min: number; max: number }
  | { kind: "edge"; isStart: boolean; isEnd: boolean };
export type Alternatives = readonly (readonly Term[])[];

/** Set of characters: one bit per ASCII character and one for all others. */
export type CharSet = bigint;

export const empty: CharSet = 0n;
export const union = (a: CharSet, b: CharSet): CharSet => a | b;
export const disjoint = (a: CharSet, b: CharSet): boolean => (a & b) === empty;

const ascii = Array.from({ length: 128 }, (_, code) => String.fromCharCode(code));
const others = 1n << 128n;
const maxCharRepeats = 1000;
const maxGroupRepeats = 100;

const tokens = {
  group: /\((?:\?:|\?<[A-Za-z_]\w*>)?/y,
  edge: /\^|\$|\\[bB]/y,
  char: /\\(?:u\{[^}]*\}|u[\da-fA-F]{4}|x[\da-fA-F]{2}|c[A-Za-z]|[pP]\{[^}]*\}|0|[^\dkpPux])|\[(?:\\[\s\S]|[^\]\\])*\]|[^()|[\]\\^$*+?{}]/uy,
  repeat: /(?:[*+?]|\{(\d+)(,?)(\d*)\})\??/y,
};

/**
 * Parses a regular expression. Returns null if it is invalid or uses more than characters, groups and repetitions (such
 * as look-around).
 */
export function parsePattern(pattern: string): Alternatives | null {
  try {
    new RegExp(pattern, "u");
  } catch {
    return null;
  }
  const reader = { pattern, at: 0 };
  const alternatives = readAlternatives(reader);
  return alternatives && reader.at === pattern.length ? alternatives : null;
}

interface Reader {
  pattern: string;
  at: number;
}

function take(reader: Reader, token: RegExp): RegExpExecArray | null {
  token.lastIndex = reader.at;
  const match = token.exec(reader.pattern);
  if (match) reader.at += match[0].length;
  return match;
}

function readAlternatives(reader: Reader): Alternatives | null {
  const alternatives: Term[][] = [[]];
  while (reader.at < reader.pattern.length && reader.pattern[reader.at] !== ")") {
    if (reader.pattern[reader.at] === "|") {
      reader.at++;
      alternatives.push([]);
      continue;
    }
    const term = readTerm(reader);
    if (!term) return null;
    alternatives.at(-1)?.push(term);
  }
  return alternatives;
}

function readTerm(reader: Reader): Term | null {
  const edge = take(reader, tokens.edge)?.[0];
  if (edge) return { kind: "edge", isStart: edge === "^", isEnd: edge === "$" };
  if (take(reader, tokens.group)) {
    const alternatives = readAlternatives(reader);
    if (!alternatives || reader.pattern[reader.at++] !== ")") return null;
    const times = readRepeat(reader, maxGroupRepeats);
    return times && { kind: "group", alternatives, ...times };
  }
  const char = take(reader, tokens.char)?.[0];
  const times = char === undefined ? null : readRepeat(reader, maxCharRepeats);
  return char === undefined ? null : times && { kind: "char", set: setOf(char), ...times };
}

// Repeat counts are limited, because engines may unroll them.
function readRepeat(reader: Reader, most: number): { min: number; max: number } | null {
  const match = take(reader, tokens.repeat);
  if (!match) return { min: 1, max: 1 };
  const [text, from, comma, to] = match;
  if (from === undefined) return { min: text[0] === "+" ? 1 : 0, max: text[0] === "?" ? 1 : Number.POSITIVE_INFINITY };
  const min = Number(from);
  const max = to ? Number(to) : comma ? Number.POSITIVE_INFINITY : min;
  return min <= most && (max <= most || max === Number.POSITIVE_INFINITY) ? { min, max } : null;
}

function setOf(char: string): CharSet {
  const matcher = new RegExp(`^${char}$`, "u");
  // A class that is negated or not all ASCII may match any other character.
  let set =
    /^(?:[\x20-\x7e]|\\[dwtnr]|\\[^\w\s]|\[(?!\^)(?:[\x20-\x5b\x5d-\x7e]|\\[dwtnr]|\\[^\w\s])*\])$/.test(char) &&
    char !== "."
      ? empty
      : others;
  for (const [code, each] of ascii.entries()) if (matcher.test(each)) set |= 1n << BigInt(code);
  return set;
}
