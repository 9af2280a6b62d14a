import { documentBounds } from "../documents/bounds.ts";
import { formatOf } from "../documents/formats.ts";
import type { SandboxLevel } from "../wire/names.ts";
import { type Child, performReplacing, startChild } from "./child-process.ts";
import { type DocumentFault, type DocumentOrder, type DocumentOutcome, documentTask } from "./document-task.ts";
import { spareChildren } from "./spare-children.ts";

export type { DocumentFault, DocumentOrder };

interface DocumentReaderOptions {
  /** Asked for each document, so that a server need not wait for its self-test. */
  level: () => SandboxLevel | Promise<SandboxLevel>;
  /** Children that wait with the parsers loaded, once a document was read. */
  spares?: number;
  /** How long they wait. An idle server pays for none. */
  idle_ms?: number;
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
export function createDocumentReader({
  level,
  spares: spareCount = 1,
  idle_ms = 60_000,
}: DocumentReaderOptions): DocumentReader {
  const running = new Set<Child>();
  const spares = spareChildren({ count: spareCount, idle_ms });
  let stopped = false;

  const readNow = async (order: DocumentOrder, strict: boolean, signal: AbortSignal) => {
    const options = { language: "documents", jailed: strict } as const;
    const start = async () => {
      const child = (await spares.take(options)) ?? startChild(options);
      running.add(child);
      void child.gone.then(() => running.delete(child));
      if (stopped) child.kill();
      return child;
    };
    try {
      return await performReplacing(start, () => documentTask(order), signal);
    } finally {
      spares.fill(options);
    }
  };

  return {
    async read(order, signal) {
      const now = await level();
      const refusal = refuse(order, now);
      if (refusal) return { error: refusal };
      return readNow(order, now === "strict", signal);
    },
    stop() {
      stopped = true;
      spares.stop();
      for (const child of running) child.kill();
    },
  };
}

/** What needs no child to be known. */
function refuse({ mime_type, bytes }: DocumentOrder, level: SandboxLevel) {
  const fault = (code: DocumentFault, message: string) => ({ code, message });
  if (level === "off")
    return fault("sandbox_unavailable", "Documents are not read on this server: its sandbox is off.");
  if (formatOf(mime_type) === null) return fault("document_unreadable", "No text is read from files of this type.");
  if (bytes === 0) return fault("document_empty", "The document is empty.");
  if (bytes <= documentBounds.bytes) return null;
  return fault("document_too_large", `The document is larger than ${documentBounds.bytes} bytes.`);
}
