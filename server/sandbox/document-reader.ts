import { documentBounds } from "../documents/bounds.ts";
import { formatOf } from "../documents/formats.ts";
import type { SandboxLevel } from "../wire/names.ts";
import { createChildren, type Spares } from "./children.ts";
import {
  type DocumentFault,
  type DocumentOrder,
  type DocumentOutcome,
  documentTask,
  scanned,
  scanTask,
} from "./document-task.ts";

export type { DocumentFault, DocumentOrder };

interface DocumentReaderOptions extends Spares {
  /** Asked for each document, so that a server need not wait for its self-test. */
  level: () => SandboxLevel | Promise<SandboxLevel>;
}

export interface DocumentReader {
  /** Throws only for the signal. */
  read(order: DocumentOrder, signal: AbortSignal): Promise<DocumentOutcome>;
  /** Ends all children, also those that read. */
  stop(): void;
}

/**
 * Reads each document in a fresh child process, which is never used again: parsers fall for what they are given. How many
 * at a time is for the caller to say.
 */
export function createDocumentReader({ level, spares = 1, idle_ms }: DocumentReaderOptions): DocumentReader {
  const children = createChildren({ spares, idle_ms });
  return {
    async read(order, signal) {
      const now = await level();
      const refusal = refuse(order, now);
      if (refusal) return { error: refusal };
      const jailed = now === "strict";
      const format = formatOf(order.mime_type);
      if (format !== "image") {
        const language = format === "pdf" ? "pdfs" : "documents";
        const outcome = await children.perform({ language, jailed }, () => documentTask(order), signal);
        if (outcome !== scanned) return outcome;
      }
      return children.perform({ language: "scans", jailed }, () => scanTask(order), signal);
    },
    stop: children.stop,
  };
}

/** What needs no child to be known. */
function refuse({ mime_type, bytes }: DocumentOrder, level: SandboxLevel) {
  const fault = (code: DocumentFault, message: string) => ({ code, message });
  if (level === "off")
    return fault("sandbox_unavailable", "Documents cannot be read on this server: its sandbox is off.");
  if (formatOf(mime_type) === null) return fault("document_unreadable", "Text cannot be read from files of this type.");
  if (bytes === 0) return fault("document_empty", "The document is empty.");
  if (bytes <= documentBounds.bytes) return null;
  return fault("document_too_large", `The document is larger than ${documentBounds.bytes} bytes.`);
}
