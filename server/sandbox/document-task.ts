import type { Chunking, DocumentChunk } from "../documents/chunking.ts";
import type { ParseFault } from "../documents/document-error.ts";
import { chunkedTextLimit, openDocumentAnswer } from "./document-answer.ts";
import { encodeHead } from "./head.ts";
import type { Task } from "./task.ts";

/** What a child is told of a document; its bytes come behind it. */
export interface DocumentHead {
  mime_type: string;
  bytes: number;
  chunking: Chunking;
}

export interface DocumentOrder extends DocumentHead {
  /** Taken once, and not before somebody reads it. */
  content: Iterable<Uint8Array>;
}

export type DocumentFault = ParseFault | "document_timeout" | "sandbox_unavailable" | "sandbox_failed";

export type DocumentOutcome =
  | { chunks: DocumentChunk[]; pages: number | null }
  | { error: { code: DocumentFault; message: string } };

const codes = { late: "document_timeout", memory: "document_out_of_memory", failed: "sandbox_failed" } as const;

/** Escapes of JSON make a character at most six times as long; a text of nothing else is none that we would say. */
const said_max = 2 * chunkedTextLimit + 2 ** 20;

/** A document as a child's task. A large one has more time, and more room. */
export function documentTask({ mime_type, bytes, chunking, content }: DocumentOrder): Task<DocumentOutcome> {
  const answer = openDocumentAnswer(chunking);
  const megabytes = bytes / 2 ** 20;
  const timeout_ms = Math.round(Math.min(120_000, 30_000 + 2000 * megabytes));
  const memory_mb = Math.round(400 + 4 * megabytes);
  return {
    timeout_ms,
    memory_mb,
    late_message: `The document could not be read within ${Math.round(timeout_ms / 1000)} seconds.`,
    memory_message: `The document needs more than ${memory_mb} MB of memory to be read.`,
    said_max,
    order: [encodeHead({ mime_type, bytes, chunking })],
    content,
    content_bytes: bytes,
    hear: answer.hear,
    isWhole: answer.isWhole,
    outcome: (why) =>
      (why === null && answer.said()) || {
        error: { code: codes[why?.kind ?? "failed"], message: why?.message ?? "The child gave no answer." },
      },
  };
}
