import { isExactNumber } from "./exact-numbers.ts";
import { hasParts } from "./json.ts";

const [quote, backslash, openBracket, closeBracket, openBrace, closeBrace] = [34, 92, 91, 93, 123, 125];
const colon = 58;

// Within a longer text the next quote is looked for as a whole, and not byte by byte.
const short = 32;

/** Where a text of JSON ends, of which everything before `from` is read: at its quote, or with the JSON where it has none. */
export function endOfText(json: Uint8Array, from: number): number {
  const { length } = json;
  let [at, plain] = [from, 0];
  while (at < length) {
    const byte = json[at];
    if (byte === quote) return at;
    if (byte === backslash) {
      at += 2;
      plain = 0;
    } else if (++plain < short) at++;
    else {
      const next = nextQuote(json, at + 1);
      if (next.isEnd) return next.at;
      at = next.at + 1;
      plain = 0;
    }
  }
  return length;
}

/** The next quote in a text, of which the byte before `from` escapes nothing, and whether it ends the text. */
function nextQuote(json: Uint8Array, from: number): { at: number; isEnd: boolean } {
  const at = json.indexOf(quote, from);
  if (at < 0) return { at: json.length, isEnd: true };
  let first = at;
  while (first > from && json[first - 1] === backslash) first--;
  return { at, isEnd: (at - first) % 2 === 0 };
}

/** What JSON text comes to once it is parsed. */
export interface Weight {
  /** How many members its objects have. */
  members: number;
  /** How many of one object have whole numbers for names, at the most: the engine needs ten times as long to list those. */
  numbers: number;
  /** Places of eight bytes that stay empty: names below 1,000 are kept as items of a list, from 0 on. */
  places: number;
}

// From here on a name alone takes no place for those before it.
const sparse = 1000;

/**
 * Weighs JSON text, or null when it nests deeper than this. Asked of the bytes, since a parser has used the stack, and the
 * memory, before it can say no.
 */
export function weigh(json: Uint8Array, maxDepth: number): Weight | null {
  const weight = { members: 0, numbers: 0, places: 0 };
  // Of each open object: the names that are whole numbers, and the places that they need.
  const [counts, tops] = [new Uint32Array(maxDepth + 1), new Uint16Array(maxDepth + 1)];
  let [depth, name] = [0, -1];
  for (let i = 0; i < json.length; i++) {
    const byte = json[i];
    if (byte === quote) {
      const end = endOfText(json, i + 1);
      name = numberIn(json, i + 1, end);
      i = end;
    } else if (byte === openBracket || byte === openBrace) {
      if (++depth > maxDepth) return null;
      counts[depth] = 0;
      tops[depth] = 0;
    } else if (byte === closeBracket || byte === closeBrace) {
      if (depth > 0) weight.places += Math.max(0, tops[depth]! - counts[depth]!);
      depth--;
    } else if (byte === colon) {
      weight.members++;
      if (name < 0 || depth < 1) continue;
      weight.numbers = Math.max(weight.numbers, ++counts[depth]!);
      if (name < sparse) tops[depth] = Math.max(tops[depth]!, name + 1);
    }
  }
  return weight;
}

/** The whole number that a text is, also where its digits are escaped; -1 where it is none that could be a place in a list. */
function numberIn(json: Uint8Array, from: number, to: number): number {
  let value = 0;
  let digits = 0;
  for (let at = from; at < to; at++) {
    let byte = json[at]!;
    if (byte === backslash) {
      byte = escapedDigit(json, at);
      at += 5;
    }
    if (byte < zero || byte > zero + 9 || ++digits > 10 || (value === 0 && digits > 1)) return -1;
    value = value * 10 + byte - zero;
  }
  return digits === 0 ? -1 : value;
}

/** `\u0039` is 9; 0 is anything else. */
function escapedDigit(json: Uint8Array, at: number): number {
  for (let i = 0; i < beforeDigit.length; i++) if (json[at + 1 + i] !== beforeDigit[i]) return 0;
  return json[at + 5] ?? 0;
}

const zero = 48;
const beforeDigit = new TextEncoder().encode("u003");

// Besides one for each byte: 8 MB, as two thousand objects take whose names are statuses of HTTP.
const freePlaces = 1_000_000;

/** Whether so many places are too many for JSON of so many bytes: half a megabyte of `{"999":1}` takes 400 of them. */
export const isSparse = ({ places }: Pick<Weight, "places">, bytes: number): boolean => places > bytes + freePlaces;

/** Why JSON text is not to be parsed, as a sentence, or null. */
export function textFault(json: Uint8Array, maxDepth = 64): string | null {
  const weight = weigh(json, maxDepth);
  if (weight === null) return `The JSON nests deeper than ${maxDepth}.`;
  return isSparse(weight, json.length) ? sparseFault : null;
}

export const sparseFault = "Too many objects in it have names that are whole numbers, such as 999, and few others.";

