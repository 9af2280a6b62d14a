const foldings: Record<string, string> = { ß: "ss", æ: "ae", œ: "oe", ø: "o", ł: "l", đ: "d", ð: "d", þ: "th", ı: "i" };

/**
 * Leaves out marks beyond the thirty on one letter that Unicode allows in streams: normalization sorts them in a time
 * that grows with the square of their number.
 */
const withoutManyMarks = (text: string): string => text.replace(/(\p{Mn}{30})\p{Mn}+/gu, "$1");

/** Lowercases a text and removes optional diacritics: `Straße` is `strasse`, `Müller` is `muller`. */
export function foldText(text: string): string {
  const small = text.toLowerCase();
  // biome-ignore lint/suspicious/noControlCharactersInRegex: nothing to fold in plain ASCII.
  if (/^[\x00-\x7f]*$/.test(small)) return small;
  const bare = withoutManyMarks(small)
    .normalize("NFD")
    .replace(/(\p{Script=Latin})\p{Mn}+/gu, "$1");
  return bare.normalize("NFC").replace(/[ßæœøłđðþı]/g, (each) => foldings[each] ?? each);
}

/**
 * Matches characters that no reader sees: soft hyphens, zero-width spaces and joiners, direction marks. They stand
 * within words, and belong to none.
 */
export const invisible = /\p{DI}/gu;

/** Optional marks: vowels of Arabic and Hebrew, accents of Greek, stress marks of Cyrillic vowels. */
const optionalMarks = [
  /[\u0610-\u061a\u0640\u064b-\u065f\u0670\u06d6-\u06dc\u06df-\u06e8\u06ea-\u06ed]/gu,
  /[\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7]/gu,
  /(?<=\p{Script=Greek}\p{M}*)\p{M}/gu,
  /(?<=[аеиоуыэюяіє])[\u0300\u0301]|(?<=е)\u0308/gu,
];

/** Letters that are written for one another: of Arabic and Persian keyboards, and the sigma at the end of a word. */
const sameLetters: Record<string, string> = {
  ٱ: "ا",
  ى: "ي",
  ی: "ي",
  ې: "ي",
  ک: "ك",
  ة: "ه",
  ە: "ه",
  ہ: "ه",
  ھ: "ه",
  ς: "σ",
};
const replaced = new RegExp(`[${Object.keys(sameLetters).join("")}]`, "gu");

/** Code points of the digit zero of Arabic, Persian and Devanagari. */
const zeros = [0x660, 0x6f0, 0x966];
const digits = /[\u0660-\u0669\u06f0-\u06f9\u0966-\u096f]/gu;

const asciiDigit = (digit: string): string => {
  const code = digit.codePointAt(0) ?? 0;
  return String(code - (zeros.findLast((zero) => zero <= code) ?? code));
};

/**
 * Returns the spelling that all spellings of a word have in common, for words in lower case: without invisible
 * characters, vowel points and accents that may be left out, and with one letter for those that keyboards exchange.
 * The foldings of Arabic are those of Lucene's ArabicNormalizer and PersianNormalizer.
 */
export function searchSpelling(word: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: plain ASCII has one spelling.
  if (/^[\x00-\x7f]*$/.test(word)) return word;
  const bare = optionalMarks.reduce(
    (text, marks) => text.replace(marks, ""),
    withoutManyMarks(word.replace(invisible, "")).normalize("NFD"),
  );
  return bare
    .replace(replaced, (letter) => sameLetters[letter] ?? letter)
    .replace(digits, asciiDigit)
    .normalize("NFC");
}
