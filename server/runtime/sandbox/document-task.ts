import type { Chunking } from "../../domain/chunking.ts";
import { type DocumentReport, type DocumentWarning, warningCodes } from "../../domain/document-report.ts";
import { documentBounds, ocrBounds } from "../documents/bounds.ts";
import type { DocumentChunk } from "../documents/chunking.ts";
import { type ParseFault, parseFaults } from "../documents/document-error.ts";
import type { PagesDone } from "../documents/pages-done.ts";
import { encodeScans, type Scans } from "../documents/scans.ts";
import { warningBounds } from "../documents/warnings.ts";
import { isBoxes, isCount, isPlain } from "./answer-checks.ts";
import { encodeFrameHeader } from "./frame-header.ts";
import type { Packet } from "./packet.ts";
import type { StopReason, Task } from "./task.ts";

/** Head of a document sent to a child; its bytes follow. */
export interface DocumentHead {
  mime_type: string;
  bytes: number;
  chunking: Chunking;
  /** Encoding that the upload names; null if it is detected. */
  encoding: string | null;
  include_hidden: boolean;
  /** False if attachments are only named, because reading them failed before. */
  attachments?: boolean;
}

/** Head for a child: after the document follow this many bytes of what OCR has read; 0 if OCR has not run. */
export type DocumentChildHead = DocumentHead & { scans_bytes: number };

export interface DocumentOrder extends DocumentHead {
  /** Iterated when a child reads it, each time from the start: again for each child that is asked for. */
  content: Iterable<Uint8Array>;
}

export type DocumentFault = ParseFault | "document_timeout" | "sandbox_unavailable" | "sandbox_failed";

/** Word in the answer of a child if other children must read pages with OCR first. */
export const needsOcr = "scanned";

/** Pages that must be read with OCR, by number from 1, and the number of all pages. */
export interface OcrNeed {
  scans: number[];
  pages: number;
}

/** Answer of a child without OCR if the text is in images of a part: a child with OCR must read the document. */
export const needsPartOcr = "scanned-parts";

/** Answer of a child without a PDF reader if a PDF is attached: a child with one must read the document. */
export const needsPdf = "pdf";

/** Means that a document needs and the child does not have. */
type DocumentNeed = OcrNeed | typeof needsPartOcr | typeof needsPdf;

export type DocumentOutcome =
  | { chunks: DocumentChunk[]; pages: number | null; report: DocumentReport }
  | { error: { code: DocumentFault; message: string } };

const codes = {
  late: "document_timeout",
  memory: "document_out_of_memory",
  failed: "sandbox_failed",
  ended: "sandbox_failed",
} as const;

/** Limit of text including overlaps, which are less than half of a chunk. */
const chunkedTextLimit = 2 * documentBounds.text;
/**
 * Limit of the JSON answer. JSON may escape a character in six bytes, but texts of only such characters do not occur.
 */
const said_max = 2 * chunkedTextLimit + 2 ** 20;

const ignorePages: PagesDone = () => {};

const noScans = new Uint8Array();

/** Returns the task of reading a document, unless it needs OCR or a PDF reader. */
export const documentTask = (
  order: DocumentOrder,
  onPages: PagesDone = ignorePages,
): Task<DocumentOutcome | DocumentNeed> => taskOf(order, { scans: noScans, onPages });

/** Returns the task of reading a document whose images OCR has read. */
export const scannedTask = (order: DocumentOrder, scans: Scans): Task<DocumentOutcome> =>
  lastOf(taskOf(order, { scans: encodeScans(scans) }));

/**
 * Returns the task of reading a document and the images in its parts, which takes seconds per page; no page is started
 * after {@link ocrBounds}`.time_ms`.
 */
export const scannedPartsTask = (order: DocumentOrder): Task<DocumentOutcome> =>
  lastOf(taskOf(order, { least_ms: ocrBounds.time_ms + 120_000 }));

