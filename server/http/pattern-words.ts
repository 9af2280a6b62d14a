import { namedInPaths } from "../domain/fields.ts";
import { withOr } from "../lib/with-or.ts";

interface Patterned {
  pattern?: unknown;
  examples?: unknown;
}

/** Words for patterns that no form below covers. */
const wholePatterns: Readonly<Record<string, string>> = {
  [namedInPaths]: 'be another text than "." and ".."',
  "^[ -~]+$": "have printable ASCII characters only",
  "^[\\x20-\\x7e]+$": "have printable ASCII characters only",
  "^[\\x21\\x23-\\x5b\\x5d-\\x7e]+$": "have printable ASCII characters only, and no spaces, quotes and backslashes",
  "^\\d{4}-\\d\\d-\\d\\d([Tt].+)?$": "be a day such as `2026-11-21`, or a time",
};

const idForm = /^\^([a-z]+)_\[0-9a-hjkmnp-tv-z\]\{26\}\$$/;
const literalForm = /^\^([a-z_]+)\$$/;
const listForm = /^\^\(([\w|]+)\)\(,\(\1\)\)\*\$$/;
const numberForm = /^\^(\[1-9\])?\\d(?:\+|\{\d+,\d+\})\$$/;
const charactersForm = /^\^\[([^\]]+)\](?:\{(\d+),(\d+)\}|\{(\d+)\})\$$/;
const beginningForm = /^\^\[([^\]]+)\]\[([^\]]+)\]\{0,(\d+)\}\$$/;

/**
 * Returns in words how a text must be to match the pattern of its schema: "Must look like `agt_…`." Clients never see a
 * regular expression. Null if the pattern is none of the usual ones and the schema has no example.
 */
export function patternWords({ pattern, examples }: Patterned): string | null {
  if (typeof pattern !== "string") return null;
  const [example] = Array.isArray(examples) ? examples : [];
  if (typeof example === "string") return `Must look like \`${example}\`.`;
  const forms = pattern.split(/(?<=\$)\|(?=\^)/).map(formWords);
  return forms.every((form) => form !== null) ? `Must ${forms.join(", or ")}.` : null;
}

function formWords(pattern: string): string | null {
  const [, prefix] = idForm.exec(pattern) ?? [];
  if (prefix) return `look like \`${prefix}_…\``;
  const [, literal] = literalForm.exec(pattern) ?? [];
  if (literal) return `be \`${literal}\``;
  const [, choices] = listForm.exec(pattern) ?? [];
  if (choices) return `be some of ${choices.split("|").join(", ")}, with commas between them`;
  const number = numberForm.exec(pattern);
  if (number) return number[1] ? "be a whole number from 1" : "be a whole number";
  return wholePatterns[pattern] ?? charactersWords(pattern);
}

function charactersWords(pattern: string): string | null {
  const [, first, rest, length] = beginningForm.exec(pattern) ?? [];
  if (first && rest && length)
    return `begin with ${withOr(kindsIn(first, "one"))}, and have at most ${Number(length) + 1} ${withOr(kindsIn(rest))}`;
  const [, characters, least, most, exactly] = charactersForm.exec(pattern) ?? [];
  if (!characters) return null;
  const count = exactly ?? (least === "0" ? `at most ${most}` : `${least} to ${most}`);
  return `have ${count} ${withOr(kindsIn(characters))}`;
}

const kinds: readonly (readonly [range: string, many: string, one: string])[] = [
  ["\\s\\S", "characters", "a character"],
  ["\\w", "letters, digits, `_`", "a letter, a digit, `_`"],
  ["A-Za-z", "letters", "a letter"],
  ["a-zA-Z", "letters", "a letter"],
  ["A-Z", "upper-case letters", "an upper-case letter"],
  ["a-z", "lower-case letters", "a lower-case letter"],
  ["0-9", "digits", "a digit"],
  ["\\d", "digits", "a digit"],
  ["a-f", "letters from a to f", "a letter from a to f"],
];

/** Returns the kinds of characters in a character class. */
function kindsIn(characters: string, count: "one" | "many" = "many"): string[] {
  if (characters === "") return [];
  const kind = kinds.find(([range]) => characters.startsWith(range));
  if (kind) return [count === "one" ? kind[2] : kind[1], ...kindsIn(characters.slice(kind[0].length), count)];
  return [`\`${characters[0]}\``, ...kindsIn(characters.slice(1), count)];
}
