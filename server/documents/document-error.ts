/** Why a document has no text for us. */
export const parseFaults = [
  "document_unreadable",
  "document_encrypted",
  "document_too_large",
  "document_out_of_memory",
  "document_empty",
] as const;
export type ParseFault = (typeof parseFaults)[number];

/** A document's own fault, told to whoever uploaded it. */
export class DocumentError extends Error {
  constructor(
    readonly code: ParseFault,
    message: string,
  ) {
    super(message);
  }
}

/** Of whoever has read letters in images, and found none. */
export const noTextInImages =
  "It has no text, and no English text was found in its images. Add a text layer for other languages before you upload it.";

export const unreadable = (message: string) => new DocumentError("document_unreadable", message);
export const tooLarge = (message: string) => new DocumentError("document_too_large", message);

/** No fault: its text is in images, which whoever reads it does not read. It is for a child that does. */
export class Scanned extends Error {}
