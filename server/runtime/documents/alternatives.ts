/** Words that a version may lack without being the poorer one, such as the label of a link. */
const fewWords = 2;
/** Words that are too many to leave out with a version that says something else. */
const manyWords = 20;

/** Part of a version to output: all of it, or lines with words that the others do not have. */
interface Choice {
  index: number;
  /** Null: all of it. */
  lines: string[] | null;
}

/**
 * Chooses among versions of one text, the plainest first, as `multipart/alternative` orders them. Takes the plainest
 * that has the words of the others, and then the lines of the others with words that it lacks. A short text that only
 * points to the version beside it is left out.
 */
export function chooseVersions(texts: readonly string[]): Choice[] {
  const versions = texts.map((text, index) => ({ index, text, words: wordsOf(text) }));
  const [first, ...others] = versions.filter(({ words }) => words.size > 0);
  if (!first) return texts.length > 0 ? [{ index: texts.length - 1, lines: null }] : [];
  let best = first;
  for (const one of others)
    if (missing(one.words, best.words).length > fewWords && 2 * one.words.size >= best.words.size) best = one;
  const choices: Choice[] = [{ index: best.index, lines: null }];
  const shown = new Set(best.words);
  for (const one of [first, ...others]) {
    const lacking = missing(one.words, shown);
    const isOther = 2 * lacking.length > one.words.size;
    if (lacking.length === 0 || (isOther && lacking.length < manyWords)) continue;
    choices.push({ index: one.index, lines: isOther ? null : linesWith(lacking, one.text) });
    for (const word of lacking) shown.add(word);
  }
  return choices;
}

const missing = (words: ReadonlySet<string>, from: ReadonlySet<string>): string[] =>
  [...words].filter((word) => !from.has(word));

function linesWith(words: readonly string[], text: string): string[] {
  const left = new Set(words);
  return text.split("\n").filter((line) => {
    const found = [...wordsOf(line)].filter((word) => left.delete(word));
    return found.length > 0;
  });
}

/** Returns the words of a text without addresses, which HTML and plain text write differently. */
function wordsOf(text: string): Set<string> {
  const bare = text.replace(/\b(?:https?:\/\/|mailto:|cid:|www\.)[^\s<>)"']+/gi, " ").toLowerCase();
  return new Set(bare.match(/[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]|[\p{L}\p{M}\p{N}]+/gu) ?? []);
}
