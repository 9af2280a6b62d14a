import { languageOf, stemOf } from "./languages.ts";

/** A letter of a script that puts no space between words: FTS5 would take a whole sentence for one word. */
const letter = String.raw`[[\p{scx=Han}\p{scx=Hira}\p{scx=Kana}\p{scx=Hang}]&&[\p{L}\p{N}]]`;
const letters = new RegExp(letter, "gv");
const runs = new RegExp(`${letter}+|[^${letter}]+`, "gv");
const run = new RegExp(`^${letter}`, "v");

/** As FTS5 cuts texts: runs of letters and digits, of whatever script, with the marks upon them. */
export const word = /[\p{L}\p{N}\p{Co}\p{M}]+/gu;

/** Where a name that is written in one begins another word: `get|User`, `parse|HTML|Document`. */
const seam = /(?<=[\p{Ll}\p{N}])(?=\p{Lu})|(?<=\p{Lu})(?=\p{Lu}\p{Ll})/u;

/** Marks behind more of them than any language has, and those of half the width, which are none before they are spelled out. */
const tooManyMarks = /(?<=[\p{M}\uff9e\uff9f]{30})[\p{M}\uff9e\uff9f]+/gu;

/**
 * The same for what is written in several ways that mean the same: ligatures, letters of half the width. Of marks upon one
 * letter 30 are left, as Unicode's Stream-Safe Text Format has it: ICU sorts them all, and takes ten seconds for 60,000.
 */
export const oneSpelling = (text: string): string => text.replace(tooManyMarks, "").normalize("NFKC");

const foldings: Record<string, string> = { ß: "ss", æ: "ae", œ: "oe", ø: "o", ł: "l", đ: "d", ð: "d", þ: "th", ı: "i" };

/** Small, and without what some write and others leave out: `Straße` is `strasse`, `Müller` is `muller`. */
export function folded(text: string): string {
  const small = text.toLowerCase();
  // biome-ignore lint/suspicious/noControlCharactersInRegex: nothing to fold in plain ASCII.
  if (/^[\x00-\x7f]*$/.test(small)) return small;
  const bare = small.normalize("NFD").replace(/(\p{Script=Latin})\p{Mn}+/gu, "$1");
  return bare.normalize("NFC").replace(/[ßæœøłđðþı]/g, (each) => foldings[each]!);
}

/** How a word with an umlaut is written where there is none: `mueller` for `Müller`; null for others. */
function transcribed(word: string): string | null {
  const bare = word.toLowerCase().normalize("NFC");
  return /[äöü]/.test(bare) ? folded(bare.replace(/[äöü]/g, (each) => `${{ ä: "a", ö: "o", ü: "u" }[each]}e`)) : null;
}

/** The other way round: `muller` for `mueller`; null for words that are not written so. */
export function untranscribed(word: string): string | null {
  const bare = word.replace(/(?<![aeiouq])([aou])e(?=[b-df-hj-np-rtv-z]|s.)/g, "$1");
  return word.length > 3 && bare !== word ? bare : null;
}

/** The parts of a name that is written in one: `get`, `User`, `By`, `Id`. */
const partsOf = (word: string): string[] => word.split(seam);

/** The words of a text, folded and with their endings: names, and the parts of them. */
export const wordsAsWritten = (text: string): Set<string> =>
  new Set((oneSpelling(text).match(word) ?? []).flatMap((each) => [...partsOf(each), each].map(folded)));

/**
 * A text as its words are indexed: letters of scripts without spaces stand alone, names are parted. Behind it follow
 * other forms of its words, so that nothing comes between those that stand together: names as they were written, both
 * spellings of umlauts, stems. Whoever removes words from the index has to name them in the very same way.
 */
export function wordText(text: string): string {
  const plain = oneSpelling(text);
  const words = plain.match(word) ?? [];
  return [bodyOf(plain), ...otherForms(words)].join(" ");
}

/** As texts were indexed before. */
export const formerWordText = (text: string): string => oneSpelling(text).replace(letters, " $& ");

function otherForms(words: readonly string[]): string[] {
  const all = words.map(folded);
  const language = languageOf(all);
  const forms = words.flatMap((each, index) => {
    const plain = all[index]!;
    const isName = partsOf(each).length > 1;
    const forms = [transcribed(each), untranscribed(plain), language && stemOf(language, plain), isName ? plain : null];
    return forms.filter((form) => form !== null);
  });
  // So that a query can tell which languages a store has.
  return language ? [`${language.mark}${language.mark}`, ...forms] : forms;
}

/** A text as its words are asked for where they stand together. */
export const phraseText = (text: string): string => (bodyOf(text).match(word) ?? []).join(" ");

const bodyOf = (plain: string): string =>
  folded(plain.replace(word, (each) => partsOf(each).join(" ")).replace(letters, " $& "));

/** A word of a query as words of the index: for letters that stand alone, each with the next one. */
export function indexedWords(word: string): string[] {
  return (word.match(runs) ?? []).flatMap((part) => {
    const alone = run.test(part) ? [...part] : [];
    return alone.length > 1 ? alone.slice(1).map((letter, index) => `${alone[index]} ${letter}`) : [part];
  });
}
