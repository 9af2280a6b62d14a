/** The words of what is sought, in lower case. */
export const wordsOf = (sought: string): string[] => sought.toLowerCase().split(/\s+/).filter(Boolean);

/** Whether a text has each word of what is sought, anywhere and in any case: so does every search within a list. */
export function hasWords(text: string, sought: string): boolean {
  const lower = text.toLowerCase();
  return wordsOf(sought).every((word) => lower.includes(word));
}
