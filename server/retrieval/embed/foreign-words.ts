/** What the model cannot read of a text: how much of it that is, and a vector of its own. */
interface ForeignWords {
  /** Part of the text's letters, 0 to 1. */
  share: number;
  vector: Float32Array;
}

/**
 * The model knows Latin letters alone, and all of a text in others is one unknown word to it: any two such texts would
 * be the same. Their words are hashed instead, by runs of characters, so that texts are alike where their words are.
 */
export function foreignWords(text: string, dimensions: number): ForeignWords {
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

/** Pairs where a character is half a word; else threes, with the word's ends marked. */
function runsOf(word: string): string[] {
  const dense = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}]/u.test(word);
  const [characters, size] = dense ? [[...word], 2] : [["<", ...word, ">"], 3];
  if (characters.length <= size) return [characters.join("")];
  return Array.from({ length: characters.length - size + 1 }, (_, at) => characters.slice(at, at + size).join(""));
}

/** Half of the runs count down: what meets by chance in one place then cancels out. */
function add(vector: Float32Array, run: string): void {
  const hash = Bun.hash.xxHash32(run);
  vector[hash % vector.length]! += hash >>> 31 ? 1 : -1;
}
