/** Kinds of loss or guess in reading a document. */
export const warningCodes = [
  "encoding_guessed",
  "encoding_errors",
  "type_mismatch",
  "part_unreadable",
  "pages_skipped",
  "text_unreadable",
  "image_without_text",
  "hidden_text_skipped",
  "more_warnings",
] as const;
export type WarningCode = (typeof warningCodes)[number];

/** A loss, or a guess, that the reader of a document's text should know of. */
export interface DocumentWarning {
  code: WarningCode;
  message: string;
  /** Page number from 1; null if the format has no pages, or the warning is about the whole document. */
  page: number | null;
}

/** The outcome of reading a document, beside its text. */
export interface DocumentReport {
  /** Characters of the text. */
  characters: number;
  /** Encoding of the text, named as the Encoding Standard does; null if the format defines it. */
  encoding: string | null;
  warnings: DocumentWarning[];
}
