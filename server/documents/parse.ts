import { decodeText } from "./decode.ts";
import { DocumentError, Scanned, tooLarge, unreadable } from "./document-error.ts";
import { type DocumentFormat, formatOf } from "./formats.ts";
import { outlineMarkdown } from "./markdown.ts";
import type { Ocr } from "./ocr.ts";
import { type Outline, openOutline, type Section } from "./outline.ts";
import { parseCsv } from "./parse-csv.ts";
import { parseDocx } from "./parse-docx.ts";
import { parseEml } from "./parse-eml.ts";
import { parseEpub } from "./parse-epub.ts";
import { parseHtml } from "./parse-html.ts";
import { parseImage } from "./parse-image.ts";
import { parseJson, parseJsonLines } from "./parse-json.ts";
import { parseMsg } from "./parse-msg.ts";
import { parseOdf } from "./parse-odf.ts";
import { parsePdf } from "./parse-pdf.ts";
import { parsePptx } from "./parse-pptx.ts";
import { parseRtf } from "./parse-rtf.ts";
import { parseXlsx } from "./parse-xlsx.ts";

interface ParsedDocument {
  sections: Section[];
  /** Null where the format has none. */
  pages: number | null;
}

/** Gives how many pages there are, where there are any. Without `ocr` images are not read. */
type Parser = (bytes: Uint8Array, outline: Outline, ocr: Ocr | null) => unknown;

const parsers: Record<DocumentFormat, Parser> = {
  text: (bytes, outline) => outline.block(decodeText(bytes)),
  markdown: (bytes, outline) => outlineMarkdown(decodeText(bytes), outline),
  html: parseHtml,
  json: parseJson,
  jsonl: parseJsonLines,
  csv: parseCsv,
  pdf: parsePdf,
  image: parseImage,
  docx: parseDocx,
  xlsx: parseXlsx,
  pptx: parsePptx,
  odf: parseOdf,
  epub: parseEpub,
  rtf: parseRtf,
  eml: parseEml,
  msg: parseMsg,
};

/**
 * The text of a document, as Markdown. Runs only in the jailed child. Throws a {@link DocumentError}, or {@link Scanned}
 * where images would have to be read, and there is no `ocr`.
 */
export async function parse(bytes: Uint8Array, mimeType: string, ocr: Ocr | null = null): Promise<ParsedDocument> {
  const format = formatOf(mimeType);
  if (format === null) throw unreadable(`No text is read from files of type ${mimeType.slice(0, 100)}.`);
  const outline = openOutline();
  try {
    const pages = await parsers[format](bytes, outline, ocr);
    const sections = outline.close();
    if (sections.length === 0) throw new DocumentError("document_empty", "The document has no text.");
    return { sections, pages: typeof pages === "number" ? pages : null };
  } catch (error) {
    throw asFault(error);
  }
}

/** What a parser fell over. */
function asFault(error: unknown): DocumentError | Scanned {
  if (error instanceof DocumentError || error instanceof Scanned) return error;
  const words = error instanceof Error ? error.message : "";
  if (/call stack/i.test(words)) return unreadable("It nests too deep.");
  if (/length|too (long|large)/i.test(words) && error instanceof RangeError) return tooLarge("It unpacks to too much.");
  if (/memory/i.test(words)) return new DocumentError("document_out_of_memory", "It needs more memory than there is.");
  return unreadable("It is damaged.");
}
