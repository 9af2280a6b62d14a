import type { DocumentReport } from "../../domain/document-report.ts";
import { isCompiled } from "../../lib/assets.ts";
import { documentBounds } from "../documents/bounds.ts";
import { type Count, chunkSections } from "../documents/chunking.ts";
import { loadTokenCounter } from "../documents/count-tokens.ts";
import { detector } from "../documents/detect-encoding.ts";
import {
  describeFault,
  OcrRequired,
  type ParseFault,
  PartOcrRequired,
  PdfRequired,
  tooLarge,
} from "../documents/document-error.ts";
import type { Ocr } from "../documents/ocr.ts";
import type { PagesDone } from "../documents/pages-done.ts";
import { parse } from "../documents/parse.ts";
import type { ParseOptions } from "../documents/parse-options.ts";
import { loadPdf } from "../documents/parse-pdf.ts";
import { decodeScans } from "../documents/scans.ts";
import { createBatches, serveContent, writeMessage } from "./child-output.ts";
import { type DocumentChildHead, needsOcr, needsPartOcr, needsPdf } from "./document-task.ts";
import type { DropPrivileges } from "./drop-privileges.ts";
import { readInput } from "./pipes.ts";

/** Means of a child to read documents. */
type Means = Pick<ParseOptions, "ocr" | "hasPdf">;

/** Runs a child that loads the parsers, reads one document, writes the answer and exits. */
export async function serveDocument(
  dropPrivileges: DropPrivileges,
  means: Means = { ocr: null, hasPdf: false },
): Promise<never> {
  const countTokens = loadTokenCounter();
  // In the jail no source file can be read. The executable has the detector within itself.
  if (!isCompiled) detector();
  return serveContent<DocumentChildHead>(dropPrivileges, (bytes, head) =>
    read(bytes, head, countTokens, means).catch(fault),
  );
}

/** Like serveDocument, for PDFs, whose parser is as large as all others together. With OCR also for parts with images. */
export async function servePdf(dropPrivileges: DropPrivileges, ocr: Ocr | null = null): Promise<never> {
  await loadPdf();
  return serveDocument(dropPrivileges, { ocr, hasPdf: true });
}

interface DocumentEnd {
  error: { code: ParseFault; message: string } | typeof needsOcr | typeof needsPartOcr | typeof needsPdf | null;
  pages: number | null;
  report: DocumentReport | null;
  /** Pages that OCR must read first. */
  scans?: readonly number[];
}

async function read(
  bytes: Uint8Array,
  { mime_type, chunking, encoding, include_hidden, attachments = true, scans_bytes }: DocumentChildHead,
  countTokens: Count,
  means: Means,
): Promise<DocumentEnd> {
  const given = scans_bytes > 0 ? readInput(scans_bytes) : null;
  const scans = given && decodeScans(given);
  const options = { encoding, includeHidden: include_hidden, attachments, scans, onPages: tellPages(), ...means };
  const { sections, pages, report } = await parse(bytes, mime_type, options);
  const chunks = createBatches<readonly unknown[]>("chunks");
  let count = 0;
  for (const { text, tokens, page, heading, boxes = null, source = null } of chunkSections(
    sections,
    chunking,
    countTokens,
  )) {
    if (++count > documentBounds.chunks) {
      throw tooLarge(`The document makes more than ${documentBounds.chunks} chunks of this size.`);
    }
    chunks.add([text, tokens, page, heading, boxes, source], text.length + 30 * (boxes?.length ?? 0));
  }
  chunks.flush();
  return { error: null, pages, report };
}

const betweenProgress_ms = 250;

/** Returns a function that sends the progress, but not that of each page of a long document. */
function tellPages(): PagesDone {
  let [sentAt, sent] = [performance.now(), 0];
  return (done, pages) => {
    const now = performance.now();
    if (done <= sent || now - sentAt < betweenProgress_ms) return;
    [sentAt, sent] = [now, done];
    writeMessage("progress", [done, pages]);
  };
}

function fault(error: unknown): DocumentEnd {
  if (error instanceof OcrRequired) return { error: needsOcr, pages: error.pages, report: null, scans: error.scans };
  if (error instanceof PartOcrRequired) return { error: needsPartOcr, pages: null, report: null };
  if (error instanceof PdfRequired) return { error: needsPdf, pages: null, report: null };
  return { error: describeFault(error), pages: null, report: null };
}