/** Whether JSON text nests no deeper than this. */
export const isShallow = (json: Uint8Array, maxDepth: number): boolean => weigh(json, maxDepth) !== null;

/**
 * What a parser lost of the text, or null: of a name that an object has twice it keeps the last, and a number beyond all
 * others becomes infinite, which is null when it is written again. Where fewer members came out than went in, one was
 * lost, however its name was escaped; only then the text is searched for it.
 */
export function lossOf(text: string, members: number, value: unknown): string | null {
  const kept = keptMembers(value);
  if (Number.isNaN(kept)) return "A number in it is too large.";
  return kept === members ? null : `An object in it has the name ${findRepeatedName(text)} twice.`;
}

/** How many members the objects of a value have; NaN where a number is infinite. */
function keptMembers(value: unknown): number {
  if (typeof value === "number") return Number.isFinite(value) ? 0 : Number.NaN;
  if (typeof value !== "object" || value === null) return 0;
  if (isExactNumber(value)) return isInfinite(value) ? Number.NaN : 0;
  let kept = 0;
  if (Array.isArray(value)) {
    for (let i = 0; i < value.length; i++) kept += keptMembers(value[i]);
    return kept;
  }
  const keys = Object.keys(value);
  kept = keys.length;
  for (const key of keys) kept += keptMembers((value as Record<string, unknown>)[key]);
  return kept;
}

/** The first name that an object of valid JSON text has twice, as JSON. */
function findRepeatedName(text: string): string | null {
  const open: Set<string>[] = [];
  for (const [token, name] of text.matchAll(/("[^"\\]*(?:\\.[^"\\]*)*")\s*:|"[^"\\]*(?:\\.[^"\\]*)*"|[{}]/g)) {
    if (token === "{") open.push(new Set());
    else if (token === "}") open.pop();
    else if (name !== undefined) {
      const plain = JSON.parse(name) as string;
      if (open.at(-1)!.has(plain)) return JSON.stringify(plain.slice(0, 100));
      open.at(-1)!.add(plain);
    }
  }
  return null;
}

/** {@link isShallow} for a value that is already parsed. */
export function isShallowValue(value: unknown, maxDepth: number): boolean {
  if (!hasParts(value)) return true;
  if (maxDepth === 0) return false;
  if (!Array.isArray(value)) return Object.values(value).every((inner) => isShallowValue(inner, maxDepth - 1));
  // Millions of values may stand in one.
  for (let i = 0; i < value.length; i++) if (!isShallowValue(value[i], maxDepth - 1)) return false;
  return true;
}

const dangerous = new Set(["__proto__", "constructor", "prototype"]);

/** Path of the first key that could reach an object's prototype if anybody ever merged the value, or null. */
export const findDangerousKey = (value: unknown): string | null => withoutPoint(dangerousPlace(value));

/** Path of the first number that is beyond all that a reader could hold, or null. */
export const findInfiniteNumber = (value: unknown): string | null => withoutPoint(infinitePlace(value));

const isInfinite = (value: unknown): boolean =>
  typeof value === "number" ? !Number.isFinite(value) : isExactNumber(value) && !Number.isFinite(Number(value.rawJSON));

const withoutPoint = (place: string | null): string | null => (place?.startsWith(".") ? place.slice(1) : place);

function infinitePlace(value: unknown): string | null {
  if (isInfinite(value)) return "";
  if (!hasParts(value)) return null;
  for (const [name, inner] of Array.isArray(value) ? value.entries() : Object.entries(value)) {
    const found = infinitePlace(inner);
    if (found !== null) return `${typeof name === "number" ? `[${name}]` : `.${name}`}${found}`;
  }
  return null;
}

/** Named on the way back: millions of values are looked at, and of one the place is told. */
function dangerousPlace(value: unknown): string | null {
  if (!hasParts(value)) return null;
  if (Array.isArray(value)) {
    for (let i = 0; i < value.length; i++) {
      const found = dangerousPlace(value[i]);
      if (found !== null) return `[${i}]${found}`;
    }
    return null;
  }
  for (const key of Object.keys(value)) {
    if (dangerous.has(key)) return `.${key}`;
    const found = dangerousPlace((value as Record<string, unknown>)[key]);
    if (found !== null) return `.${key}${found}`;
  }
  return null;
}

/** Whether it is worth looking for a dangerous key at all: true for any text that could hold one, also escaped. */
export const mayHoldDangerousKey = (json: string): boolean => /__proto__|constructor|prototype|\\u/.test(json);

const maxDepth = 64;

/** What is wrong with JSON from a model or a tool, as a sentence, or null: too deep to serialise, or unsafe to merge. */
export function jsonFault(value: unknown): string | null {
  if (!isShallowValue(value, maxDepth)) return `The JSON nests deeper than ${maxDepth}.`;
  const key = findDangerousKey(value);
  return key === null ? null : `The key ${key} is not allowed.`;
}
