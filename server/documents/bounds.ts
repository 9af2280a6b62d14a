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

/** Of images that are read letter by letter, which takes seconds a page. */
export const ocrBounds = {
  /** Pages of a document without text. What comes after them is left out, and said to be. */
  pages: 50,
  /** No page is begun later than this. */
  time_ms: 240_000,
  /** Images that one page is made of. */
  images: 100,
  /** Pixels of an image as it is given. */
  given: 50_000_000,
  /** And of what is looked at. */
  pixels: 10_000_000,
  dpi: 300,
} as const;
