import { languageOf, stemOf } from "./languages.ts";

/** Letter of a script without spaces between words: FTS5 would take a whole sentence for one word. */
const letter = String.raw`[[\p{scx=Han}\p{scx=Hira}\p{scx=Kana}\p{scx=Hang}]&&[\p{L}\p{N}]]`;
const letters = new RegExp(letter, "gv");
const runs = new RegExp(`${letter}+|[^${letter}]+`, "gv");
const run = new RegExp(`^${letter}`, "v");

/** Matches words as FTS5 cuts them: runs of letters and digits of any script, with their combining marks. */
export const word = /[\p{L}\p{N}\p{Co}\p{M}]+/gu;

/** Matches the seams of a compound identifier: `get|User`, `parse|HTML|Document`. */
const seam = /(?<=[\p{Ll}\p{N}])(?=\p{Lu})|(?<=\p{Lu})(?=\p{Lu}\p{Ll})/u;

/**
 * Matches combining marks beyond a number that no language needs, including half-width ones, which become marks when
 * normalized.
 */
const tooManyMarks = /(?<=[\p{M}\uff9e\uff9f]{30})[\p{M}\uff9e\uff9f]+/gu;

/**
 * Normalizes spellings with the same meaning: ligatures, half-width letters. At most 30 marks per letter are kept, like
 * in Unicode's Stream-Safe Text Format, because ICU sorts marks and takes ten seconds for 60,000.
 */
export const oneSpelling = (text: string): string => text.replace(tooManyMarks, "").normalize("NFKC");

const foldings: Record<string, string> = { ß: "ss", æ: "ae", œ: "oe", ø: "o", ł: "l", đ: "d", ð: "d", þ: "th", ı: "i" };

/** Lowercases a text and removes optional diacritics: `Straße` is `strasse`, `Müller` is `muller`. */
export function foldText(text: string): string {
  const small = text.toLowerCase();
  // biome-ignore lint/suspicious/noControlCharactersInRegex: nothing to fold in plain ASCII.
  if (/^[\x00-\x7f]*$/.test(small)) return small;
  const bare = small.normalize("NFD").replace(/(\p{Script=Latin})\p{Mn}+/gu, "$1");
  return bare.normalize("NFC").replace(/[ßæœøłđðþı]/g, (each) => foldings[each] ?? each);
}

/** Returns the transcription of a word with an umlaut: `mueller` for `Müller`; null for others. */
function transcribed(word: string): string | null {
  const bare = word.toLowerCase().normalize("NFC");
  return /[äöü]/.test(bare) ? foldText(bare.replace(/[äöü]/g, (each) => `${{ ä: "a", ö: "o", ü: "u" }[each]}e`)) : null;
}

/** Returns the reverse: `muller` for `mueller`; null for words without a transcribed umlaut. */
export function untranscribed(word: string): string | null {
  const bare = word.replace(/(?<![aeiouq])([aou])e(?=[b-df-hj-np-rtv-z]|s.)/g, "$1");
  return word.length > 3 && bare !== word ? bare : null;
}

/** Splits a compound identifier: `get`, `User`, `By`, `Id`. */
const partsOf = (word: string): string[] => word.split(seam);

/** Returns the folded, unstemmed words of a text, including identifiers and their parts. */
export const wordsAsWritten = (text: string): Set<string> =>
  new Set((oneSpelling(text).match(word) ?? []).flatMap((each) => [...partsOf(each), each].map(foldText)));

/**
 * Returns the text to index: letters of scripts without spaces are separated, identifiers are split. Other forms (whole
 * identifiers, both umlaut spellings, stems) are appended, so that phrases stay intact. Removing words from the index
 * needs exactly this text.
 */
export function wordText(text: string): string {
  const plain = oneSpelling(text);
  const words = plain.match(word) ?? [];
  return [bodyOf(plain), ...otherForms(words)].join(" ");
}

/** The text that was indexed by earlier versions. */
export const formerWordText = (text: string): string => oneSpelling(text).replace(letters, " $& ");

function otherForms(words: readonly string[]): string[] {
  const all = words.map(foldText);
  const language = languageOf(all);
  const forms = words.flatMap((each, index) => {
    const plain = all[index] ?? foldText(each);
    const isName = partsOf(each).length > 1;
    const forms = [transcribed(each), untranscribed(plain), language && stemOf(language, plain), isName ? plain : null];
    return forms.filter((form) => form !== null);
  });
  // Marks the language, so that a query can tell which languages a store has.
  return language ? [`${language.mark}${language.mark}`, ...forms] : forms;
}

/** Returns the text of a phrase query. */
export const phraseText = (text: string): string => (bodyOf(text).match(word) ?? []).join(" ");

const bodyOf = (plain: string): string =>
  foldText(plain.replace(word, (each) => partsOf(each).join(" ")).replace(letters, " $& "));

/** Splits a word of a query into indexed words. Letters that are indexed separately are paired with the next one. */
export function indexedWords(word: string): string[] {
  return (word.match(runs) ?? []).flatMap((part) => {
    const alone = run.test(part) ? [...part] : [];
    return alone.length > 1 ? alone.slice(1).map((letter, index) => `${alone[index]} ${letter}`) : [part];
  });
}