/** Returns the task of a child that has all means, so that no other child is asked after it. */
function lastOf(task: Task<DocumentOutcome | DocumentNeed>): Task<DocumentOutcome> {
  const outcome = (...end: Parameters<typeof task.outcome>): DocumentOutcome => {
    const said = task.outcome(...end);
    return isNeed(said) ? failed(null) : said;
  };
  return { ...task, outcome };
}

const isNeed = (said: object | string): said is DocumentNeed => typeof said === "string" || "scans" in said;

/** Returns the outcome of a child that gave no answer. */
export const failed = (why: StopReason | null) => ({
  error: { code: codes[why?.kind ?? "failed"], message: why?.message ?? "The sandbox's process returned no result." },
});

interface TaskMeans {
  /** Pages that OCR has read, if it has. */
  scans?: Uint8Array;
  onPages?: PagesDone;
  least_ms?: number;
}

/** Larger documents get more time and memory. */
function taskOf(
  { content, ...head }: DocumentOrder,
  { scans = noScans, onPages = ignorePages, least_ms = 30_000 }: TaskMeans,
): Task<DocumentOutcome | DocumentNeed> {
  const { bytes, chunking } = head;
  const answer = openDocumentAnswer(chunking, onPages);
  const megabytes = bytes / 2 ** 20;
  const timeout_ms = Math.max(least_ms, Math.round(Math.min(120_000, 30_000 + 2000 * megabytes)));
  const memory_mb = Math.round(400 + 4 * megabytes);
  return {
    timeout_ms,
    timed_by: "processor",
    memory_mb,
    late_message: `The document could not be read within ${Math.round(timeout_ms / 1000)} seconds.`,
    memory_message: `The document needs more than ${memory_mb} MB of memory to be read.`,
    output_max_bytes: said_max,
    order: [encodeFrameHeader({ ...head, scans_bytes: scans.length } satisfies DocumentChildHead)],
    content: joined(content, scans),
    content_bytes: bytes + scans.length,
    onPacket: answer.hear,
    isComplete: answer.isWhole,
    outcome: (why: StopReason | null) => (why === null && answer.said()) || failed(why),
  };
}

function* joined(content: Iterable<Uint8Array>, rest: Uint8Array): Generator<Uint8Array> {
  yield* content;
  if (rest.length > 0) yield rest;
}

const packetLimit = 4 * 2 ** 20;

/**
 * Collects the answer of a child. It is untrusted: a hostile document may have taken over the child through its parser.
 */
function openDocumentAnswer({ max_chunk_size_tokens }: Chunking, onPages: PagesDone) {
  const hearProgress = openProgress(onPages);
  const chunks: DocumentChunk[] = [];
  let size = 0;
  let end: End | null = null;

  const take = (given: unknown) => {
    const chunk = readChunk(given, max_chunk_size_tokens);
    size += Buffer.byteLength(chunk.text);
    if (chunks.length >= documentBounds.chunks || size > chunkedTextLimit) throw new Error("The chunks are too many.");
    chunks.push(chunk);
  };
  return {
    /** Throws if the packet is not valid at this point. */
    hear({ kind, payload }: Packet): void {
      if (end !== null || payload.length > packetLimit) throw new Error(`${kind} is out of turn, or too long.`);
      const said: unknown = JSON.parse(new TextDecoder().decode(payload) || "null");
      if (kind === "ended") end = readEnd(Object(said));
      else if (kind === "progress") hearProgress(said);
      else if (kind === "chunks" && Array.isArray(said)) said.forEach(take);
      else throw new Error(`${kind} is none of a document's.`);
    },
    isWhole: (): boolean => end !== null,
    /** Returns null if the child has not answered. */
    said(): DocumentOutcome | DocumentNeed | null {
      if (end === null || isNeed(end)) return end;
      return "error" in end ? { error: end.error } : { chunks, ...end };
    },
  };
}

