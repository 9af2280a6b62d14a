/** A letter of a script that puts no space between words: FTS5 would take a whole sentence for one word. */
const letter = String.raw`[[\p{scx=Han}\p{scx=Hira}\p{scx=Kana}\p{scx=Hang}]&&[\p{L}\p{N}]]`;
const letters = new RegExp(letter, "gv");
const runs = new RegExp(`${letter}+|[^${letter}]+`, "gv");
const run = new RegExp(`^${letter}`, "v");

/** The same for what is written in several ways that mean the same: ligatures, letters of half the width. */
export const oneSpelling = (text: string): string => text.normalize("NFKC");

/**
 * A text as its words are indexed: letters of such scripts stand alone. Whoever removes words from the index has to name
 * them in the very same way.
 */
export const wordText = (text: string): string => oneSpelling(text).replace(letters, " $& ");

/** A word of a query as words of the index: for letters that stand alone, each with the next one. */
export function indexedWords(word: string): string[] {
  return (word.match(runs) ?? []).flatMap((part) => {
    const alone = run.test(part) ? [...part] : [];
    return alone.length > 1 ? alone.slice(1).map((letter, index) => `${alone[index]} ${letter}`) : [part];
  });
}
