/** Limits of a document and its text, checked both by the child that reads it and by its parent. */
export const documentBounds = {
  bytes: 100 * 2 ** 20,
  /** Bytes of the extracted text, in UTF-8. */
  text: 20 * 2 ** 20,
  pages: 5000,
  chunks: 50_000,
  /** Characters of a chunk's heading path. */
  heading: 500,
  message: 500,
} as const;

/** Limits of OCR, which takes seconds per page. */
export const ocrBounds = {
  /** Pages to read of a document without text. Later pages are skipped, and a note in the text says so. */
  pages: 50,
  /** Processor time of all children together after which no page is started. */
  time_ms: 240_000,
  /** Wall time after which no page is started, however little the processors did in it. */
  wall_ms: 1_800_000,
  /** Processor time of a page. */
  page_ms: 90_000,
  /** Pages that a child reads, because loading takes it a part of a page's time. */
  batch: 4,
  /** Children that read one document at once. Each takes up to 250 MB. */
  children: 4,
  /** Attempts to read a page, because a child may die of something else. */
  tries: 2,
  /** Bytes of the text and boxes of a page. */
  text: 4 * 2 ** 20,
  /** Images to draw for one page. */
  images: 100,
  /** Pixels of an input image. */
  inputPixels: 50_000_000,
  /** Pixels of the image that is passed to OCR. */
  pixels: 10_000_000,
  dpi: 300,
} as const;

/** Limits of the images of pages that models are shown. */
export const pageImageBounds = {
  /** Images of one document; its first pages. */
  pages: 20,
  /** Pixels of the longer side. Models scale larger images down, and count at most 2,000 tokens for this size. */
  side: 1344,
  /** Bytes of one image. */
  bytes: 2 * 2 ** 20,
  /** No page is started after this time. */
  time_ms: 20_000,
} as const;

/** Limits of the attachments of a message, over all messages inside it. */
export const attachmentBounds = {
  /** Messages and attachments around an attachment. */
  depth: 10,
  count: 200,
  bytes: 200 * 2 ** 20,
  /** No attachment is read after this processor time, so that the text of the message is there in time. */
  time_ms: 20_000,
} as const;
