import type { Chunking } from "../../domain/chunking.ts";
import { bytesFor, pageTokens } from "../../domain/context-size.ts";
import { imageTypes } from "../../domain/image-types.ts";
import { limits } from "../../domain/limits.ts";
import type { AttachedDocument } from "../../domain/run-event.ts";
import type { Scope, ScopeColumns } from "../../domain/scope.ts";
import { truncationNotice } from "../../domain/truncate-middle.ts";
import { pageImageBounds } from "../../runtime/documents/bounds.ts";
import { joinChunk } from "../../runtime/documents/join-chunks.ts";
import { nativePagesMost } from "../../runtime/models/input-kinds.ts";
import type { Db } from "../../storage/db/open.ts";

interface Row {
  id: string;
  filename: string;
  mime_type: string;
  sha256: string;
  bytes: number;
  purpose: string;
  status: string;
  error: string | null;
  chunks: number;
  chunking: string | null;
}

/**
 * Files that a run requests, the most text it takes, whether its model accepts images and PDFs, and which PDFs it sees as
 * images of their pages.
 */
interface AttachmentOrder {
  file_ids: readonly string[];
  max_bytes: number;
  images: boolean;
  pdf?: boolean;
  page_images?: { of: "all" | "without_text"; most: number };
}

/** Room that is left in the prompt. */
interface Room {
  /** Bytes of PDFs as they are, by their tokens. */
  bytes: number;
  /** Bytes of pages as images, by their tokens, beside all texts. */
  pageBytes: number;
  /** Images of any kind. */
  images: number;
}

/** Largest PDF that providers take: it has to fit into a request in base64. */
const nativeBytesMost = 10 * 1024 * 1024;
// For a PDF without text; scans have more bytes per page.
const bytesPerPage = 100 * 1024;

// Milliseconds that a run waits for files that are still being processed.
const wait_ms = 60_000;
const texts = new Set([
  "application/json",
  "application/jsonl",
  "application/xml",
  "application/yaml",
  "image/svg+xml",
]);

