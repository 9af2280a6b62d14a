/** Number formats of lists. Unknown ones are written as decimal numbers. */
export type NumberStyle = "decimal" | "lowerLetter" | "upperLetter" | "lowerRoman" | "upperRoman" | (string & {});

export function listNumber(number: number, style: NumberStyle): string {
  if (/letter/i.test(style) && number > 0 && number <= 26 * 8) return cased(letters(number), style);
  if (/roman/i.test(style) && number > 0 && number < 5000) return cased(roman(number), style);
  return style === "decimalZero" && number < 10 ? `0${number}` : String(number);
}

const cased = (text: string, style: string): string => (style.startsWith("upper") ? text.toUpperCase() : text);

/** Returns a, b, … z, aa, bb, … as word processors count. */
const letters = (number: number): string =>
  String.fromCharCode(97 + ((number - 1) % 26)).repeat(Math.ceil(number / 26));

const numerals = Object.entries({
  m: 1000,
  cm: 900,
  d: 500,
  cd: 400,
  c: 100,
  xc: 90,
  l: 50,
  xl: 40,
  x: 10,
  ix: 9,
  v: 5,
  iv: 4,
  i: 1,
});

function roman(number: number): string {
  let [left, text] = [number, ""];
  for (const [numeral, value] of numerals) {
    text += numeral.repeat(Math.floor(left / value));
    left %= value;
  }
  return text;
}
