import type { Ocr } from "./ocr.ts";
import type { Outline } from "./outline.ts";
import type { PagesDone } from "./pages-done.ts";
import type { Scans } from "./scans.ts";

/** Choices of the upload, and the means of the child that reads the document. */
export interface ParseOptions {
  /** Encoding of the text that the upload names, which wins over every other sign. Null: it is detected. */
  encoding: string | null;
  /** True if hidden text is read as well. */
  includeHidden: boolean;
  /** Text of pages that are images. Null while they are not read. */
  scans: Scans | null;
  /** Reads images in this child: for parts of a document, whose pages other children cannot find. Null if it cannot. */
  ocr: Ocr | null;
  /** True if this child has the PDF reader. */
  hasPdf: boolean;
  /** True if attachments are read; else they are only named. */
  attachments: boolean;
  /** Called after each page of a format whose pages take time. Not for parts, whose pages are not the document's. */
  onPages: PagesDone;
}

export const defaultOptions: ParseOptions = {
  encoding: null,
  includeHidden: false,
  scans: null,
  ocr: null,
  hasPdf: true,
  attachments: true,
  onPages() {},
};

/** Options of a parser: those of the document, and the readers of other formats for what is inside it. */
export interface ParserOptions extends ParseOptions {
  readPart: ReadPart;
  attachmentReader: AttachmentReader;
}

/** Reads a part by the reader of its type. Throws {@link DocumentError}, or an error that asks for another child. */
export type ReadPart = (
  bytes: Uint8Array,
  mimeType: string,
  outline: Outline,
  options?: Partial<ParseOptions>,
) => Promise<void>;

export interface Attachment {
  /** Empty if it has none. */
  name: string;
  /** Media type that the message declares. */
  type: string;
  content: Uint8Array;
  /** Encoding that the message declares for its text, if any. */
  charset?: string | undefined;
}

export interface AttachmentReader {
  /**
   * Writes an attachment's name as heading and the text that the reader of its format finds. An attachment that cannot
   * be read costs a warning, and not the message.
   */
  read(attachment: Attachment, outline: Outline, level: number): Promise<void>;
  /** Enters a message inside a message. Throws {@link TooNested} if too many are around it. */
  enter(): void;
  leave(): void;
}
