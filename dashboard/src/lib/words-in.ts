/** Returns the words of a text with one a line, or with commas; null if there are none. */
export function wordsIn(text: string): string[] | null {
  const words = text.split(/[\s,;]+/).filter(Boolean);
  return words.length === 0 ? null : words;
}
