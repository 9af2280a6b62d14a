import { ocrBounds } from "../documents/bounds.ts";
import type { PlacedLine } from "../documents/boxes.ts";
import { type ParseFault, parseFaults } from "../documents/document-error.ts";
import type { Paragraphs } from "../documents/scans.ts";
import { isBox, isCount, isPlain } from "./answer-checks.ts";
import { encodeFrameHeader } from "./frame-header.ts";
import type { Packet } from "./packet.ts";
import type { StopReason, Task } from "./task.ts";

/** Head of a PDF or an image whose pages a child reads with OCR; its bytes follow. */
export interface ScanHead {
  mime_type: string;
  bytes: number;
  /** Page numbers from 1. */
  pages: readonly number[];
}

export interface ScanOrder extends ScanHead {
  /** Iterated when a child reads it. */
  content: Iterable<Uint8Array>;
  /** Called as soon as a page is read. */
  onPage: (page: number, paragraphs: Paragraphs) => void;
}

/** The end of a child that read pages. */
export interface ScanEnd {
  /** A fault of the document itself, for which no page can be read. */
  fault: { code: ParseFault; message: string } | null;
  /** Reason why the child ended before its time. */
  why: StopReason | null;
  /** Processor time that the pages took. */
  computed_ms: number;
}

/** Returns the task of reading pages with OCR. If the child dies, the pages before are read nevertheless. */
export function scanTask({ content, onPage, ...head }: ScanOrder): Task<ScanEnd> {
  const { pages, bytes } = head;
  const open = new Set(pages);
  let fault: ScanEnd["fault"] = null;
  let isWhole = false;
  return {
    timeout_ms: ocrBounds.page_ms * pages.length,
    timed_by: "processor",
    memory_mb: Math.round(400 + 4 * (bytes / 2 ** 20)),
    late_message: "The images of the document could not be read in time.",
    memory_message: "The images of the document need too much memory to be read.",
    output_max_bytes: (pages.length + 1) * ocrBounds.text,
    order: [encodeFrameHeader(head)],
    content,
    content_bytes: bytes,
    onPacket({ kind, payload }: Packet) {
      if (isWhole || payload.length > ocrBounds.text) throw new Error(`${kind} is out of turn, or too long.`);
      const said: unknown = JSON.parse(new TextDecoder().decode(payload) || "null");
      if (kind === "ended") {
        fault = said === null ? null : readFault(Object(said));
        isWhole = true;
      } else if (kind === "page") {
        const [page, paragraphs]: unknown[] = Array.isArray(said) ? said : [];
        if (!isCount(page, Math.max(...pages)) || !open.delete(page)) throw new Error("It is a page of others.");
        onPage(page, readParagraphs(paragraphs));
      } else throw new Error(`${kind} is none of a scan's.`);
    },
    isComplete: () => isWhole,
    outcome: (why, _, computed_ms) => ({ fault, why, computed_ms }),
  };
}

function readFault({ code, message }: Record<string, unknown>): NonNullable<ScanEnd["fault"]> {
  const known = parseFaults.find((candidate) => candidate === code);
  if (!known || typeof message !== "string") throw new Error("The child's error is none.");
  return { code: known, message: message.slice(0, 500) };
}

function readParagraphs(given: unknown): Paragraphs {
  if (!Array.isArray(given)) throw new Error("A page has no paragraphs.");
  return given.map((lines) => {
    if (!Array.isArray(lines)) throw new Error("A paragraph has no lines.");
    return lines.map(readLine);
  });
}

function readLine(given: unknown): PlacedLine {
  const { text, box }: Record<string, unknown> = Object(given);
  if (typeof text !== "string" || !isPlain(text)) throw new Error("A line has no plain text.");
  if (box !== null && !isBox(box)) throw new Error("A line stands nowhere on its page.");
  return { text, box };
}
