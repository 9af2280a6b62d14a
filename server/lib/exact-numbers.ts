/**
 * A number kept as text because a JavaScript number would change it: 2512292042121000001, 1e400, or more decimals than
 * fit. `JSON.stringify` writes the text, and `parseExact` reads it, so that values passed through keep their digits.
 * Code that needs a number refuses it.
 */
export interface ExactNumber {
  readonly rawJSON: string;
}

interface RawJson {
  rawJSON(text: string): ExactNumber;
  isRawJSON(value: unknown): value is ExactNumber;
  parse(text: string, reviver: (key: string, value: unknown, context: { source?: string }) => unknown): unknown;
}

// TypeScript's types lack these functions, and so do some browsers.
const { rawJSON, isRawJSON }: Partial<RawJson> = JSON as unknown as RawJson;

const parse = JSON.parse as RawJson["parse"];

// The prototype is compared first, because `isRawJSON` is slow, and most values are ordinary objects.
export const isExactNumber = (value: unknown): value is ExactNumber =>
  typeof value === "object" && value !== null && Object.getPrototypeOf(value) === null && (isRawJSON?.(value) ?? false);

export const isNumber = (value: unknown): value is number | ExactNumber =>
  typeof value === "number" || isExactNumber(value);

/** True if a value contains an exact number. */
export function holdsExactNumber(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  if (isExactNumber(value)) return true;
  if (!Array.isArray(value)) return Object.values(value).some(holdsExactNumber);
  for (let i = 0; i < value.length; i++) if (holdsExactNumber(value[i])) return true;
  return false;
}

/** Parses like `JSON.parse`, but keeps numbers that would change as exact numbers. */
export const parseExact = <T = unknown>(text: string): T =>
  mayChange(text) ? (parse(text, kept) as T) : JSON.parse(text);

const kept = (_: string, value: unknown, { source }: { source?: string }): unknown =>
  typeof value === "number" && source !== undefined && !isSame(source, value) ? rawJSON!(source) : value;

// Fewer digits than this never change. Nearly all texts have neither this many nor an exponent, and this test takes a
// tenth of the time of parsing.
const manyDigits = /\d[\d.]{15}/;
const exponent = /\d[eE][-+]?\d+(?:[,\]}\s]|$)/;

/** True if parsing would change a number in this JSON text. */
export function mayChange(text: string): boolean {
  if (rawJSON === undefined || !(manyDigits.test(text) || exponent.test(text))) return false;
  for (const { from, to } of longNumbers(text)) {
    const source = text.slice(from, to);
    if (!isSame(source, Number(source))) return true;
  }
  return false;
}

const longest = 15;
const [quote, backslash, plus, minus, point, zero, nine] = [34, 92, 43, 45, 46, 48, 57];
const [bigE, smallE] = [69, 101];

/** Yields the positions of numbers with many digits or an exponent in JSON text. */
function* longNumbers(text: string): Generator<{ from: number; to: number }> {
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === quote) at = endOfText(text, at + 1);
    else if (code === minus || (code >= zero && code <= nine)) {
      const from = at;
      let hasExponent = false;
      for (at++; at < text.length; at++) {
        const next = text.charCodeAt(at);
        if (next === bigE || next === smallE) hasExponent = true;
        else if ((next < zero || next > nine) && next !== point && next !== plus && next !== minus) break;
      }
      if (hasExponent || at - from > longest) yield { from, to: at };
      at--;
    }
  }
}

/** Returns the position of the quote that ends a string. */
function endOfText(json: string, from: number): number {
  for (let at = json.indexOf('"', from); at >= 0; at = json.indexOf('"', at + 1)) {
    let first = at;
    while (first > from && json.charCodeAt(first - 1) === backslash) first--;
    if ((at - first) % 2 === 0) return at;
  }
  return json.length;
}

/** True if the number is exactly the one in its text. An integer must be written with the same digits again. */
function isSame(source: string, value: number): boolean {
  if (source === String(value)) return true;
  if (!Number.isFinite(value)) return false;
  if (/^-?\d+$/.test(source)) return source.length <= longest || source === "-0";
  return decimalOf(source) === decimalOf(String(value));
}

/** Normalizes a number: 1.50, 1.5e0 and 15e-1 are the same. */
function decimalOf(source: string): string {
  const read = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([-+]?\d+))?$/.exec(source);
  if (!read) return source; // The text is no JSON then.
  const [, sign, whole = "", part = "", power = "0"] = read;
  const digits = (whole + part).replace(/^0+/, "");
  let length = digits.length;
  while (digits[length - 1] === "0") length--; // A pattern would take quadratic time on many zeros.
  const short = digits.slice(0, length);
  return short === "" ? "0" : `${sign}${short}e${Number(power) - part.length + digits.length - short.length}`;
}
