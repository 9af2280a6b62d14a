import { lastItem } from "./collections.ts";
import { isExactNumber } from "./exact-numbers.ts";
import { hasParts } from "./json.ts";

const [quote, backslash, openBracket, closeBracket, openBrace, closeBrace] = [34, 92, 91, 93, 123, 125];
const colon = 58;

// In a string longer than this the next quote is searched with `indexOf`, not byte by byte.
const short = 32;

/**
 * Returns the position of the quote that ends a JSON string from `from` on, or the end of the JSON if there is none.
 */
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

/** Returns the next quote of a string, and if it ends the string. The byte before `from` must not be an escape. */
function nextQuote(json: Uint8Array, from: number): { at: number; isEnd: boolean } {
  const at = json.indexOf(quote, from);
  if (at < 0) return { at: json.length, isEnd: true };
  let first = at;
  while (first > from && json[first - 1] === backslash) first--;
  return { at, isEnd: (at - first) % 2 === 0 };
}

/** Cost of JSON text once it is parsed. */
export interface JsonCost {
  /** Number of members of all its objects. */
  members: number;
  /** Largest number of integer names in one object: the engine needs ten times as long to list those. */
  numbers: number;
  /** Number of empty slots of eight bytes: names below 1,000 are stored as list items, from 0 on. */
  places: number;
}

// Names from here on take no slots for the numbers before them.
const sparse = 1000;

/**
 * Returns the cost of JSON text, or null if it nests deeper than `maxDepth`. Reads the bytes, because a parser would
 * use stack and memory before it could refuse.
 */
export function jsonCost(json: Uint8Array, maxDepth: number): JsonCost | null {
  const weight = { members: 0, numbers: 0, places: 0 };
  // For each open object: the number of its integer names, and the slots that they need.
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

/** Returns the integer that a string is, also if its digits are escaped, or -1 if it cannot be a list index. */
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

/** Returns the digit of an escape (`\u0039` is 9), or 0 for anything else. */
function escapedDigit(json: Uint8Array, at: number): number {
  for (let i = 0; i < beforeDigit.length; i++) if (json[at + 1 + i] !== beforeDigit[i]) return 0;
  return json[at + 5] ?? 0;
}

const zero = 48;
const beforeDigit = new TextEncoder().encode("u003");

// Free slots besides one for each byte: 8 MB, as two thousand objects need whose names are HTTP statuses.
const freePlaces = 1_000_000;

/** True if JSON of this size has too many empty slots: half a megabyte of `{"999":1}` needs 400 of them per byte. */
export const isSparse = ({ places }: Pick<JsonCost, "places">, bytes: number): boolean => places > bytes + freePlaces;

/** Returns why JSON text must not be parsed, as a sentence, or null. */
export function textFault(json: Uint8Array, maxDepth = 64): string | null {
  const weight = jsonCost(json, maxDepth);
  if (weight === null) return `The JSON nests deeper than ${maxDepth}.`;
  return isSparse(weight, json.length) ? sparseFault : null;
}

export const sparseFault = "Too many objects in it have names that are whole numbers, such as 999, and few others.";

/** True if JSON text nests no deeper than `maxDepth`. */
export const isShallow = (json: Uint8Array, maxDepth: number): boolean => jsonCost(json, maxDepth) !== null;

/**
 * Returns what a parser lost of the text, or null: of a repeated name it keeps the last value, and a number out of
 * range becomes infinite, which serializes as null. Fewer members than in the text mean a repeated name, however it was
 * escaped; only then the text is searched for it.
 */
export function lossOf(text: string, members: number, value: unknown): string | null {
  const kept = keptMembers(value);
  if (Number.isNaN(kept)) return "A number in it is too large.";
  return kept === members ? null : `An object in it has the name ${findRepeatedName(text)} twice.`;
}

/** Counts the members of all objects of a value; NaN if a number is infinite. */
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

/** Returns the first name that occurs twice in an object of valid JSON text, as JSON. */
function findRepeatedName(text: string): string | null {
  const open: Set<string>[] = [];
  for (const [token, name] of text.matchAll(/("[^"\\]*(?:\\.[^"\\]*)*")\s*:|"[^"\\]*(?:\\.[^"\\]*)*"|[{}]/g)) {
    if (token === "{") open.push(new Set());
    else if (token === "}") open.pop();
    else if (name !== undefined) {
      const plain = JSON.parse(name) as string;
      const names = lastItem(open);
      if (names.has(plain)) return JSON.stringify(plain.slice(0, 100));
      names.add(plain);
    }
  }
  return null;
}

/** Like {@link isShallow}, for a value that is already parsed. */
export function isShallowValue(value: unknown, maxDepth: number): boolean {
  if (!hasParts(value)) return true;
  if (maxDepth === 0) return false;
  if (!Array.isArray(value)) return Object.values(value).every((inner) => isShallowValue(inner, maxDepth - 1));
  // No iterator: one list may hold millions of values.
  for (let i = 0; i < value.length; i++) if (!isShallowValue(value[i], maxDepth - 1)) return false;
  return true;
}

const dangerous = new Set(["__proto__", "constructor", "prototype"]);

/** Returns the path of the first key that could reach an object's prototype if the value were ever merged, or null. */
export const findDangerousKey = (value: unknown): string | null => withoutPoint(dangerousPlace(value));

/** Returns the path of the first infinite number, or null. */
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

/** Builds the path only on the way back, because millions of values are searched for one place. */
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

/** True if the text may contain a dangerous key, also an escaped one; otherwise the search can be skipped. */
export const mayHoldDangerousKey = (json: string): boolean => /__proto__|constructor|prototype|\\u/.test(json);

const maxDepth = 64;

/**
 * Returns the fault of JSON from a model or a tool, as a sentence, or null: too deep to serialize, or unsafe to merge.
 */
export function jsonFault(value: unknown): string | null {
  if (!isShallowValue(value, maxDepth)) return `The JSON nests deeper than ${maxDepth}.`;
  const key = findDangerousKey(value);
  return key === null ? null : `The key ${key} is not allowed.`;
}
