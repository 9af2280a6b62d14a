import type { AttachedDocument } from "../core/run-event.ts";
import type { Environment, Scope } from "../core/scope.ts";
import { textOfCut } from "../core/shortened.ts";
import type { Db } from "../db/open.ts";
import type { Chunking } from "../documents/chunking.ts";
import { joinChunk } from "../documents/join-chunks.ts";
import { fairShares } from "./fair-shares.ts";

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

/** What is asked for a run: its files, how much text of them, and whether its model sees images. */
interface AttachmentOrder {
  file_ids: readonly string[];
  max_bytes: number;
  images: boolean;
}

// How long a run waits for files that are still being read.
const wait_ms = 60_000;
export const imageBytesMax = 5 * 1024 * 1024;
export const imageTypes = new Set(["image/png", "image/jpeg", "image/webp", "image/gif"]);
const texts = new Set([
  "application/json",
  "application/jsonl",
  "application/xml",
  "application/yaml",
  "image/svg+xml",
]);

/** What a run's model gets of the run's files. */
export function createAttachments({
  db,
  read,
  max_wait_ms = wait_ms,
  now = Date.now,
}: {
  db: Db;
  /** The beginning of a file; null when it is not there any more. */
  read(scope: Scope, id: string, length: number): Uint8Array | null;
  max_wait_ms?: number;
  now?: () => number;
}) {
  const select = db.sqlite.query<Row, [string, Environment, string, number]>(
    `SELECT id, filename, mime_type, sha256, bytes, purpose, status, error, chunks, chunking FROM files
     WHERE project_id = ? AND environment = ? AND id = ? AND (expires_at_ms IS NULL OR expires_at_ms > ?)`,
  );
  const selectSize = db.sqlite.query<{ size: number }, [string, Environment, string]>(
    `SELECT coalesce(sum(octet_length(text) + 2), 0) AS size FROM document_chunks
     WHERE project_id = ? AND environment = ? AND file_id = ?`,
  );
  const selectChunk = db.sqlite.query<{ text: string }, [string, Environment, string, number]>(
    `SELECT text FROM document_chunks WHERE project_id = ? AND environment = ? AND file_id = ? AND chunk_index = ?`,
  );
  const find = ({ project_id, environment }: Scope, id: string) => select.get(project_id, environment, id, now());

  let next = Promise.withResolvers<void>();

  /** Waits until no file of these is being read any more, as long as it may. */
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

  /** At most so many bytes: pieces overlap, or have an empty line between them. */
  const sizeOf = ({ project_id, environment }: Scope, row: Row): number =>
    row.chunks > 0 ? selectSize.get(project_id, environment, row.id)!.size : isText(row) ? row.bytes : 0;

  /** A document's text up to so many bytes, or a little more. */
  function textOf(scope: Scope, row: Row, most: number): string {
    if (row.chunks === 0) return new TextDecoder().decode(read(scope, row.id, most + 4) ?? new Uint8Array());
    let text = "";
    for (let index = 0; index < row.chunks && text.length <= most; index++)
      text = joinChunk(
        text,
        selectChunk.get(scope.project_id, scope.environment, row.id, index)?.text ?? "",
        overlapOf(row),
      );
    return text;
  }

  function attached(scope: Scope, row: Row, order: AttachmentOrder, share: number): AttachedDocument {
    const { id: file_id, filename, mime_type, sha256 } = row;
    const about = { file_id, filename, mime_type, sha256 };
    const note = reasonAgainst(row, order.images);
    if (note !== null) return { ...about, text: null, image: false, note };
    if (imageTypes.has(mime_type)) return { ...about, text: null, image: true, note: null };
    const whole = textOf(scope, row, share);
    const bytes = new TextEncoder().encode(whole);
    if (bytes.length <= share) return { ...about, text: whole, image: false, note: null };
    const cut = `Only the first ${share} bytes of its text are given here; the rest did not fit`;
    return { ...about, text: textOfCut(bytes.subarray(0, share)), image: false, note: cut };
  }

  return {
    /** To be called when a file was read, could not be, or was deleted. */
    wake(): void {
      next.resolve();
      next = Promise.withResolvers();
    },
    /** The files in the run's order. One that cannot be given is named, with the reason. */
    async of(scope: Scope, order: AttachmentOrder): Promise<AttachedDocument[]> {
      await settle(scope, order.file_ids);
      const rows = order.file_ids.map((id) => find(scope, id) ?? gone(id));
      const needs = rows.map((row) => (reasonAgainst(row, order.images) === null ? sizeOf(scope, row) : 0));
      const shares = fairShares(needs, order.max_bytes);
      return rows.map((row, index) => attached(scope, row, order, shares[index]!));
    },
  };
}

// One that is read already may still wait for its stores, or have failed there: its text is what counts here.
const unread = ["uploaded", "processing"];

const isBeingRead = (row: Row | null): boolean =>
  row !== null && row.chunks === 0 && row.purpose !== "code_interpreter" && unread.includes(row.status);

const isText = ({ mime_type }: Row): boolean => mime_type.startsWith("text/") || texts.has(mime_type);

/** Characters that a piece of the document may repeat: a token has about four, and in no language eight. */
function overlapOf({ chunking }: Row): number {
  const { chunk_overlap_tokens = 200 } = chunking === null ? {} : (JSON.parse(chunking) as Partial<Chunking>);
  return chunk_overlap_tokens * 8;
}

const gone = (id: string): Row => ({
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

/** Why a file's content is not given to the model; null when it is. */
function reasonAgainst(row: Row, seesImages: boolean): string | null {
  const { purpose, status, error, mime_type, bytes, chunks } = row;
  if (status === "deleted") return "It was deleted";
  if (purpose === "code_interpreter") return "Only code tools can read it";
  if (status === "failed" && chunks === 0) return `It could not be read: ${messageOf(error)}`;
  if (isBeingRead(row)) return "It is still being read; its text is not ready";
  if (imageTypes.has(mime_type)) {
    if (!seesImages) return "The model cannot see images";
    return bytes > imageBytesMax ? `The image is larger than ${imageBytesMax} bytes` : null;
  }
  return chunks > 0 || isText(row) ? null : "Files of this type are not put before the model";
}

function messageOf(error: string | null): string {
  const { message = "nobody knows why" } = error === null ? {} : (JSON.parse(error) as { message?: string });
  return message;
}
