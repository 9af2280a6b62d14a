import type { SQLQueryBindings } from "bun:sqlite";
import { AppError } from "../core/errors.ts";
import { newId } from "../core/ids.ts";
import type { Scope } from "../core/scope.ts";
import type { Author, StoreBase } from "../db/audit.ts";
import type { FileBlobs, StoredContent } from "../db/file-blobs.ts";
import { files } from "../db/schema.ts";
import { type Chunking, chunkingFault, defaultChunking } from "../documents/chunking.ts";
import type { Viewer } from "../http/auth.ts";
import type { Condition } from "../http/condition.ts";
import { invalid } from "../http/errors.ts";
import { fillPage, listPage, type Page, read, toList } from "../http/page.ts";
import type { FileChunk } from "../wire/file.ts";
import type { DocumentChunks } from "./document-chunks.ts";
import type { DocumentWork } from "./document-work.ts";
import { createFileErasure } from "./file-erasure.ts";
import { fitFileName } from "./file-name.ts";
import { createFileRows } from "./file-rows.ts";
import { isDocument, isSearchable, typeOfFile } from "./file-type.ts";
import { createGivenFiles } from "./given-files.ts";
import { createImageUses } from "./image-uses.ts";
import { createNamedFiles, type FileFacts } from "./named-files.ts";
import { createTokenFiles } from "./of-token.ts";
import type { Received } from "./receive.ts";
import { type Indexed, type FileRow as Row, shownFile } from "./row.ts";
import type { CreateFile } from "./schema.ts";
import { createShownImages } from "./shown-images.ts";

/** What memory stores have of files. */
export interface FileMemory {
  of(scope: Scope, id: string): Indexed;
  /** Within a write: the file goes into a store. */
  add(scope: Scope, order: MemoryOrder, expires_at_ms: number | null): void;
  /** Within a write: the file is gone, and with it all that stores have of it. */
  forget(scope: Scope, id: string): void;
  /** Within a write: what failed of it is tried again. Returns how many entries those are. */
  retry(scope: Scope, id: string): number;
}

interface MemoryOrder {
  memory_id: string;
  scope_id: string | null;
  file_id: string;
  chunking: Chunking;
}

export type FileStore = ReturnType<typeof createFileStore>;