/** Provides the content of a run's files for its model. */
export function createAttachments({
  db,
  read,
  draw = async () => 0,
  max_wait_ms = wait_ms,
  now = Date.now,
}: {
  db: Db;
  /** Reads the beginning of a file; null if the file is gone. */
  read(scope: Scope, id: string, length: number): Uint8Array | null;
  /** Draws the first pages of a PDF, and returns the number of images. */
  draw?(scope: Scope, id: string, count: number): Promise<number>;
  max_wait_ms?: number;
  now?: () => number;
}) {
  const scope = "project_id = $project_id AND environment = $environment";
  type Key = ScopeColumns & { id: string };
  const select = db.sqlite.query<Row, Key & { now: number }>(
    `SELECT id, filename, mime_type, sha256, bytes, purpose, status, error, chunks, chunking FROM files
     WHERE ${scope} AND id = $id AND (expires_at_ms IS NULL OR expires_at_ms > $now)`,
  );
  const selectSize = db.sqlite.query<{ size: number }, Key>(
    `SELECT coalesce(sum(octet_length(text) + 2), 0) AS size FROM document_chunks WHERE ${scope} AND file_id = $id`,
  );
  const selectPages = db.sqlite.query<{ pages: number | null }, Key>(
    `SELECT max(page) AS pages FROM document_chunks WHERE ${scope} AND file_id = $id`,
  );
  const selectChunk = db.sqlite.query<{ text: string }, Key & { index: number }>(
    `SELECT text FROM document_chunks WHERE ${scope} AND file_id = $id AND chunk_index = $index`,
  );
  const find = ({ project_id, environment }: Scope, id: string) =>
    select.get({ project_id, environment, id, now: now() });

  let next = Promise.withResolvers<void>();

  /** Waits until none of these files is being processed, or the wait times out. */
  async function settle(scope: Scope, ids: readonly string[]): Promise<void> {
    if (!ids.some((id) => isBeingRead(find(scope, id)))) return;
    let isLate = false;
    const late = Promise.withResolvers<void>();
    const timer = setTimeout(() => {
      isLate = true;
      late.resolve();
    }, max_wait_ms);
    while (!isLate && ids.some((id) => isBeingRead(find(scope, id)))) await Promise.race([next.promise, late.promise]);
    clearTimeout(timer);
  }

  /** Upper bound of the text's bytes: chunks overlap, or are separated by an empty line. */
  function sizeOf({ project_id, environment }: Scope, { id, ...row }: Row): number {
    if (row.chunks === 0) return isText(row) ? row.bytes : 0;
    return selectSize.get({ project_id, environment, id })?.size ?? 0;
  }

  /** Text of a document up to a limit, which the last chunk may exceed. */
  function textOf(scope: Scope, row: Row, maxBytes: number): string {
    if (row.chunks === 0) return new TextDecoder().decode(read(scope, row.id, maxBytes + 4) ?? new Uint8Array());
    const { project_id, environment } = scope;
    let text = "";
    for (let index = 0; index < row.chunks && text.length <= maxBytes; index++) {
      const chunk = selectChunk.get({ project_id, environment, id: row.id, index });
      text = joinChunk(text, chunk?.text ?? "", overlapOf(row));
    }
    return text;
  }

  async function attach(
    scope: Scope,
    row: Row,
    order: AttachmentOrder,
    share: number,
    room: Room,
  ): Promise<AttachedDocument> {
    const { id: file_id, filename, mime_type, sha256 } = row;
    const about = { file_id, filename, mime_type, sha256, image: false };
    const note = reasonAgainst(row, order.images);
    const pages = order.pdf === true && mayBeNative(row) ? pagesOf(scope, row) : 0;
    const size = bytesFor(pages * pageTokens);
    if (pages > 0 && pages <= nativePagesMost && size <= room.bytes) {
      room.bytes -= size;
      return {
        ...about,
        text: note === null ? givenText(textOf(scope, row, share), share).text : null,
        note: null,
        native: true,
        pages,
      };
    }
    if (note === null && imageTypes.has(mime_type)) return { ...about, text: null, image: true, note: null };
    const given = note === null ? givenText(textOf(scope, row, share), share) : { text: null, note };
    return { ...about, ...given, ...(await shownPages(scope, row, order, given.note, room)) };
  }

  /** Draws the first pages of a PDF, if the model sees them. Returns their number, with a note on the pages left out. */
  async function shownPages(scope: Scope, row: Row, { page_images }: AttachmentOrder, note: string | null, room: Room) {
    const isWanted = page_images?.of === "all" || (page_images && reasonAgainst(row, true) !== null);
    if (!isWanted || !isReadablePdf(row)) return {};
    const known = knownPages(scope, row);
    const fitting = Math.floor(room.pageBytes / bytesFor(pageTokens));
    const most = Math.min(known ?? pageImageBounds.pages, pageImageBounds.pages, room.images, fitting);
    const count = most > 0 ? await draw(scope, row.id, most) : 0;
    room.pageBytes -= bytesFor(count * pageTokens);
    room.images -= count;
    const pages = known ?? (count < most ? count : Math.max(count, pagesOf(scope, row)));
    const left = count < pages ? `${count === 0 ? "None" : `Only the first ${count}`} of its ${pages} pages` : null;
    const notes = [note, left && `${left} can be shown as images`].filter((one) => one !== null);
    if (count === 0) return { note: notes.join(". ") || null };
    return { note: notes.join(". ") || null, page_images: count, pages };
  }

  /** Number of pages of a PDF up to the last one that has text; null if none has. */
  const knownPages = ({ project_id, environment }: Scope, { id }: Row): number | null =>
    selectPages.get({ project_id, environment, id })?.pages ?? null;

  /** Number of pages of a PDF; estimated if its text has none. */
  const pagesOf = (scope: Scope, row: Row): number => knownPages(scope, row) ?? Math.ceil(row.bytes / bytesPerPage);

  return {
    /** Wakes waiting runs. Call when a file was processed, failed, or was deleted. */
    wake(): void {
      next.resolve();
      next = Promise.withResolvers();
    },
    /** Returns the files in the run's order. A file that cannot be given is listed with the reason. */
    async of(scope: Scope, order: AttachmentOrder): Promise<AttachedDocument[]> {
      await settle(scope, order.file_ids);
      const rows = order.file_ids.map((id) => find(scope, id) ?? missingRow(id));
      const needs = rows.map((row) => (reasonAgainst(row, order.images) === null ? sizeOf(scope, row) : 0));
      const shares = fairShares(needs, order.max_bytes);
      const room = {
        bytes: order.max_bytes,
        pageBytes: order.max_bytes - shares.reduce((sum, share) => sum + share, 0),
        images: (order.page_images?.most ?? 0) - rows.filter(({ mime_type }) => imageTypes.has(mime_type)).length,
      };
      const attached: AttachedDocument[] = [];
      for (const [index, row] of rows.entries())
        attached.push(await attach(scope, row, order, shares[index] ?? 0, room));
      return attached;
    },
  };
}

