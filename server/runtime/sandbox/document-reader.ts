import type { SandboxLevel } from "../../domain/api-types/enums.ts";
import { documentBounds } from "../documents/bounds.ts";
import { formatOf } from "../documents/formats.ts";
import type { PagesDone } from "../documents/pages-done.ts";
import { createChildren, type Spares } from "./children.ts";
import {
  type DocumentFault,
  type DocumentOrder,
  type DocumentOutcome,
  documentTask,
  failed,
  needsPartOcr,
  needsPdf,
  scannedPartsTask,
  scannedTask,
} from "./document-task.ts";
import { type PageImages, type PagesOrder, pagesTask } from "./pages-task.ts";

import { readInBatches } from "./scan-batches.ts";
import { type ScanOrder, scanTask } from "./scan-task.ts";

export type { DocumentFault, DocumentOrder };

interface DocumentReaderOptions extends Spares {
  /** Called for each document, so that the server need not wait for the self-test at start. */
  level: () => SandboxLevel | Promise<SandboxLevel>;
}

interface ReadHelp {
  /** Called as pages are done, with rising numbers. */
  onPages?: PagesDone;
  /** Takes room for one more child, and returns a function that gives it back; null if there is none. */
  takeRoom?: () => (() => void) | null;
}

export interface DocumentReader {
  /** Rejects only if the signal is aborted. */
  read(order: DocumentOrder, signal: AbortSignal, help?: ReadHelp): Promise<DocumentOutcome>;
  /** Draws the first pages of a PDF as images. Rejects only if the signal is aborted. */
  draw(order: PagesOrder, signal: AbortSignal): Promise<PageImages>;
  /** Kills all children, also busy ones. */
  stop(): void;
}

/**
 * Reads each document in a fresh child process that is never reused, because a hostile document may exploit a parser.
 * The caller limits concurrency.
 */
export function createDocumentReader({ level, spares = 1, idle_ms }: DocumentReaderOptions): DocumentReader {
  const children = createChildren({ spares, idle_ms });
  /** Reads a document by the smallest child that can. */
  async function readBy(
    order: DocumentOrder,
    jailed: boolean,
    signal: AbortSignal,
    help: Required<ReadHelp>,
  ): Promise<DocumentOutcome> {
    const format = formatOf(order.mime_type);
    const language = format === "pdf" ? "pdfs" : "documents";
    const read = (by: "documents" | "pdfs") =>
      children.perform({ language: by, jailed }, () => documentTask(order, help.onPages), signal);
    let outcome = format === "image" ? { scans: [1], pages: 1 } : await read(language);
    if (outcome === needsPdf) outcome = await read("pdfs");
    if (outcome === needsPdf) return { error: { code: "sandbox_failed", message: "The PDF reader did not start." } };
    if (outcome === needsPartOcr)
      return children.perform({ language: "scanned-parts", jailed }, () => scannedPartsTask(order), signal);
    if (!("scans" in outcome)) return outcome;
    const perform = (batch: Pick<ScanOrder, "pages" | "onPage">) =>
      children.perform({ language: "scans", jailed }, () => scanTask({ ...scanOf(order), ...batch }), signal);
    const scans = await readInBatches(outcome, { perform, ...help, isStopped: children.isStopped });
    if (!("read" in scans)) return scans.fault ? { error: scans.fault } : failed(scans.why);
    return children.perform({ language, jailed }, () => scannedTask(order, scans), signal);
  }

  return {
    async read(order, signal, { onPages = () => {}, takeRoom = () => null } = {}) {
      const now = await level();
      const refusal = refuse(order, now);
      if (refusal) return { error: refusal };
      const jailed = now === "strict";
      const help = { onPages, takeRoom };
      const outcome = await readBy(order, jailed, signal, help);
      // An attachment may not cost the text of its message.
      if (!mayAttach(order) || !("error" in outcome) || !childFaults.has(outcome.error.code)) return outcome;
      return await readBy({ ...order, attachments: false }, jailed, signal, help);
    },
    async draw(order, signal) {
      const now = await level();
      if (now === "off" || order.bytes === 0 || order.bytes > documentBounds.bytes) return [];
      return children.perform({ language: "pages", jailed: now === "strict" }, () => pagesTask(order), signal);
    },
    stop: children.stop,
  };
}

const scanOf = ({ mime_type, bytes, content }: DocumentOrder) => ({ mime_type, bytes, content });

const childFaults: ReadonlySet<DocumentFault> = new Set([
  "document_timeout",
  "document_out_of_memory",
  "sandbox_failed",
  "document_too_large",
]);

const mayAttach = ({ mime_type, attachments = true }: DocumentOrder): boolean =>
  attachments && ["eml", "msg", "tnef", "smime"].includes(formatOf(mime_type) ?? "");

/** Checks that need no child. Returns null if the document may be read. */
function refuse({ mime_type, bytes }: DocumentOrder, level: SandboxLevel) {
  const fault = (code: DocumentFault, message: string) => ({ code, message });
  if (level === "off")
    return fault("sandbox_unavailable", "Documents cannot be read on this server: its sandbox is off.");
  if (formatOf(mime_type) === null) return fault("document_unreadable", "Text cannot be read from files of this type.");
  if (bytes === 0) return fault("document_empty", "The document is empty.");
  if (bytes <= documentBounds.bytes) return null;
  return fault("document_too_large", `The document is larger than ${documentBounds.bytes} bytes.`);
}