export function createFileStore({
  db,
  blobs,
  audit,
  work,
  chunks,
  memory,
  process = () => {},
  removed = () => {},
  announce = () => {},
  announced = () => {},
  now = Date.now,
}: StoreBase & {
  blobs: FileBlobs;
  work: DocumentWork;
  chunks: DocumentChunks;
  memory: FileMemory;
  /** There is a document to read, or something of it to be put into a store. */
  process?: () => void;
  /** A file was deleted. */
  removed?: (id: string) => void;
  /** Within the write that makes an uploaded file ready. */
  announce?: (scope: Scope, file: Record<string, unknown>) => void;
  /** After that write. */
  announced?: () => void;
}) {
  const tokens = createTokenFiles({ db, now });
  const rows = createFileRows({ db, tokens, now });
  const uses = createImageUses({ db });
  const given = createGivenFiles({ db });
  const erasure = createFileErasure({ db, rows, blobs, chunks, memory, now });

  const shown = (row: Row) => shownFile(row, memory.of(row, row.id));

  const note = (author: Author, action: string, { id, filename, purpose, bytes }: Row): void =>
    audit.note(author, action, id, { filename, purpose, bytes });

  const notExpired = (): Condition => ({ sql: "expires_at_ms IS NULL OR expires_at_ms > ?", values: [now()] });

  function putIntoMemory(scope: Scope, row: Row, { memory_id, scope_id }: CreateFile, chunking: Chunking): void {
    if (memory_id === undefined) return;
    try {
      memory.add(scope, { memory_id, scope_id: scope_id ?? null, file_id: row.id, chunking }, row.expires_at_ms);
    } catch (error) {
      if (!(error instanceof AppError) || error.code !== "resource_not_found") throw error;
      throw invalid("memory_id", "There is no such memory store.");
    }
  }

  /** Within a write: returns the ids of those that were there. */
  function eraseAll(scope: Scope, ids: readonly string[]): string[] {
    const there = ids.flatMap((id) => rows.known(scope, id) ?? []);
    for (const row of there) erasure.remove(row);
    return there.map(({ id }) => id);
  }

  return {
    /** Makes a file of what was received, which is closed either way. */
    async create(author: Author & Viewer, input: CreateFile, { upload, head }: Received) {
      try {
        const filename = fitFileName(input.filename);
        const mime_type = typeOfFile(filename, head);
        const sent = tokens.sent(author, input, mime_type);
        const chunking = chunkingOf(input, mime_type);
        const made_ms = now();
        const id = newId("file", made_ms);
        const file = await db.write(() => {
          if (sent) tokens.requireRoom(author, sent, upload.size());
          upload.keep();
          const row = rows.insert(author, {
            id,
            ...upload.content(),
            filename,
            mime_type,
            purpose: input.purpose,
            run_id: null,
            tool_call_id: null,
            status: chunking ? "uploaded" : "ready",
            metadata: input.metadata ?? {},
            expires_at_ms: input.expires_in_seconds === undefined ? null : made_ms + input.expires_in_seconds * 1000,
            created_at_ms: made_ms,
            chunking,
            ...sent,
          });
          if (chunking) putIntoMemory(author, row, input, chunking);
          note(author, "file.created", row);
          if (!chunking) announce(author, shown(row));
          return shown(row);
        });
        announced();
        if (chunking) process();
        return file;
      } finally {
        upload.close();
      }
    },

    get: (viewer: Viewer, id: string) => shown(rows.find(viewer, id)),

    list: (viewer: Viewer, page: Page) =>
      listPage(
        db,
        { table: files, kind: "file", scope: viewer, page, where: [notExpired(), ...madeByAgents(viewer)] },
        shown,
      ),

    /** What is known of a file, and its content. */
    content(viewer: Viewer, id: string): { file: FileFacts; content: StoredContent } {
      const file = rows.find(viewer, id);
      return { file, content: blobs.open(viewer, file.sha256)! };
    },

    async remove(author: Author & Viewer, id: string) {
      const answer = await db.write(() => {
        const row = rows.find(author, id);
        erasure.remove(row);
        note(author, "file.deleted", row);
        return { id, object: "file" as const, deleted: true };
      });
      removed(id);
      erasure.collectSoon();
      return answer;
    },

    /** Within a write: deletes up to so many files that are of a run's user alone. Returns their ids, for `erased`. */
    eraseOfRun: (scope: Scope, runId: string, userId: string, most: number): string[] =>
      eraseAll(scope, given.own(scope, runId, userId, most)),

    /** Within a write: deletes up to so many that somebody has sent, and no run has taken. Returns their ids, for `erased`. */
    eraseWaiting: (scope: Scope, userId: string, most: number): string[] =>
      eraseAll(scope, tokens.waiting(scope, userId, most)),

    /** Within a write: deletes those that nobody holds any more, neither a store nor a run. Returns their ids, for `erased`. */
    eraseUnheld: (scope: Scope, ids: readonly string[]): string[] =>
      eraseAll(
        scope,
        ids.filter((id) => memory.of(scope, id).memory_ids.length === 0 && !given.isGiven(scope, id)),
      ),

    /** After the write that deleted these. */
    erased(ids: readonly string[]): void {
      ids.forEach(removed);
      if (ids.length > 0) erasure.collectSoon();
    },

    /** Tries again what failed: to read it, or to put it into stores. */
    async retry(author: Author & Viewer, id: string) {
      const file = await db.write(() => {
        const row = rows.find(author, id);
        const entries = memory.retry(author, id);
        if (row.status === "failed" && row.chunks === 0) work.demand(row, row.chunking);
        else if (row.status === "failed") work.resume(row);
        else if (entries === 0) throw new AppError("file_not_failed", `The file is ${row.status}.`);
        note(author, "file.retried", row);
        return shown(rows.find(author, id));
      });
      process();
      return file;
    },

    /** The text of a document from a place on. */
    async chunks(viewer: Viewer, id: string, after: string | null, limit: number) {
      rows.find(viewer, id);
      const first = after === null ? 0 : placeAfter(after);
      if (first > 0 && chunks.read(viewer, id, first - 1, 1).length === 0) throw noSuchChunk();
      const parts = read(
        (from: number, most) => chunks.read(viewer, id, from, most),
        first,
        ({ chunk_index }) => chunk_index + 1,
      );
      const { data, has_more } = await fillPage(parts, limit, shownChunk);
      return toList(data, has_more, ({ chunk_index }) => chunk_index.toString());
    },

    ...createNamedFiles({ rows, blobs }),
    projectImages: uses.project,
    projectGiven: given.project,
    imagesOf: createShownImages({ rows, blobs, uses, now }),
    forgetExpired: erasure.forgetExpired,
    idle: erasure.idle,
    stop: erasure.stop,
  };
}

const shownChunk = ({ boxes, source, ...chunk }: ReturnType<DocumentChunks["read"]>[number]): FileChunk => ({
  ...chunk,
  boxes: boxes?.map(([left, top, right, bottom]) => ({ left, top, right, bottom })) ?? null,
  source: source ?? "text",
});

const madeByAgents = ({ agent_ids }: Viewer): Condition[] => {
  const values: SQLQueryBindings[] = [JSON.stringify(agent_ids)];
  return agent_ids ? [{ sql: "agent_id IS NULL OR agent_id IN (SELECT value FROM json_each(?))", values }] : [];
};

/** How a file is to be read; null where its text is of no use. Throws for what cannot be read and should be. */
function chunkingOf({ purpose, memory_id, scope_id, chunking }: CreateFile, type: string): Chunking | null {
  if (scope_id !== undefined && memory_id === undefined)
    throw invalid("scope_id", "Expected with memory_id only: it says whose part of that store is meant.");
  const whole = { ...defaultChunking, ...chunking };
  const broken = chunkingFault(whole);
  if (broken) throw invalid(`chunking.${broken.param}`, broken.message);
  const isSearched = purpose === "retrieval" || memory_id !== undefined;
  if (isSearched && !isSearchable(type))
    throw new AppError(
      "unsupported_file_type",
      `Text of ${type} cannot be searched. ${instead[type] ?? "For another purpose it is taken."}`,
      { param: "file" },
    );
  const isRead = isSearched || (purpose === "attachment" && isDocument(type));
  return isRead ? whole : null;
}

/** What to do with formats that hold text, and that nobody here reads. */
const instead: Record<string, string> = {
  "application/msword": "Save it as DOCX.",
  "application/vnd.ms-excel": "Save it as XLSX.",
  "application/vnd.ms-powerpoint": "Save it as PPTX.",
};

function placeAfter(text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw noSuchChunk();
  return Number(text) + 1;
}

const noSuchChunk = () => new AppError("invalid_cursor", "The cursor is not the chunk_index of anything in this list.");
