import { describeFault } from "../documents/document-error.ts";
import { loadPdfium } from "../documents/draw-pages.ts";
import { loadOcr, type Ocr } from "../documents/ocr.ts";
import { readScans } from "../documents/read-scans.ts";
import { serveContent, writeMessage } from "./child-output.ts";
import type { DropPrivileges } from "./drop-privileges.ts";
import type { ScanHead } from "./scan-task.ts";

/** Runs a child that reads pages of one document with OCR, writes each as soon as it is read, and exits. */
export async function serveScans(dropPrivileges: DropPrivileges): Promise<never> {
  await loadPdfium();
  const ocr = await loadOcr();
  return serveContent<ScanHead>(dropPrivileges, (bytes, head) => read(bytes, head, ocr).catch(describeFault));
}

async function read(bytes: Uint8Array, head: ScanHead, ocr: Ocr): Promise<null> {
  for await (const [page, paragraphs] of readScans(bytes, head, ocr)) {
    const plain = paragraphs.map((lines) =>
      lines.map(({ text, box }) => ({ text: text.toWellFormed().replaceAll("\0", ""), box })),
    );
    writeMessage("page", [page, plain]);
  }
  return null;
}
