import type { DocumentReport } from "../../domain/document-report.ts";
import { documentBounds } from "../documents/bounds.ts";
import { type Count, chunkSections } from "../documents/chunking.ts";
import { loadTokenCounter } from "../documents/count-tokens.ts";
import { DocumentError, OcrRequired, type ParseFault, tooLarge } from "../documents/document-error.ts";
import type { Ocr } from "../documents/ocr.ts";
import type { PagesDone } from "../documents/pages-done.ts";
import { parse } from "../documents/parse.ts";
import { loadPdf } from "../documents/parse-pdf.ts";
import { createBatches, serveContent, writeMessage } from "./child-output.ts";
import { type DocumentHead, needsOcr } from "./document-task.ts";
import type { DropPrivileges } from "./drop-privileges.ts";

/** Runs a child that loads the parsers, reads one document, writes the answer and exits. */
export async function serveDocument(dropPrivileges: DropPrivileges, ocr: Ocr | null = null): Promise<never> {
  const countTokens = loadTokenCounter();
  return serveContent<DocumentHead>(dropPrivileges, (bytes, head) => read(bytes, head, countTokens, ocr).catch(fault));
}

/** Like serveDocument, for PDFs and images, whose parser is as large as all others together. */
export async function servePdf(dropPrivileges: DropPrivileges, ocr: Ocr | null = null): Promise<never> {
  await loadPdf();
  return serveDocument(dropPrivileges, ocr);
}

interface DocumentEnd {
  error: { code: ParseFault; message: string } | typeof needsOcr | null;
  pages: number | null;
  report: DocumentReport | null;
}

async function read(
  bytes: Uint8Array,
  { mime_type, chunking, encoding, include_hidden }: DocumentHead,
  countTokens: Count,
  ocr: Ocr | null,
): Promise<DocumentEnd> {
  const options = { encoding, includeHidden: include_hidden, ocr, onPages: tellPages() };
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
  let sentAt = performance.now();
  return (done, pages) => {
    const now = performance.now();
    if (now - sentAt < betweenProgress_ms) return;
    sentAt = now;
    writeMessage("progress", [done, pages]);
  };
}

function fault(error: unknown): DocumentEnd {
  if (error instanceof OcrRequired) return { error: needsOcr, pages: null, report: null };
  const known = error instanceof DocumentError ? error : new DocumentError("document_unreadable", "It is damaged.");
  const message = known.message.slice(0, documentBounds.message);
  return { error: { code: known.code, message }, pages: null, report: null };
}
