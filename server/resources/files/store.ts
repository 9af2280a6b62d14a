import type { SQLQueryBindings } from "bun:sqlite";
import type { FileChunk } from "../../domain/api-types/file.ts";
import { type Chunking, chunkingFault, defaultChunking } from "../../domain/chunking.ts";
import { noSuch } from "../../domain/error-messages.ts";
import { AppError } from "../../domain/errors.ts";
import { newId } from "../../domain/ids.ts";
import type { Scope } from "../../domain/scope.ts";
import type { Viewer } from "../../http/auth.ts";
import { invalid } from "../../http/errors.ts";
import { fillPage, listPage, type Page, readRows, toList } from "../../http/page.ts";
import type { Condition } from "../../http/row-filter.ts";
import { createEgress, type Egress } from "../../lib/egress.ts";
import { encodingNamed } from "../../runtime/documents/code-pages.ts";
import { isDocument, isSearchable, typeOfFile } from "../../runtime/documents/file-type.ts";
import type { Author, StoreBase } from "../../storage/db/audit.ts";
import type { FileBlobs, StoredContent } from "../../storage/db/file-blobs.ts";
import { files } from "../../storage/db/schema.ts";
import { createTokenFiles } from "./client-token-rules.ts";
import type { DocumentChunks } from "./document-chunks.ts";
import type { DocumentWork } from "./document-work.ts";
import { createFileErasure } from "./file-erasure.ts";
import { fitFileName } from "./file-name.ts";
import { createFileRows } from "./file-rows.ts";
import { createImageRefcounts } from "./image-refcounts.ts";
import { createMediaAccess } from "./media-access.ts";
import { createNamedFiles, type FileFacts } from "./named-files.ts";
import { type IndexingProgress, type FileRow as Row, serializeFile } from "./row.ts";
import { createRunAttachments } from "./run-attachments.ts";
import type { CreateFile } from "./schema.ts";
import type { ReceivedFile } from "./upload.ts";

