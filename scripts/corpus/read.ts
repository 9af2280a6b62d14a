import { readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import type { SandboxLevel } from "../../server/domain/api-types/enums.ts";
import type { DocumentReport } from "../../server/domain/document-report.ts";
import {
  type DocumentError,
  OcrRequired,
  PartOcrRequired,
  PdfRequired,
} from "../../server/runtime/documents/document-error.ts";
import { headBytes, typeOfFile } from "../../server/runtime/documents/file-type.ts";
import { formatOf } from "../../server/runtime/documents/formats.ts";
import { parse } from "../../server/runtime/documents/parse.ts";
import { createChildren } from "../../server/runtime/sandbox/children.ts";
import { documentTask } from "../../server/runtime/sandbox/document-task.ts";

/** Outcome of reading a file as an upload is read. */
export interface Reading {
  /** Text of all chunks with their headings; empty if it is refused. */
  text: string;
  pages: number | null;
  ms: number;
  /** Code of the error, `type` for a type that is not read, or `scan` for images only; null if it was read. */
  refused: string | null;
  message: string;
  /** Codes of the warnings. */
  warnings: string[];
}

/** Without overlap, so that no word is there twice. */
const chunking = { max_chunk_size_tokens: 4096, chunk_overlap_tokens: 0 };

interface Reader {
  /** Images are not read: OCR takes minutes, and no reference has their words. */
  read(path: string): Promise<Reading>;
  stop(): void;
}

/** Reads files in jailed children, as a server does. */
export function createReader(level: SandboxLevel): Reader {
  const children = createChildren({ spares: availableParallelism() });
  const jailed = level === "strict";
  const never = new AbortController().signal;
  return {
    read: (path) =>
      reading(path, async (bytes, mime_type) => {
        const order = {
          mime_type,
          bytes: bytes.length,
          content: pieces(bytes),
          chunking,
          encoding: null,
          // References do not tell hidden text apart.
          include_hidden: true,
        };
        const perform = (language: "pdfs" | "documents", attachments: boolean) =>
          children.perform({ language, jailed }, () => documentTask({ ...order, attachments }), never);
        const outcome = await perform(formatOf(mime_type) === "pdf" ? "pdfs" : "documents", true);
        // Attached PDFs and scans need larger children, and no reference reads them.
        return readingOf(typeof outcome === "string" ? await perform("documents", false) : outcome);
      }),
    stop: children.stop,
  };
}

/**
 * Reads files in this process: thousands in a minute, for a look at a change of a parser. There is no jail, no OCR and no
 * limit of time and memory, and a crash ends the command.
 */
export const inProcessReader: Reader = {
  read: (path) =>
    reading(path, async (bytes, mime_type) => {
      const options = { includeHidden: true, hasPdf: formatOf(mime_type) === "pdf" };
      const parsed = (attachments: boolean) =>
        parse(bytes, mime_type, { ...options, attachments }).then(({ sections, pages, report }) =>
          readingOf({ chunks: sections, pages, report }),
        );
      const isForOther = (error: unknown) => error instanceof PdfRequired || error instanceof PartOcrRequired;
      try {
        return await parsed(true).catch((error) => (isForOther(error) ? parsed(false) : Promise.reject(error)));
      } catch (error) {
        if (error instanceof OcrRequired) return scan;
        const { code, message } = error as DocumentError;
        return { refused: code, message };
      }
    }),
  stop() {},
};

async function reading(
  path: string,
  read: (bytes: Uint8Array, mime_type: string) => Promise<Partial<Reading>>,
): Promise<Reading> {
  const started = performance.now();
  const bytes = new Uint8Array(readFileSync(path));
  const mime_type = typeOfFile(path, bytes.subarray(0, headBytes));
  const format = formatOf(mime_type);
  const isRead = format !== null && format !== "image";
  const outcome = isRead ? await read(bytes, mime_type) : { refused: "type", message: mime_type };
  const ms = performance.now() - started;
  return { text: "", pages: null, refused: null, message: "", warnings: [], ...outcome, ms };
}

/** Pieces of the size in which a server sends a file to a child. */
function pieces(bytes: Uint8Array): Uint8Array[] {
  const size = 256 * 1024;
  return Array.from({ length: Math.ceil(bytes.length / size) }, (_, at) => bytes.subarray(at * size, (at + 1) * size));
}

type Chunk = { text: string; heading: string | null };
type DocumentAnswer =
  | { chunks: readonly Chunk[]; pages: number | null; report: DocumentReport }
  | { error: { code: string; message: string } }
  // Pages that OCR must read, or a word for another child.
  | { scans: readonly number[] }
  | string;

const scan: Partial<Reading> = { refused: "scan", message: "It has images and no text." };

function readingOf(outcome: DocumentAnswer): Partial<Reading> {
  if (typeof outcome === "string" || "scans" in outcome) return scan;
  if ("error" in outcome) return { refused: outcome.error.code, message: outcome.error.message };
  const { chunks, pages, report } = outcome;
  const text = chunks.map((chunk) => chunk.text).join("\n");
  return { text: withHeadings(text, chunks), pages, warnings: report.warnings.map(({ code }) => code) };
}

/** Adds the headings whose text no chunk has: a title without text joins another chunk's path. */
function withHeadings(text: string, chunks: readonly Chunk[]): string {
  const headings = new Set(chunks.flatMap(({ heading }) => heading?.split(" › ") ?? []));
  return [text, ...[...headings].filter((heading) => !text.includes(heading))].join("\n");
}
