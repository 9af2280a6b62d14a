import type { DocumentReport } from "../../domain/document-report.ts";
import { isCompiled } from "../../lib/assets.ts";
import { documentBounds } from "../documents/bounds.ts";
import { type Count, chunkSections } from "../documents/chunking.ts";
import { loadTokenCounter } from "../documents/count-tokens.ts";
import { detector } from "../documents/detect-encoding.ts";
import { DocumentError, OcrRequired, type ParseFault, PdfRequired, tooLarge } from "../documents/document-error.ts";
import type { Ocr } from "../documents/ocr.ts";
import { parse } from "../documents/parse.ts";
import type { ParseOptions } from "../documents/parse-options.ts";
import { loadPdf } from "../documents/parse-pdf.ts";
import { createBatches, serveContent } from "./child-output.ts";
import { type DocumentHead, needsOcr, needsPdf } from "./document-task.ts";
import type { DropPrivileges } from "./drop-privileges.ts";

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
  return serveContent<DocumentHead>(dropPrivileges, (bytes, head) =>
    read(bytes, head, countTokens, means).catch(fault),
  );
}

/** Like serveDocument, for PDFs and images, whose parser is as large as all others together. */
export async function servePdf(dropPrivileges: DropPrivileges, ocr: Ocr | null = null): Promise<never> {
  await loadPdf();
  return serveDocument(dropPrivileges, { ocr, hasPdf: true });
}

interface DocumentEnd {
  error: { code: ParseFault; message: string } | typeof needsOcr | typeof needsPdf | null;
  pages: number | null;
  report: DocumentReport | null;
}

async function read(
  bytes: Uint8Array,
  { mime_type, chunking, encoding, include_hidden, attachments = true }: DocumentHead,
  countTokens: Count,
  means: Means,
): Promise<DocumentEnd> {
  const options = { encoding, includeHidden: include_hidden, attachments, ...means };
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

function fault(error: unknown): DocumentEnd {
  if (error instanceof OcrRequired) return { error: needsOcr, pages: null, report: null };
  if (error instanceof PdfRequired) return { error: needsPdf, pages: null, report: null };
  const known = error instanceof DocumentError ? error : new DocumentError("document_unreadable", "It is damaged.");
  const message = known.message.slice(0, documentBounds.message);
  return { error: { code: known.code, message }, pages: null, report: null };
}
