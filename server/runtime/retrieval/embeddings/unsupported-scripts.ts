/** Part of a text that the model cannot read, and a vector for it. */
interface ForeignWords {
  /** Share of the text's letters, 0 to 1. */
  share: number;
  vector: Float32Array;
}

/**
 * The model knows Latin letters only; text in other scripts is one unknown word, so all such texts would be equal.
 * Their words are hashed by character n-grams instead, so that texts with common words are similar.
 */
export function unsupportedScripts(text: string, dimensions: number): ForeignWords {
  const vector = new Float32Array(dimensions);
  let [letters, foreign] = [0, 0];
  for (const [word] of text.toLowerCase().matchAll(/[\p{L}\p{M}\p{N}]+/gu)) {
    letters += word.length;
    if (!/[^\p{Script=Latin}\p{Script=Common}\p{Script=Inherited}]/u.test(word)) continue;
    foreign += word.length;
    for (const run of runsOf(word)) add(vector, run);
  }
  return { share: letters === 0 ? 0 : foreign / letters, vector };
}

/** Returns bigrams for scripts in which a character is about half a word; else trigrams with marked word ends. */
function runsOf(word: string): string[] {
  const dense = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}]/u.test(word);
  const [characters, size] = dense ? [[...word], 2] : [["<", ...word, ">"], 3];
  if (characters.length <= size) return [characters.join("")];
  return Array.from({ length: characters.length - size + 1 }, (_, at) => characters.slice(at, at + size).join(""));
}

/** Adds a hashed n-gram with a sign, so that accidental collisions cancel out. */
function add(vector: Float32Array, run: string): void {
  const hash = Bun.hash.xxHash32(run);
  const place = hash % vector.length;
  vector[place] = (vector[place] ?? 0) + (hash >>> 31 ? 1 : -1);
}