/** Operations of memory stores on files. */
export interface FileMemory {
  of(scope: Scope, id: string): IndexingProgress;
  /** Adds the file to a store. Call inside a write. */
  add(scope: Scope, order: MemoryOrder, expires_at_ms: number | null): void;
  /** Removes the file and its entries from all stores. Call inside a write. */
  forget(scope: Scope, id: string): void;
  /** Retries the file's failed entries and returns their number. Call inside a write. */
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
  publicEgress = createEgress({ allow: [], loopback: false }),
  now = Date.now,
}: StoreBase & {
  /** Fetches what messages name by address. */
  publicEgress?: Egress;
  blobs: FileBlobs;
  work: DocumentWork;
  chunks: DocumentChunks;
  memory: FileMemory;
  /** Called when a document is to be processed or indexed. */
  process?: () => void;
  /** Called when a file was deleted. */
  removed?: (id: string) => void;
  /** Records the event inside the write that makes an uploaded file ready. */
  announce?: (scope: Scope, file: Record<string, unknown>) => void;
  /** Called after that write. */
  announced?: () => void;
}) {
  const tokens = createTokenFiles({ db, now });
  const rows = createFileRows({ db, tokens, now });
  const uses = createImageRefcounts({ db });
  const runAttachments = createRunAttachments({ db });
  const erasure = createFileErasure({ db, rows, blobs, chunks, memory, now });

  const serialize = (row: Row) => serializeFile(row, memory.of(row, row.id));

  const note = (author: Author, action: string, { id, filename, purpose, bytes }: Row): void =>
    audit.note(author, action, id, { filename, purpose, bytes });

  const notExpired = (): Condition => ({ sql: "expires_at_ms IS NULL OR expires_at_ms > ?", values: [now()] });

  function putIntoMemory(scope: Scope, row: Row, { memory_id, scope_id }: CreateFile, chunking: Chunking): void {
    if (memory_id === undefined) return;
    try {
      memory.add(scope, { memory_id, scope_id: scope_id ?? null, file_id: row.id, chunking }, row.expires_at_ms);
    } catch (error) {
      if (!(error instanceof AppError) || error.code !== "resource_not_found") throw error;
      throw invalid("memory_id", noSuch("memory store"));
    }
  }

  /** Erases the files that exist and returns their ids. Call inside a write. */
  function eraseAll(scope: Scope, ids: readonly string[]): string[] {
    const existingRows = ids.flatMap((id) => rows.known(scope, id) ?? []);
    for (const row of existingRows) erasure.remove(row);
    return existingRows.map(({ id }) => id);
  }

  return {
    /** Creates a file from an upload, which is closed in any case. */
    async create(author: Author & Viewer, input: CreateFile, { upload, head }: ReceivedFile) {
      try {
        const filename = fitFileName(input.filename);
        const mime_type = typeOfFile(filename, head, input.encoding !== undefined);
        const uploadFields = tokens.sent(author, input, mime_type);
        const chunking = chunkingOf(input, mime_type);
        const encoding = input.encoding === undefined ? null : encodingOf(input.encoding);
        const made_ms = now();
        const id = newId("file", made_ms);
        const file = await db.write(() => {
          if (uploadFields) tokens.requireRoom(author, uploadFields, upload.size());
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
            encoding,
            include_hidden: input.include_hidden ?? false,
            ...uploadFields,
          });
          if (chunking) putIntoMemory(author, row, input, chunking);
          note(author, "file.created", row);
          if (!chunking) announce(author, serialize(row));
          return serialize(row);
        });
        announced();
        if (chunking) process();
        return file;
      } finally {
        upload.close();
      }
    },

    get: (viewer: Viewer, id: string) => serialize(rows.find(viewer, id)),

    list: (viewer: Viewer, page: Page) =>
      listPage(
        db,
        { table: files, kind: "file", scope: viewer, page, where: [notExpired(), ...madeByAgents(viewer)] },
        serialize,
      ),

    /** Facts about a file, and its content. */
    content(viewer: Viewer, id: string): { file: FileFacts; content: StoredContent } {
      const file = rows.find(viewer, id);
      const content = blobs.open(viewer, file.sha256);
      if (!content) throw new Error("The content of a file is gone.");
      return { file, content };
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

    /** Deletes up to `most` files that only a run's user uses. Returns their ids, for `erased`. Call inside a write. */
    eraseOfRun: (scope: Scope, runId: string, userId: string, most: number): string[] =>
      eraseAll(scope, runAttachments.own(scope, runId, userId, most)),

    /**
     * Deletes up to `most` files that a user sent and no run has taken. Returns their ids, for `erased`. Call inside a
     * write.
     */
    eraseWaiting: (scope: Scope, userId: string, most: number): string[] =>
      eraseAll(scope, tokens.waiting(scope, userId, most)),

    /**
     * Deletes those files that neither a store nor a run uses. Returns their ids, for `erased`. Call inside a write.
     */
    eraseUnheld: (scope: Scope, ids: readonly string[]): string[] =>
      eraseAll(
        scope,
        ids.filter((id) => memory.of(scope, id).memory_ids.length === 0 && !runAttachments.isGiven(scope, id)),
      ),

    /** Call after the write that deleted these files. */
    erased(ids: readonly string[]): void {
      ids.forEach(removed);
      if (ids.length > 0) erasure.collectSoon();
    },

    /** Retries failed processing or indexing. */
    async retry(author: Author & Viewer, id: string) {
      const file = await db.write(() => {
        const row = rows.find(author, id);
        const entries = memory.retry(author, id);
        if (row.status === "failed" && row.chunks === 0) work.demand(row, row.chunking);
        else if (row.status === "failed") work.resume(row);
        else if (entries === 0) throw new AppError("file_not_failed", `The file is ${row.status}.`);
        note(author, "file.retried", row);
        return serialize(rows.find(author, id));
      });
      process();
      return file;
    },

    /** Chunks of a document after a given one. */
    async chunks(viewer: Viewer, id: string, after: string | null, limit: number) {
      rows.find(viewer, id);
      const first = after === null ? 0 : placeAfter(after);
      if (first > 0 && chunks.read(viewer, id, first - 1, 1).length === 0) throw noSuchChunk();
      const parts = readRows(
        (from: number, most) => chunks.read(viewer, id, from, most),
        first,
        ({ chunk_index }) => chunk_index + 1,
      );
      const { data, has_more } = await fillPage(parts, limit, serializeChunk);
      return toList(data, has_more, ({ chunk_index }) => chunk_index.toString());
    },

    ...createNamedFiles({ rows, blobs }),
    projectImages: uses.project,
    projectGiven: runAttachments.project,
    mediaOf: createMediaAccess({ rows, blobs, uses, egress: publicEgress, process, now }),
    forgetExpired: erasure.forgetExpired,
    idle: erasure.idle,
    stop: erasure.stop,
  };
}

