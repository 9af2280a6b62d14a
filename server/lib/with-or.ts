/** Joins words to a choice: "a", "a or b", "a, b or c". */
export const withOr = (words: readonly string[]): string =>
  [words.slice(0, -1).join(", "), ...words.slice(-1)].filter((part) => part !== "").join(" or ");
