import type { SQLQueryBindings } from "bun:sqlite";
import { lte, sql } from "drizzle-orm";
import { AppError } from "../core/errors.ts";
import { newId } from "../core/ids.ts";
import { notFound } from "../core/not-found.ts";
import type { Scope } from "../core/scope.ts";
import type { Author, StoreBase } from "../db/audit.ts";
import type { FileBlobs, StoredContent } from "../db/file-blobs.ts";
import { createRows } from "../db/rows.ts";
import { files } from "../db/schema.ts";
import { type Chunking, chunkingFault, defaultChunking } from "../documents/chunking.ts";
import type { Viewer } from "../http/auth.ts";
import { fault, validationError } from "../http/errors.ts";
import { type Condition, fillPage, listPage, type Page, read, toList } from "../http/page.ts";
import type { DocumentChunks } from "./document-chunks.ts";
import type { DocumentWork } from "./document-work.ts";
import { fitFileName } from "./file-name.ts";
import { headBytes, isDocument, typeOfFile } from "./file-type.ts";
import type { Received } from "./receive.ts";
import { type FileError, type Indexed, type FileRow as Row, shownFile } from "./row.ts";
import type { CreateFile } from "./schema.ts";

/** What others must know of a file. */
type FileFacts = Pick<Row, "id" | "filename" | "mime_type" | "bytes" | "sha256">;

/** Some of a file's content; `bytes` is how much there is of it in all. */
interface FilePart {
  filename: string;
  bytes: number;
  part: Uint8Array;
}

/** A file that a tool call has made. */
interface OutputFile {
  id: string;
  filename: string;
  /** Found out by the content where nobody says. */
  mime_type?: string;
  content: Uint8Array;
  /** Null outside of any run. */
  run_id: string | null;
  tool_call_id: string | null;
}

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

// Each takes a chunk along: 4 MB in 2 ms, so that those who wait for the next write wait for milliseconds.
const filesPerWrite = 16;
const chunksPerWrite = 200;
const pause_ms = 5;

