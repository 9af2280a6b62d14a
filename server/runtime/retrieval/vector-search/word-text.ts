import { foldText, searchSpelling } from "../../../domain/search-spelling.ts";
import { languageOf, stemOf } from "./languages.ts";

/** Letter of a script without spaces between words: FTS5 would take a whole sentence for one word. */
const letter = String.raw`[[\p{scx=Han}\p{scx=Hira}\p{scx=Kana}\p{scx=Hang}]&&[\p{L}\p{N}]]`;
const letters = new RegExp(letter, "gv");
const runs = new RegExp(`${letter}+|[^${letter}]+`, "gv");
const run = new RegExp(`^${letter}`, "v");

/** Matches words as FTS5 cuts them: runs of letters and digits of any script, with their combining marks. */
export const word = /[\p{L}\p{N}\p{Co}\p{M}]+/gu;

/** Matches words with invisible characters inside, which FTS5 would cut there. */
const joinedWord = /[\p{L}\p{N}\p{Co}\p{M}]+(?:\p{DI}+[\p{L}\p{N}\p{Co}\p{M}]+)+/gu;

/** Matches words as a person reads them. */
export const readWord = /[\p{L}\p{N}\p{Co}\p{M}]+(?:\p{DI}+[\p{L}\p{N}\p{Co}\p{M}]+)*/gu;

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
 * identifiers, both umlaut spellings, stems, the spelling that a word's spellings share) are appended, so that phrases
 * stay intact. Removing words from the index needs exactly this text.
 */
export function wordText(text: string): string {
  const plain = oneSpelling(text);
  return [foldedWordText(text), ...otherSpellings(plain)].join(" ");
}

/** Returns the shared spellings of those words that are written in another one. */
function otherSpellings(plain: string): string[] {
  const joined = (plain.match(joinedWord) ?? []).filter((each) => each.search(letters) < 0);
  const spellings = joined.map((each) => searchSpelling(foldText(each)));
  for (const each of plain.match(word) ?? []) {
    const folded = foldText(each);
    const spelling = searchSpelling(folded);
    if (spelling !== folded) spellings.push(spelling);
  }
  return spellings;
}

/** The text that versions before shared spellings indexed. */
export function foldedWordText(text: string): string {
  const plain = oneSpelling(text);
  const words = plain.match(word) ?? [];
  return [bodyOf(plain), ...otherForms(words)].join(" ");
}

/** The text that versions before folding indexed. */
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
