import { DocumentError, noTextInImages, OcrRequired } from "./document-error.ts";
import type { Outline } from "./outline.ts";
import type { ParseOptions } from "./parse-options.ts";
import { readScansHere } from "./read-scans.ts";

/** Outlines the text that OCR has read in an image. Returns one page, with boxes. */
export async function parseImage(
  bytes: Uint8Array,
  outline: Outline,
  { scans, ocr }: Pick<ParseOptions, "scans" | "ocr">,
): Promise<number> {
  const found = scans ?? (ocr && (await readScansHere(bytes, { mime_type: "image/png", pages: [1] }, ocr)));
  if (found === null) throw new OcrRequired([1], 1);
  const paragraphs = found.read.get(1) ?? [];
  if (paragraphs.length === 0) throw new DocumentError("document_empty", noTextInImages);
  outline.page(1, { isScan: true });
  for (const lines of paragraphs) outline.lines(lines);
  return 1;
}
