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
  needsOcr,
  scanTask,
} from "./document-task.ts";
import { type PageImages, type PagesOrder, pagesTask } from "./pages-task.ts";

export type { DocumentFault, DocumentOrder };

interface DocumentReaderOptions extends Spares {
  /** Called for each document, so that the server need not wait for the self-test at start. */
  level: () => SandboxLevel | Promise<SandboxLevel>;
}

interface ReadHelp {
  /** Called as pages are done, with rising numbers. */
  onPages?: PagesDone;
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
  return {
    async read(order, signal, { onPages } = {}) {
      const now = await level();
      const refusal = refuse(order, now);
      if (refusal) return { error: refusal };
      const jailed = now === "strict";
      const format = formatOf(order.mime_type);
      if (format !== "image") {
        const language = format === "pdf" ? "pdfs" : "documents";
        const outcome = await children.perform({ language, jailed }, () => documentTask(order, onPages), signal);
        if (outcome !== needsOcr) return outcome;
      }
      return children.perform({ language: "scans", jailed }, () => scanTask(order, onPages), signal);
    },
    async draw(order, signal) {
      const now = await level();
      if (now === "off" || order.bytes === 0 || order.bytes > documentBounds.bytes) return [];
      return children.perform({ language: "pages", jailed: now === "strict" }, () => pagesTask(order), signal);
    },
    stop: children.stop,
  };
}

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
