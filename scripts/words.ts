import type { Files } from "./tidy.ts";

/** A word that the glossary refuses. */
interface Refused {
  word: string;
  /** The folder in which it may stand; null: nowhere. */
  only: string | null;
}

/** The words in the last column of the glossary's table. */
export function refusedWords(glossary: string): Refused[] {
  return glossary
    .split("\n")
    .filter((line) => /^\| [a-z]/.test(line))
    .flatMap((line) => line.split("|").at(-2)!.split(","))
    .map((text) => /^(\w+)(?: \(([^)]+)\))?$/.exec(text.trim()))
    .filter((found) => found !== null)
    .map(([, word = "", only]) => ({ word, only: only ?? null }));
}

/** Where a refused word stands in the product: alone, or as a part of a name in camel case. */
export function wordFaults(files: Files, refused: readonly Refused[]): string[] {
  const product = Object.entries(files).filter(([path]) => /^(server|dashboard|scripts)\//.test(path));
  return refused.flatMap(({ word, only }) => {
    const capital = `${word[0]!.toUpperCase()}${word.slice(1)}`;
    const pattern = new RegExp(`\\b(${word}|${capital})(?![a-z])|[a-z]${capital}(?![a-z])`);
    return product
      .filter(([path, source]) => !isExempt(path) && (only === null || !path.startsWith(only)) && pattern.test(source))
      .map(([path]) => `${path} says "${word}", which the glossary refuses`);
  });
}

const isExempt = (path: string): boolean =>
  /\.test\.tsx?$/.test(path) || path.startsWith("server/testing/") || path === "scripts/words.ts";