/** Returns a function that checks and passes on the progress. It only rises, so that a child sends no more than pages. */
function openProgress(onPages: PagesDone): (said: unknown) => void {
  let [before, all]: [number, number | null] = [0, null];
  return (said) => {
    const [done, pages]: unknown[] = Array.isArray(said) ? said : [];
    if (!isCount(pages, documentBounds.pages) || pages !== (all ?? pages))
      throw new Error("The pages are not a count.");
    if (!isCount(done, pages) || done <= before) throw new Error("The pages that are done are none.");
    [before, all] = [done, pages];
    onPages(done, pages);
  };
}

type End =
  | DocumentNeed
  | { error: { code: ParseFault; message: string } }
  | { pages: number | null; report: DocumentReport };

function readChunk(given: unknown, most: number): DocumentChunk {
  const [text, tokens, page, heading, boxes = null, source = null]: unknown[] = Array.isArray(given) ? given : [];
  if (typeof text !== "string" || text.trim() === "" || !isPlain(text)) throw new Error("A chunk has no plain text.");
  if (!isCount(tokens, most)) throw new Error("A chunk is too long.");
  if (page !== null && !isCount(page, documentBounds.pages)) throw new Error("A chunk is on no page.");
  if (heading !== null && !isHeading(heading)) throw new Error("A chunk has no plain heading.");
  if (boxes !== null && !isBoxes(boxes)) throw new Error("A chunk stands nowhere on its page.");
  if (source !== null && source !== "ocr") throw new Error("A chunk is from nowhere.");
  return { text, tokens, page, heading, ...(boxes && { boxes }), ...(source && { source }) };
}

function readEnd({ error, pages, report, scans }: Record<string, unknown>): End {
  if (error === needsPartOcr || error === needsPdf) return error;
  if (error === needsOcr) return readNeed(pages, scans);
  if (pages !== null && !isCount(pages, documentBounds.pages)) throw new Error("The pages are too many.");
  if (error === null) return { pages, report: readReport(Object(report)) };
  const { code, message }: Record<string, unknown> = Object(error);
  const known = parseFaults.find((candidate) => candidate === code);
  if (!known || typeof message !== "string") throw new Error("The child's error is none.");
  return { error: { code: known, message: message.slice(0, documentBounds.message) } };
}

function readNeed(pages: unknown, scans: unknown): OcrNeed {
  if (!isCount(pages, documentBounds.pages)) throw new Error("The pages are too many.");
  if (!Array.isArray(scans) || scans.length === 0) throw new Error("No page needs OCR.");
  // They rise, so that there is none twice.
  if (!scans.every((page, at) => isCount(page, pages) && (at === 0 || page > scans[at - 1])))
    throw new Error("A page for OCR is none.");
  return { scans, pages };
}

function readReport({ characters, encoding, warnings }: Record<string, unknown>): DocumentReport {
  if (!isCount(characters, chunkedTextLimit)) throw new Error("The characters are too many.");
  if (encoding !== null && !isEncoding(encoding)) throw new Error("The encoding is none.");
  if (!Array.isArray(warnings) || warnings.length > warningBounds.count) throw new Error("The warnings are too many.");
  return { characters, encoding, warnings: warnings.map((given) => readWarning(Object(given))) };
}

function readWarning({ code, message, page }: Record<string, unknown>): DocumentWarning {
  const known = warningCodes.find((candidate) => candidate === code);
  if (!known) throw new Error("A warning has no known code.");
  if (typeof message !== "string" || message.length > warningBounds.message || !isPlain(message))
    throw new Error("A warning has no plain message.");
  if (page !== null && !isCount(page, documentBounds.pages)) throw new Error("A warning is on no page.");
  return { code: known, message, page };
}

const isEncoding = (value: unknown): value is string => typeof value === "string" && /^[\w.:-]{1,40}$/.test(value);

const isHeading = (value: unknown): value is string =>
  typeof value === "string" && value !== "" && value.length <= documentBounds.heading && isPlain(value);
