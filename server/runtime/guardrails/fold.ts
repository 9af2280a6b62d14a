const known = new Map<number, readonly string[]>();
const knownMax = 65_536;

// Letters of other scripts, each before the Latin letter that it looks like. Terms are folded too, so that terms in
// these scripts still match.
const lookalikes = pairs(
  "\u0430a\u0435e\u0455s\u0456i\u0458j\u043ak\u043eo\u0440p\u0441c\u0442t\u0443y\u0445x\u04bbh\u0501d\u051bq\u051dw\u050dg\u04cfl\u043cm" + // Cyrillic
    "\u03b1a\u03b2b\u03b5e\u03b9i\u03bak\u03bdv\u03bfo\u03c1p\u03c4t\u03c5u\u03c7x\u03f2c", // Greek
);

function pairs(written: string): ReadonlyMap<string, string> {
  return new Map([...written.matchAll(/(.)(.)/gu)].map(([, from = "", to = ""]) => [from, to]));
}

// Invisible characters, and accents except the marks of Japanese, which make other letters.
const dropped = /\p{Default_Ignorable_Code_Point}|(?![\u3099\u309a])(?=\p{Script=Inherited})\p{M}/u;

/**
 * Normalizes a character for comparison: without case, accents, width and font, lookalikes as Latin letters. Characters
 * are folded independently; white space becomes a blank.
 */
export function fold(char: string): readonly string[] {
  const code = char.codePointAt(0)!;
  let units = known.get(code);
  if (!units) {
    if (known.size >= knownMax) known.clear();
    units = /\s/u.test(char) ? [" "] : [...plain(plain(char).toUpperCase().toLowerCase())].map(latin);
    known.set(code, units);
  }
  return units;
}

const plain = (text: string): string => [...text.normalize("NFKD")].filter((char) => !dropped.test(char)).join("");

const latin = (char: string): string => lookalikes.get(char) ?? char;

/** Folded code of each ASCII character. */
export const foldedAscii: Uint8Array = Uint8Array.from({ length: 128 }, (_, code) =>
  fold(String.fromCharCode(code))[0]!.charCodeAt(0),
);

/** Folds a term, trimmed and with runs of blanks as one. */
export function foldTerm(term: string): string[] {
  const units: string[] = [];
  for (const unit of [...term].flatMap(fold))
    if (unit !== " " || (units.length > 0 && units.at(-1) !== " ")) units.push(unit);
  if (units.at(-1) === " ") units.pop();
  return units;
}
