import { foldText, searchSpelling } from "../search-spelling.ts";

// Words of questions and of every description: they say nothing about a tool.
const stopWords = new Set(
  (
    "a an and any are as at be by can do does for from given has have how i if in into is it its me my need of on one or " +
    "our please should some that the their them then there these this those to tool tools use used using want was we what " +
    "when which with would you your"
  ).split(" "),
);

/** Returns the stems of a text's words, in their order. Names in snake_case and camelCase are several words. */
export const stemsOf = (text: string): string[] =>
  wordsOf(text)
    .filter((word) => !stopWords.has(word))
    .map(stem);

/** Splits at everything that is no letter and no digit, and where a capital follows a small letter. */
function wordsOf(text: string): string[] {
  const apart = text
    .normalize("NFKC")
    .replace(/(\p{Ll}|\p{N})(\p{Lu})/gu, "$1 $2")
    .replace(/(\p{Lu})(\p{Lu}(?!s(?!\p{Ll}))\p{Ll})/gu, "$1 $2"); // `URLs` stays one word.
  return (apart.match(/[\p{L}\p{M}\p{N}]+/gu) ?? []).flatMap((word) => pieces(searchSpelling(foldText(word))));
}

const unspaced = /^[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}ー]+$/u;

/** Cuts a word of a script without spaces into pairs of letters. */
function pieces(word: string): string[] {
  if (!unspaced.test(word)) return word === "" ? [] : [word];
  const letters = [...word];
  return letters.length < 3 ? [word] : letters.slice(1).map((letter, index) => `${letters[index]}${letter}`);
}

const endings: [ending: string, rest: string][] = [
  ["ization", "iz"],
  ["ations", "at"],
  ["ation", "at"],
  ["tions", "t"],
  ["tion", "t"],
  ["sions", "s"],
  ["sion", "s"],
  ["ings", ""],
  ["ing", ""],
  ["ies", "i"],
  ["ied", "i"],
  ["ers", ""],
  ["er", ""],
  ["ed", ""],
  ["es", ""],
  ["s", ""],
  ["y", "i"],
  ["e", ""],
];

/** Returns the stem of an English word in lower case; other words lose at most such an ending. */
function stem(word: string): string {
  if (word.length < 4 || /[^a-z]/.test(word) || /(?:ss|us|is)$/.test(word)) return word;
  for (const [ending, rest] of endings) {
    if (!word.endsWith(ending)) continue;
    const bare = word.slice(0, -ending.length) + rest;
    // "string" and "red" have no such ending: a stem has three letters and a vowel.
    if (bare.length < 3 || !/[aeiouy]/.test(bare)) continue;
    return bare.length > 3 ? bare.replace(/([bdfgmnprt])\1$/, "$1") : bare;
  }
  return word;
}

/** Words that people and models use for one another when they speak of tools. */
const sameMeaning = [
  "create add make new insert open start register",
  "delete remove destroy erase drop",
  "list show all browse enumerate",
  "get fetch read retrieve view show load details",
  "search find look lookup query",
  "update edit change modify set patch adjust",
  "send post write notify deliver",
  "cancel abort stop revoke",
  "refund reimburse money",
  "email mail",
  "message chat",
  "issue ticket bug",
  "repository repo",
  "customer client contact",
  "meeting event appointment",
  "calendar schedule",
  "invoice bill",
  "payment charge pay",
  "document doc file",
  "picture image photo",
  "person people user member employee",
  "subscribe subscription",
  "weather forecast",
  "purchase order buy",
  "restart reboot",
  "convert exchange",
  "machine server instance host",
  "mute silence",
  "currency money dollar euro",
];

const synonyms = new Map<string, Set<string>>();
for (const group of sameMeaning) {
  const stems = group.split(" ").map(stem);
  for (const word of stems) synonyms.set(word, new Set([...(synonyms.get(word) ?? []), ...stems]));
}

/** Returns the words of one meaning with this stem, without itself. */
export const synonymsOf = (word: string): string[] => [...(synonyms.get(word) ?? [])].filter((each) => each !== word);
