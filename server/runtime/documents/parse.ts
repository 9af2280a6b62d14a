import type { DocumentReport } from "../../domain/document-report.ts";
import { openAttachmentReader } from "./attachments.ts";
import { declaredInCode } from "./declared-encoding.ts";
import { decodeDocument } from "./decode-document.ts";
import { DocumentError, OcrRequired, PartOcrRequired, PdfRequired, tooLarge, unreadable } from "./document-error.ts";
import { isFlatPackage } from "./flat-package.ts";
import { type DocumentFormat, formatOf } from "./formats.ts";
import { outlineMarkdownFile } from "./markdown.ts";
import { openOffice, packageFormat } from "./office.ts";
import { type Outline, openOutline, type Section } from "./outline.ts";
import { parseCalendar } from "./parse-calendar.ts";
import { parseCsv } from "./parse-csv.ts";
import { parseDocx } from "./parse-docx.ts";
import { parseEml, parseSmime } from "./parse-eml.ts";
import { parseEpub } from "./parse-epub.ts";
import { parseHtml } from "./parse-html.ts";
import { parseImage } from "./parse-image.ts";
import { parseJson, parseJsonLines } from "./parse-json.ts";
import { parseMht } from "./parse-mht.ts";
import { parseMsg } from "./parse-msg.ts";
import { parseOdf } from "./parse-odf.ts";
import { defaultOptions, type ParseOptions, type ParserOptions, type ReadPart } from "./parse-options.ts";
import { parsePdf } from "./parse-pdf.ts";
import { parsePptx } from "./parse-pptx.ts";
import { parseRtf } from "./parse-rtf.ts";
import { parseSpreadsheetml } from "./parse-spreadsheetml.ts";
import { parseTnef } from "./parse-tnef.ts";
import { parseWordml } from "./parse-wordml.ts";
import { parseXlsx } from "./parse-xlsx.ts";

interface ParsedDocument {
  sections: Section[];
  /** Null if the format has no pages. */
  pages: number | null;
  report: DocumentReport;
}

/** Returns the number of pages, if the format has any. */
type Parser = (bytes: Uint8Array, outline: Outline, options: ParserOptions) => unknown;

const parsers: Record<DocumentFormat, Parser> = {
  text: (bytes, outline, options) => outline.block(decodeDocument(bytes, outline, options)),
  markdown: (bytes, outline, options) => outlineMarkdownFile(decodeDocument(bytes, outline, options), outline),
  code: (bytes, outline, options) => outline.code(decodeDocument(bytes, outline, options, declaredInCode(bytes))),
  calendar: parseCalendar,
  html: parseHtml,
  json: parseJson,
  jsonl: parseJsonLines,
  csv: parseCsv,
  pdf: (bytes, outline, options) => {
    if (!options.hasPdf) throw new PdfRequired();
    return parsePdf(bytes, outline, options);
  },
  image: parseImage,
  docx: parseDocx,
  wordml: parseWordml,
  xlsx: parseXlsx,
  spreadsheetml: parseSpreadsheetml,
  pptx: parsePptx,
  odf: parseOdf,
  epub: parseEpub,
  rtf: parseRtf,
  eml: parseEml,
  msg: parseMsg,
  mht: parseMht,
  smime: parseSmime,
  tnef: parseTnef,
};

/**
 * Extracts the text of a document as Markdown. Runs only in the sandboxed child. Throws {@link DocumentError};
 * {@link OcrRequired} if images must be read first, or {@link PartOcrRequired} if they are in a part and there is no
 * OCR; or {@link PdfRequired} likewise.
 */
export async function parse(
  bytes: Uint8Array,
  mimeType: string,
  options: Partial<ParseOptions> = {},
): Promise<ParsedDocument> {
  const own = { ...defaultOptions, ...options };
  const readPart: ReadPart = async (part, type, outline, its) => {
    const inner = { ...own, ...its, ...partMeans, readPart, attachmentReader };
    await read(part, type, outline, inner).catch((error) => {
      throw error instanceof OcrRequired ? new PartOcrRequired() : error;
    });
  };
  const attachmentReader = openAttachmentReader(readPart, own);
  const outline = openOutline();
  const pages = await read(bytes, mimeType, outline, { ...own, readPart, attachmentReader });
  const sections = outline.close();
  const report = outline.report();
  if (sections.length === 0) throw emptyFault(report);
  return { sections, pages: typeof pages === "number" ? pages : null, report };
}

/** The pages of a part are not those of the document: neither those that OCR has read, nor those that are done. */
const partMeans: Pick<ParseOptions, "scans" | "onPages"> = { scans: null, onPages() {} };

async function read(bytes: Uint8Array, mimeType: string, outline: Outline, options: ParserOptions): Promise<unknown> {
  const format = formatOf(mimeType);
  if (format === null) throw unreadable(`No text is read from files of type ${mimeType.slice(0, 100)}.`);
  try {
    return await parsers[formatOfContent(format, bytes, outline)](bytes, outline, options);
  } catch (error) {
    throw asFault(error);
  }
}

const packageNames: Partial<Record<DocumentFormat, string>> = {
  docx: "a text document",
  xlsx: "a workbook",
  pptx: "a presentation",
  odf: "an OpenDocument file",
  epub: "an e-book",
};

/** Returns the format of a document in an archive by what is in it, which may differ from what its name says. */
function formatOfContent(format: DocumentFormat, bytes: Uint8Array, outline: Outline): DocumentFormat {
  const isFlat = format === "docx" && isFlatPackage(bytes);
  if (!Object.hasOwn(packageNames, format) || (bytes[0] !== 0x50 && !isFlat)) return format;
  const found = packageFormat(openOffice(bytes, { warn() {} }));
  if (found === null || found === format) return format;
  // Office documents in one XML file have one type.
  if (isFlat) return found;
  outline.warn("type_mismatch", `By its content the file is ${packageNames[found]}. It was read as that.`);
  return found;
}

/** Returns why a document has no text: all of it may be hidden, or damaged. */
function emptyFault({ warnings }: DocumentReport): DocumentError {
  const cause = warnings.find(({ code }) => code === "hidden_text_skipped" || code === "part_unreadable");
  if (cause?.code === "part_unreadable") return unreadable(cause.message);
  return new DocumentError(
    "document_empty",
    cause ? `It shows no text. ${cause.message}` : "The document has no text.",
  );
}

const needs = [OcrRequired, PartOcrRequired, PdfRequired];

/** Maps an error of a parser to a document error, unless it asks for another child. */
function asFault(error: unknown): Error {
  if (error instanceof DocumentError || needs.some((need) => error instanceof need)) return error as Error;
  const words = error instanceof Error ? error.message : "";
  if (/call stack/i.test(words)) return unreadable("It nests too deep.");
  if (/length|too (long|large)/i.test(words) && error instanceof RangeError) return tooLarge("It unpacks to too much.");
  if (/memory/i.test(words)) return new DocumentError("document_out_of_memory", "It needs more memory than there is.");
  return unreadable("It is damaged.");
}