const serializeChunk = ({ boxes, source, ...chunk }: ReturnType<DocumentChunks["read"]>[number]): FileChunk => ({
  ...chunk,
  boxes: boxes?.map(([left, top, right, bottom]) => ({ left, top, right, bottom })) ?? null,
  source: source ?? "text",
});

const madeByAgents = ({ agent_ids }: Viewer): Condition[] => {
  const values: SQLQueryBindings[] = [JSON.stringify(agent_ids)];
  return agent_ids ? [{ sql: "agent_id IS NULL OR agent_id IN (SELECT value FROM json_each(?))", values }] : [];
};

/** Returns the encoding's name in the Encoding Standard. */
function encodingOf(name: string): string {
  const known = encodingNamed(name);
  if (known !== null) return known;
  throw invalid("encoding", "This encoding is not known. Give a name such as `shift_jis` or `windows-1251`.");
}

/**
 * Returns the chunking of a file, or null if its text is not used. Throws if it is to be indexed but cannot be read.
 */
function chunkingOf({ purpose, memory_id, scope_id, chunking }: CreateFile, type: string): Chunking | null {
  if (scope_id !== undefined && memory_id === undefined)
    throw invalid("scope_id", "Must be given with memory_id only: it says whose part of that store is meant.");
  const fullChunking = { ...defaultChunking, ...chunking };
  const broken = chunkingFault(fullChunking);
  if (broken) throw invalid(`chunking.${broken.param}`, broken.message);
  const isSearched = purpose === "retrieval" || memory_id !== undefined;
  if (isSearched && !isSearchable(type))
    throw new AppError(
      "unsupported_file_type",
      `Text of ${type} cannot be searched. ${conversionHints[type] ?? "For another purpose it is taken."}`,
      { param: "file" },
    );
  const isRead = isSearched || (purpose === "attachment" && isDocument(type));
  return isRead ? fullChunking : null;
}

/** Advice for text formats that are not supported. */
const conversionHints: Record<string, string> = {
  "application/msword": "Save it as DOCX.",
  "application/vnd.ms-excel": "Save it as XLSX.",
  "application/vnd.ms-powerpoint": "Save it as PPTX.",
  "application/vnd.ms-excel.sheet.binary.macroEnabled.12": "It is a binary workbook (XLSB): save it as XLSX.",
  "application/vnd.apple.pages": "Export it as DOCX or PDF.",
  "application/vnd.apple.numbers": "Export it as XLSX.",
  "application/vnd.apple.keynote": "Export it as PPTX or PDF.",
  "application/x-ole-storage":
    "It is a document of Office before 2007 or a message of Outlook, and its name does not say which.",
  "application/x-sylk": "It is a workbook in SYLK: save it as XLSX or CSV.",
  "application/x-dif": "It is a workbook in DIF: save it as XLSX or CSV.",
  "application/zip": "It is an archive: upload the files in it.",
  "application/gzip": "It is an archive: upload the file in it.",
};

function placeAfter(text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw noSuchChunk();
  return Number(text) + 1;
}

const noSuchChunk = () => new AppError("invalid_cursor", "The cursor is not the chunk_index of anything in this list.");
