import { documentBounds } from "./bounds.ts";

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

/** Returns the code and message of a fault; another error means a damaged document. */
export function describeFault(error: unknown): { code: ParseFault; message: string } {
  const known = error instanceof DocumentError ? error : unreadable("It is damaged.");
  return { code: known.code, message: known.message.slice(0, documentBounds.message) };
}

export const unreadable = (message: string) => new DocumentError("document_unreadable", message);
export const tooLarge = (message: string) => new DocumentError("document_too_large", message);

/** Thrown for a message that is made to keep its reader busy. */
export class TooNested extends DocumentError {
  constructor() {
    super("document_unreadable", "It nests too deep, or has too many parts.");
  }
}

/**
 * Thrown if pages must be read by OCR first. Not a fault: other children then read them.
 */
export class OcrRequired extends Error {
  constructor(
    /** Their numbers, from 1. */
    readonly scans: readonly number[],
    /** Number of all pages. */
    readonly pages: number,
  ) {
    super();
  }
}

/**
 * Thrown if a part of a document must be read by OCR, whose pages other children cannot find. Not a fault: the document
 * is then read by a child that has OCR itself.
 */
export class PartOcrRequired extends Error {}

/** Thrown for a PDF in a child without a PDF reader. Not a fault: the document is then read by a child that has one. */
export class PdfRequired extends Error {}
