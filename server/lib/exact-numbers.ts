/**
 * A number as its text, where the number of this language is another one: 2512292042121000001, 1e400, or more digits
 * behind the point than are kept. `JSON.stringify` writes the text. Text is read by `parseExact`, so that what is only
 * carried keeps its digits; where a number is needed, such a one is refused.
 */
export interface ExactNumber {
  readonly rawJSON: string;
}

interface RawJson {
  rawJSON(text: string): ExactNumber;
  isRawJSON(value: unknown): value is ExactNumber;
  parse(text: string, reviver: (key: string, value: unknown, context: { source?: string }) => unknown): unknown;
}

// The types of the language do not have them yet, and some browsers lack them.
const { rawJSON, isRawJSON }: Partial<RawJson> = JSON as unknown as RawJson;

const parse = JSON.parse as RawJson["parse"];

export const isExactNumber = (value: unknown): value is ExactNumber => isRawJSON?.(value) ?? false;

export const isNumber = (value: unknown): value is number | ExactNumber =>
  typeof value === "number" || isExactNumber(value);

/** Whether such a number stands anywhere in a value. */
export function holdsExactNumber(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  if (isExactNumber(value)) return true;
  if (!Array.isArray(value)) return Object.values(value).some(holdsExactNumber);
  for (let i = 0; i < value.length; i++) if (holdsExactNumber(value[i])) return true;
  return false;
}

/** Like `JSON.parse`, but for numbers that would change. */
export const parseExact = <T = unknown>(text: string): T =>
  mayChange(text) ? (parse(text, kept) as T) : JSON.parse(text);

const kept = (_: string, value: unknown, { source }: { source?: string }): unknown =>
  typeof value === "number" && source !== undefined && !isSame(source, value) ? rawJSON!(source) : value;

// So many digits are the same number for sure. Nearly all texts have neither that many nor an exponent, which takes a tenth
// of the time of parsing them to say.
const manyDigits = /\d[\d.]{15}/;
const exponent = /\d[eE][-+]?\d+(?:[,\]}\s]|$)/;

/** Whether a number in JSON text would change. */
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

/** Where numbers of many digits, or with an exponent, stand in JSON text. */
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

/** Of the quote that ends a text. */
function endOfText(json: string, from: number): number {
  for (let at = json.indexOf('"', from); at >= 0; at = json.indexOf('"', at + 1)) {
    let first = at;
    while (first > from && json.charCodeAt(first - 1) === backslash) first--;
    if ((at - first) % 2 === 0) return at;
  }
  return json.length;
}

/** Whether a number is the one that its text says. A whole number has to be written with the same digits again. */
function isSame(source: string, value: number): boolean {
  if (source === String(value)) return true;
  if (!Number.isFinite(value)) return false;
  if (/^-?\d+$/.test(source)) return source.length <= longest || source === "-0";
  return decimalOf(source) === decimalOf(String(value));
}

/** A number in one spelling: 1.50, 1.5e0 and 15e-1 are the same. */
function decimalOf(source: string): string {
  const read = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([-+]?\d+))?$/.exec(source);
  if (!read) return source; // The text is no JSON then.
  const [, sign, whole = "", part = "", power = "0"] = read;
  const digits = (whole + part).replace(/^0+/, "");
  let length = digits.length;
  while (digits[length - 1] === "0") length--; // A pattern would look at each zero within as often as there are others.
  const short = digits.slice(0, length);
  return short === "" ? "0" : `${sign}${short}e${Number(power) - part.length + digits.length - short.length}`;
}