// A file that has chunks may still wait for its memory stores or have failed there; only its text matters here.
const unreadStatuses = ["uploaded", "processing"];

const isBeingRead = (row: Row | null): boolean =>
  row !== null && row.chunks === 0 && row.purpose !== "code_interpreter" && unreadStatuses.includes(row.status);

const unreadable = ["document_unreadable", "document_encrypted", "document_too_large", "document_out_of_memory"];

/** True if providers may take the PDF itself. */
const mayBeNative = (row: Row): boolean => row.bytes <= nativeBytesMost && isReadablePdf(row);

/** True if a PDF can be opened. One without text may still have pictures. */
const isReadablePdf = ({ mime_type, status, purpose, error }: Row): boolean =>
  mime_type === "application/pdf" &&
  purpose !== "code_interpreter" &&
  status !== "deleted" &&
  !(status === "failed" && unreadable.includes(faultOf(error).code ?? ""));

/** Returns the beginning of a text, with a note if that is not all of it. */
function givenText(full: string, share: number): Pick<AttachedDocument, "text" | "note"> {
  const text = cutText(full, share);
  const cut = `Only the first ${share} bytes of its text are given here; the rest did not fit`;
  return { text, note: text === full ? null : cut };
}

/** Returns the beginning of a text within so many bytes. */
function cutText(text: string, most: number): string {
  const bytes = new TextEncoder().encode(text);
  return bytes.length <= most ? text : truncationNotice(bytes.subarray(0, most));
}

const isText = ({ mime_type }: Pick<Row, "mime_type">): boolean =>
  mime_type.startsWith("text/") || texts.has(mime_type);

/** Most characters that a chunk may repeat of the previous one: a token has about four, and in no language eight. */
function overlapOf({ chunking }: Row): number {
  const { chunk_overlap_tokens = 200 } = chunking === null ? {} : (JSON.parse(chunking) as Partial<Chunking>);
  return chunk_overlap_tokens * 8;
}

const missingRow = (id: string): Row => ({
  id,
  filename: "",
  mime_type: "",
  sha256: "",
  bytes: 0,
  purpose: "attachment",
  status: "deleted",
  error: null,
  chunks: 0,
  chunking: null,
});

/** Returns the reason why a file's content is withheld from the model, or null. */
function reasonAgainst(row: Row, seesImages: boolean): string | null {
  const { purpose, status, error, mime_type, bytes, chunks } = row;
  if (status === "deleted") return "It was deleted";
  if (purpose === "code_interpreter") return "Only code tools can read it";
  if (status === "failed" && chunks === 0) return `It could not be read: ${messageOf(error)}`;
  if (isBeingRead(row)) return "It is still being read; its text is not ready";
  if (imageTypes.has(mime_type)) {
    if (!seesImages) return "The model cannot see images";
    return bytes > limits.image_bytes ? `The image is larger than ${limits.image_bytes} bytes` : null;
  }
  return chunks > 0 || isText(row) ? null : "Files of this type are not put before the model";
}

const messageOf = (error: string | null): string => faultOf(error).message ?? "the reason is unknown";

const faultOf = (error: string | null): { code?: string; message?: string } =>
  error === null ? {} : JSON.parse(error);

/** Max-min fair shares of a total: small needs are met in full, larger ones share the rest. */
export function fairShares(needs: readonly number[], total: number): number[] {
  const shares: number[] = needs.map(() => 0);
  const ascending = needs.map((need, index) => ({ need, index })).sort((a, b) => a.need - b.need);
  let left = total;
  ascending.forEach(({ need, index }, position) => {
    const share = Math.min(need, Math.floor(left / (needs.length - position)));
    shares[index] = share;
    left -= share;
  });
  return shares;
}