type NewRow = Omit<typeof files.$inferInsert, keyof Scope | "agent_id" | "created_at_ms">;

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
  const rows = createRows(db, files);
  const expired = db.orm
    .select()
    .from(files)
    .where(lte(files.expires_at_ms, sql.placeholder("now")))
    .orderBy(files.expires_at_ms)
    .limit(sql.placeholder("most"))
    .prepare();

  function known(scope: Scope, id: string): Row | null {
    const row = rows.get(scope, id);
    return row && (row.expires_at_ms ?? Number.POSITIVE_INFINITY) > now() ? row : null;
  }

  function find(viewer: Viewer, id: string): Row {
    const row = known(viewer, id);
    if (!row || !maySee(viewer, row)) throw notFound();
    return row;
  }

  function insert(scope: Scope, row: NewRow): Row {
    const agent_id = sql`(SELECT agent_id FROM runs WHERE id = ${row.run_id})`;
    return rows.insert(scope, { ...row, agent_id, created_at_ms: now() });
  }

  /** Within a write: deletes a file, or as much of its text as `most`. Returns how many rows went. */
  function erase(row: Row, most: number): number {
    const cleared = chunks.clear(row, row.id, most);
    if (cleared === most) return cleared;
    rows.remove(row, row.id);
    blobs.release(row, row.sha256);
    return cleared + 1;
  }

  /** Within a write: nobody finds it any more. What a long document has goes later. */
  function remove(row: Row): void {
    memory.forget(row, row.id);
    rows.update(row, row.id, { expires_at_ms: 0 });
    erase(row, chunksPerWrite);
  }

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
      throw validationError([fault("memory_id", "There is no such memory store.")]);
    }
  }

  /** Within a write: deletes some of what files have whose time is up. Returns how many rows those were. */
  function forgetExpired(limit: number): number {
    const most = Math.min(limit, chunksPerWrite);
    let count = 0;
    for (const row of expired.all({ now: now(), most: Math.min(limit, filesPerWrite) })) {
      memory.forget(row, row.id);
      if (count < most) count += erase(row, most - count);
    }
    return count;
  }

  let collecting: Promise<void> | null = null;
  let stopped = false;

  /** What a write could not delete now is deleted by a later sweep. */
  function collectSoon(): void {
    collecting ??= collect()
      .catch(() => {})
      .finally(() => {
        collecting = null;
        if (!stopped) blobs.collectSoon();
      });
  }

  async function collect(): Promise<void> {
    while (!stopped && (await db.write(() => forgetExpired(chunksPerWrite))) > 0) await Bun.sleep(pause_ms);
  }

  return {
    /** Makes a file of what was received, which is closed either way. */
    async create(author: Author, input: CreateFile, { upload, head }: Received) {
      try {
        const filename = fitFileName(input.filename);
        const mime_type = typeOfFile(filename, head);
        const chunking = chunkingOf(input, mime_type);
        const id = newId("file", now());
        const file = await db.write(() => {
          upload.keep();
          const row = insert(author, {
            ...{ id, ...upload.content(), filename, mime_type, purpose: input.purpose, run_id: null },
            ...{
              tool_call_id: null,
              status: chunking ? "uploaded" : "ready",
              metadata: input.metadata ?? {},
            },
            expires_at_ms: input.expires_in_seconds === undefined ? null : now() + input.expires_in_seconds * 1000,
            chunking,
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

    get: (viewer: Viewer, id: string) => shown(find(viewer, id)),

    list: (viewer: Viewer, page: Page) =>
      listPage(
        db,
        { table: files, kind: "file", scope: viewer, page, where: [notExpired(), ...madeByAgents(viewer)] },
        shown,
      ),

    /** What is known of a file, and its content. */
    content(viewer: Viewer, id: string): { file: FileFacts; content: StoredContent } {
      const file = find(viewer, id);
      return { file, content: blobs.open(viewer, file.sha256)! };
    },

    async remove(author: Author & Viewer, id: string) {
      const answer = await db.write(() => {
        const row = find(author, id);
        remove(row);
        note(author, "file.deleted", row);
        return { id, object: "file" as const, deleted: true };
      });
      removed(id);
      collectSoon();
      return answer;
    },

    /** Tries again what failed: to read it, or to put it into stores. */
    async retry(author: Author & Viewer, id: string) {
      const file = await db.write(() => {
        const row = find(author, id);
        const entries = memory.retry(author, id);
        if (row.status === "failed" && row.chunks === 0) work.demand(row, row.chunking);
        else if (row.status === "failed") work.resume(row);
        else if (entries === 0) throw new AppError("file_not_failed", `The file is ${row.status}.`);
        note(author, "file.retried", row);
        return shown(find(author, id));
      });
      process();
      return file;
    },

    /** The text of a document from a place on. */
    async chunks(viewer: Viewer, id: string, after: string | null, limit: number) {
      find(viewer, id);
      const first = after === null ? 0 : placeAfter(after);
      if (first > 0 && chunks.read(viewer, id, first - 1, 1).length === 0) throw noSuchChunk();
      const rows = read(
        (from: number, most) => chunks.read(viewer, id, from, most),
        first,
        ({ chunk_index }) => chunk_index + 1,
      );
      const { data, has_more } = await fillPage(rows, limit, (chunk) => chunk);
      return toList(data, has_more, ({ chunk_index }) => chunk_index.toString());
    },

    /** What a store that is to have a file must know of it; null for one that is not there for whoever asks. */
    document(viewer: Viewer, id: string) {
      const row = known(viewer, id);
      if (!row || !maySee(viewer, row)) return null;
      const { mime_type, expires_at_ms } = row;
      return { id, mime_type, searchable: isDocument(mime_type), expires_at_ms };
    },

    /** How far a document is read; null for a file that is gone. */
    reading(scope: Scope, id: string): { chunks: number; failed: FileError | null; isWanted: boolean } | null {
      const row = known(scope, id);
      if (!row) return null;
      const failed = row.status === "failed" && row.chunks === 0 ? row.error : null;
      return { chunks: row.chunks, failed, isWanted: row.status === "uploaded" || row.status === "processing" };
    },

    /**
     * Within the write that records a tool's result: one of the files that it made. It stays when its run is deleted,
     * until somebody deletes it too.
     */
    insertOutput(scope: Scope, { id, filename, mime_type, content, run_id, tool_call_id }: OutputFile): FileFacts {
      const name = fitFileName(filename);
      return factsOf(
        insert(scope, {
          ...{ id, ...blobs.put(scope, content), filename: name, run_id, tool_call_id },
          mime_type: mime_type ?? typeOfFile(name, content.subarray(0, headBytes)),
          ...{ purpose: "output", status: "ready", metadata: {}, expires_at_ms: null, chunking: null },
        }),
      );
    },

    /** A part of a file for a run of its project and environment; null: there is no such file (any more). */
    part(scope: Scope, id: string, start: number, length: number): FilePart | null {
      const row = known(scope, id);
      const content = row && blobs.open(scope, row.sha256);
      if (!content) return null;
      const end = Math.min(row.bytes, start + length);
      return { filename: row.filename, bytes: row.bytes, part: Buffer.concat([...content.read({ start, end })]) };
    },

    /** What a run or a tool must know of the files that it names; throws for those that are not there, by parameter. */
    facts(viewer: Viewer, ids: readonly string[], param = "file_ids"): FileFacts[] {
      const rows = ids.map((id) => known(viewer, id));
      const faults = rows.flatMap((row, index) =>
        row && maySee(viewer, row) ? [] : [fault(`${param}[${index}]`, "There is no such file.")],
      );
      if (faults.length > 0) throw validationError(faults);
      return rows.map((row) => factsOf(row!));
    },

    forgetExpired,
    /** For tests: answers when nothing that was deleted goes any more. */
    idle: async (): Promise<void> => void (await collecting),
    /** Ends after the write in flight; what is left is for the next sweep. */
    async stop(): Promise<void> {
      stopped = true;
      await collecting;
    },
  };
}

/** A key that is bound to some agents sees what was uploaded, but not what other agents' runs have made. */
const maySee = ({ agent_ids }: Viewer, { agent_id }: Row): boolean =>
  !agent_ids || agent_id === null || agent_ids.includes(agent_id);

const madeByAgents = ({ agent_ids }: Viewer): Condition[] => {
  const values: SQLQueryBindings[] = [JSON.stringify(agent_ids)];
  return agent_ids ? [{ sql: "agent_id IS NULL OR agent_id IN (SELECT value FROM json_each(?))", values }] : [];
};

/** How a file is to be read; null where its text is of no use. Throws for what cannot be read and should be. */
function chunkingOf({ purpose, memory_id, scope_id, chunking }: CreateFile, type: string): Chunking | null {
  if (scope_id !== undefined && memory_id === undefined)
    throw validationError([
      fault("scope_id", "Expected with memory_id only: it says whose part of that store is meant."),
    ]);
  const whole = { ...defaultChunking, ...chunking };
  const broken = chunkingFault(whole);
  if (broken) throw validationError([fault(`chunking.${broken.param}`, broken.message)]);
  const isSearched = purpose === "retrieval" || memory_id !== undefined;
  if (isSearched && !isDocument(type))
    throw new AppError(
      "unsupported_file_type",
      `Text of ${type} cannot be searched. For another purpose it is taken.`,
      { param: "file" },
    );
  const isRead = isSearched || (purpose === "attachment" && isDocument(type));
  return isRead ? whole : null;
}

function placeAfter(text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw noSuchChunk();
  return Number(text) + 1;
}

const noSuchChunk = () => new AppError("invalid_cursor", "The cursor is not the chunk_index of anything in this list.");

const factsOf = ({ id, filename, mime_type, bytes, sha256 }: Row): FileFacts => ({
  ...{ id, filename, mime_type, bytes, sha256 },
});
