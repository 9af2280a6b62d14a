/** What a document may be and become at most. Both the child that reads it and its parent look. */
export const documentBounds = {
  bytes: 100 * 2 ** 20,
  /** Of the text in it, in UTF-8. */
  text: 20 * 2 ** 20,
  pages: 5000,
  chunks: 50_000,
  /** Characters of a heading's path. */
  heading: 500,
  message: 500,
} as const;
