import type { Ocr } from "./ocr.ts";
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
  /** Called after each page of a format whose pages take time. */
  onPages: PagesDone;
}

export const defaultOptions: ParseOptions = {
  encoding: null,
  includeHidden: false,
  scans: null,
  ocr: null,
  onPages() {},
};
