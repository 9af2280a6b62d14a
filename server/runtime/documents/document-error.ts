/** Reasons why no text can be extracted from a document. */
export const parseFaults = [
  "document_unreadable",
  "document_encrypted",
  "document_too_large",
  "document_out_of_memory",
  "document_empty",
] as const;
export type ParseFault = (typeof parseFaults)[number];

/** A fault of the document itself, shown to the person who uploaded it. */
export class DocumentError extends Error {
  constructor(
    readonly code: ParseFault,
    message: string,
  ) {
    super(message);
  }
}

/** Message for a document in whose images OCR found no text. */
export const noTextInImages =
  "It has no text, and no English text was found in its images. Add a text layer for other languages before you upload it.";

export const unreadable = (message: string) => new DocumentError("document_unreadable", message);
export const tooLarge = (message: string) => new DocumentError("document_too_large", message);

/** Thrown for a message that is made to keep its reader busy. */
export class TooNested extends DocumentError {
  constructor() {
    super("document_unreadable", "It nests too deep, or has too many parts.");
  }
}

/**
 * Thrown if the text is in images and no OCR is available. Not a fault: the document is then read by a child with OCR.
 */
export class OcrRequired extends Error {}

/** Thrown for a PDF in a child without a PDF reader. Not a fault: the document is then read by a child that has one. */
export class PdfRequired extends Error {}
