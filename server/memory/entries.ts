import { sql } from "drizzle-orm";
import { AppError } from "../core/errors.ts";
import { newId } from "../core/ids.ts";
import { notFound } from "../core/not-found.ts";
import type { Environment, Scope } from "../core/scope.ts";
import type { Author, StoreBase } from "../db/audit.ts";
import { columnsOf, createRows } from "../db/rows.ts";
import { memoryEntries } from "../db/schema.ts";
import { chunkingFault, defaultChunking } from "../documents/chunking.ts";
import { cleanText } from "../documents/decode.ts";
import type { Viewer } from "../http/auth.ts";
import type { Condition } from "../http/condition.ts";
import { fault, validationError } from "../http/errors.ts";
import { listPage, type Page } from "../http/page.ts";
import type { EntryRow, VectorStoreRow } from "./row.ts";
import type { CreateEntry, UpdateEntry } from "./schema.ts";
import { type EntryMetadata, shownEntry } from "./shown.ts";
import { type MemoryStores, requireVectors, scopeIdOf } from "./store.ts";

/** A file as far as an entry must know it. */
interface EntryFile {
  id: string;
  mime_type: string;
  /** Whether its text can be searched. */
  searchable: boolean;
  expires_at_ms: number | null;
}

/** What makes entries searchable. */
interface EntryIndexer {
  /** There is something to do. */
  wake(): void;
  /** Settles when the entry is `ready` or `failed`, or after this time. */
  settled(entryId: string, ms: number): Promise<void>;
}

export interface EntryStoreOptions extends StoreBase {
  stores: Pick<MemoryStores, "find" | "facts">;
  /** Null for a file that is not there for whoever asks. */
  fileFor: (viewer: Viewer, id: string) => EntryFile | null;
  indexer: EntryIndexer;
  /** Entries were deleted: what belongs to them is to go. */
  onDelete: () => void;
  /** How long whoever adds a text waits until it can be found. */
  settle_ms?: number;
}

/** A new entry, where nobody but the server itself asks for it. */
interface NewText {
  memory_id: string;
  scope_id: string | null;
  text: string;
  metadata?: EntryMetadata;
  /** Of the call that writes it: made again, it writes nothing. */
  tool_call_id?: string;
}

/** What is known of somebody, as it was last said. */
export interface Fact {
  id: string;
  text: string;
}

interface NewFile {
  memory_id: string;
  scope_id: string | null;
  file_id: string;
  metadata?: EntryMetadata;
  chunking?: CreateEntry["chunking"];
}

interface FactChange {
  gone: readonly string[];
  fresh: readonly string[];
  metadata: EntryMetadata;
}

export type EntryStore = ReturnType<typeof createEntryStore>;

type Insertion = Pick<EntryRow, "file_id" | "text" | "chunking" | "metadata" | "tool_call_id" | "expires_at_ms">;

export function createEntryStore(options: EntryStoreOptions) {
  const { db, audit, stores, fileFor, indexer, onDelete, now = Date.now, settle_ms = 5000 } = options;
  const { sqlite } = db;
  const one = sqlite.query<Shown, [string, Environment, string, string, number]>(
    `SELECT ${columnsOf(memoryEntries, "e")}, f.filename FROM memory_entries e ${withFile}
     WHERE e.project_id = ? AND e.environment = ? AND e.memory_id = ? AND e.id = ?
       AND e.deleted_at_ms IS NULL AND (e.expires_at_ms IS NULL OR e.expires_at_ms > ?)`,
  );
  const byCall = sqlite.query<EntryRow, [string, Environment, string]>(
    `SELECT ${columnsOf(memoryEntries)} FROM memory_entries WHERE project_id = ? AND environment = ? AND tool_call_id = ?`,
  );
  const byFile = sqlite.query<EntryRow, [string, Environment, string, number]>(
    `SELECT ${columnsOf(memoryEntries)} FROM memory_entries WHERE project_id = ? AND environment = ? AND file_id = ?
       AND deleted_at_ms IS NULL AND (expires_at_ms IS NULL OR expires_at_ms > ?) ORDER BY id`,
  );
  const newestTexts = sqlite.query<Fact, [string, Environment, string, string, number, number]>(
    `SELECT id, text FROM memory_entries WHERE project_id = ? AND environment = ? AND memory_id = ? AND scope_id = ?
       AND deleted_at_ms IS NULL AND text IS NOT NULL AND (expires_at_ms IS NULL OR expires_at_ms > ?)
     ORDER BY id DESC LIMIT ?`,
  );
  // CROSS: from the few stores of that scope, each by its index.
  const ofSubjects = sqlite.query<EntryRow, [string, Environment, string, string, number]>(
    `SELECT ${columnsOf(memoryEntries, "e")} FROM memory_stores s CROSS JOIN json_each(?4) o CROSS JOIN memory_entries e
       ON e.project_id = s.project_id AND e.environment = s.environment AND e.memory_id = s.id AND e.scope_id = o.value
     WHERE s.project_id = ?1 AND s.environment = ?2 AND s.scope = ?3 AND s.deleted_at_ms IS NULL
       AND e.deleted_at_ms IS NULL LIMIT ?5`,
  );
  const countOf = (status: "processing" | "failed") =>
    sqlite.query<{ n: number }, [string, Environment, string]>(
      `SELECT count(*) AS n FROM memory_entries WHERE project_id = ? AND environment = ? AND memory_id = ?
         AND status = '${status}' AND deleted_at_ms IS NULL`, // As it stands in the partial index.
    );
  const [processing, failed] = [countOf("processing"), countOf("failed")];
  const rows = createRows(db, memoryEntries);
  const deletion = sqlite.query(
    `UPDATE memory_entries SET deleted_at_ms = ? WHERE project_id = ? AND environment = ? AND id = ?
       AND deleted_at_ms IS NULL`,
  );
  // What is known of a chunk never changes while it is there: of an entry that is changed, the chunks go, with an entry
  // that is deleted, and others take their place.
  const detaching = sqlite.query(
    "UPDATE memory_chunks SET entry_id = ? WHERE project_id = ? AND environment = ? AND entry_id = ?",
  );
  const changing = sqlite.query(
    `UPDATE memory_entries SET text = ?, metadata = ?, status = 'processing', error = NULL, processed = 0, total = NULL,
       updated_at_ms = ? WHERE project_id = ? AND environment = ? AND id = ?`,
  );
  const counting = sqlite.query(
    "UPDATE memory_stores SET items = items + ? WHERE project_id = ? AND environment = ? AND id = ?",
  );

  function find({ project_id, environment }: Scope, memoryId: string, id: string): Shown {
    const row = one.get(project_id, environment, memoryId, id, now());
    if (!row) throw notFound();
    return row;
  }

  /** Within a write. */
  function insert(store: VectorStoreRow, scope_id: string, entry: Insertion): string {
    const at = now();
    const standing = {
      memory_id: store.id,
      scope_id,
      status: "processing",
      created_at_ms: at,
      updated_at_ms: at,
    } as const;
    const { id } = rows.insert(store, { id: newId("memory_entry", at), ...standing, ...entry });
    counting.run(1, store.project_id, store.environment, store.id);
    return id;
  }

  /** Within a write: nobody finds it from now on; what belongs to it goes some at a time. */
  function mark({ project_id, environment, memory_id, id }: EntryRow): boolean {
    const { changes } = deletion.run(now(), project_id, environment, id);
    if (changes > 0) counting.run(-1, project_id, environment, memory_id);
    return changes > 0;
  }

  /** Within a write: it is indexed anew. Returns whether that changes anything. */
  function change(row: EntryRow, text: string | null, metadata: string): boolean {
    if (row.text === text && row.metadata === metadata) return false;
    const { project_id, environment, id } = row;
    const at = now();
    const { memory_id, scope_id, chunking } = row;
    const gone = rows.insert(row, {
      ...{ id: newId("memory_entry", at), memory_id, scope_id, chunking, metadata: row.metadata, status: "ready" },
      ...{ created_at_ms: at, updated_at_ms: at, deleted_at_ms: at },
    });
    detaching.run(gone.id, project_id, environment, id);
    changing.run(text, metadata, at, project_id, environment, id);
    return true;
  }

  const vectors = (scope: Scope, id: string): VectorStoreRow => requireVectors(stores.find(scope, id));

  async function create(author: Author & Viewer, memoryId: string, input: CreateEntry) {
    check(vectors(author, memoryId), input);
    const file = input.file_id === undefined ? null : requireDocument(fileFor(author, input.file_id));
    const { id, isNew } = await db.write(() => {
      const store = vectors(author, memoryId);
      const scopeId = scopeIdOf(store, input.scope_id);
      const entry = toInsert(store, input, file, now());
      const known = file && replaceable(store, scopeId, entry);
      if (known) return { id: known.id, isNew: false };
      const id = insert(store, scopeId, entry);
      audit.note(author, "memory_entry.created", id, {
        memory_id: memoryId,
        file_id: entry.file_id,
        bytes: entry.text?.length ?? null,
      });
      return { id, isNew: true };
    });
    if (isNew) indexer.wake();
    if (!file) await indexer.settled(id, settle_ms);
    return { entry: shownEntry(find(author, memoryId, id)), isNew };
  }

  async function update(author: Author, memoryId: string, id: string, input: UpdateEntry) {
    const isChanged = await db.write(() => {
      vectors(author, memoryId);
      const row = find(author, memoryId, id);
      checkChange(row, input);
      const { text = row.text, metadata } = input;
      const isChanged = change(row, text, metadata === undefined ? row.metadata : JSON.stringify(metadata));
      if (isChanged)
        audit.note(author, "memory_entry.updated", id, { memory_id: memoryId, changes: Object.keys(input) });
      return isChanged;
    });
    if (isChanged) {
      onDelete();
      indexer.wake();
      await indexer.settled(id, settle_ms);
    }
    return shownEntry(find(author, memoryId, id));
  }

  /**
   * Within a write: the entry of this file that the store has already, if it is the same; a failed one goes, since
   * whoever adds its file again wants another try. Throws for one that says something else.
   */
  function replaceable(store: VectorStoreRow, scopeId: string, entry: Insertion): EntryRow | null {
    const { project_id, environment, id } = store;
    const known = byFile
      .all(project_id, environment, entry.file_id!, now())
      .find(({ memory_id, scope_id }) => memory_id === id && scope_id === scopeId);
    if (!known) return null;
    if (known.status === "failed") {
      mark(known);
      return null;
    }
    if (known.metadata !== entry.metadata || known.chunking !== entry.chunking)
      throw validationError([
        fault(
          "file_id",
          `The file is in this store as ${known.id}, with other metadata or chunking: delete that first.`,
        ),
      ]);
    return known;
  }

  return {
    create,
    /** Another text or metadata under the same id. It waits as `create` does. */
    update,
    /** How many entries of a store cannot be found yet, and how many never will. */
    unfound: ({ project_id, environment }: Scope, memoryId: string) => ({
      processing: processing.get(project_id, environment, memoryId)!.n,
      failed: failed.get(project_id, environment, memoryId)!.n,
    }),
    get: (scope: Scope, memoryId: string, id: string) => {
      vectors(scope, memoryId);
      return shownEntry(find(scope, memoryId, id));
    },
    list(scope: Scope, memoryId: string, page: Page) {
      const store = vectors(scope, memoryId);
      return listPage(
        db,
        {
          ...{ table: memoryEntries, kind: "memory_entry", more: { filename }, scope, page, within: ofStore(store) },
          where: [{ sql: "deleted_at_ms IS NULL AND (expires_at_ms IS NULL OR expires_at_ms > ?)", values: [now()] }],
        },
        shownEntry,
      );
    },
    async remove(author: Author, memoryId: string, id: string) {
      await db.write(() => {
        vectors(author, memoryId);
        mark(find(author, memoryId, id));
        audit.note(author, "memory_entry.deleted", id, { memory_id: memoryId });
      });
      onDelete();
      return { id, object: "memory_entry" as const, deleted: true };
    },

    /** A text that a run wrote. It answers before it can be found. */
    async addText(scope: Scope, { memory_id, scope_id, text, metadata, tool_call_id }: NewText) {
      const row = await db.write(() => {
        const store = vectors(scope, memory_id);
        const earlier = tool_call_id && byCall.get(scope.project_id, scope.environment, tool_call_id);
        if (earlier) return earlier;
        check(store, { text, scope_id: scope_id ?? undefined });
        const entry = { ...toInsert(store, { text, metadata }, null, now()), tool_call_id: tool_call_id ?? null };
        return find(scope, memory_id, insert(store, scopeIdOf(store, scope_id), entry));
      });
      indexer.wake();
      return { id: row.id, status: row.status };
    },

    /** Within a write that makes sure of the file: it goes into a store too. Wake the indexer after it. */
    addFile(scope: Scope, { memory_id, scope_id, file_id, metadata, chunking }: NewFile, expires_at_ms: number | null) {
      const store = vectors(scope, memory_id);
      const file = { id: file_id, mime_type: "", searchable: true, expires_at_ms };
      const entry = toInsert(store, { file_id, metadata, chunking }, file, now());
      const scopeId = scopeIdOf(store, scope_id);
      return replaceable(store, scopeId, entry)?.id ?? insert(store, scopeId, entry);
    },

    /** Within the write that deletes a file: its entries go with it. Returns whether there were any. */
    forgetFile({ project_id, environment }: Scope, fileId: string): boolean {
      const rows = byFile.all(project_id, environment, fileId, 0);
      rows.forEach(mark);
      if (rows.length > 0) onDelete();
      return rows.length > 0;
    },

    /** What a store knows of a user: the texts that were added to it last, the oldest of them first. */
    factsOf({ project_id, environment }: Scope, memoryId: string, userId: string, most: number): Fact[] {
      return newestTexts.all(project_id, environment, memoryId, userId, now(), most).reverse();
    },

    /**
     * Within a write: texts of a user come, and others of theirs go. What is gone already, or is no text of theirs, is left
     * alone. Wake the indexer after it.
     */
    changeFacts(scope: Scope, memoryId: string, userId: string, { gone, fresh, metadata }: FactChange): void {
      const store = vectors(scope, memoryId);
      const scopeId = scopeIdOf(store, userId);
      for (const id of gone) {
        const row = one.get(scope.project_id, scope.environment, memoryId, id, now());
        if (row && row.scope_id === scopeId && row.file_id === null) mark(row);
      }
      for (const text of fresh) insert(store, scopeId, toInsert(store, { text, metadata }, null, now()));
    },

    /** Within a write: deletes up to so many entries of users, or of sessions. Returns the files of each. */
    forgetOf({ project_id, environment }: Scope, of: "user" | "session", ids: readonly string[], limit: number) {
      const rows = ofSubjects.all(project_id, environment, of, JSON.stringify(ids), limit);
      rows.forEach(mark);
      return rows.map(({ file_id }) => file_id);
    },

    /** Within a write. */
    mark,
  };
}

type Shown = EntryRow & { filename: string | null };

const withFile =
  "LEFT JOIN files f ON f.project_id = e.project_id AND f.environment = e.environment AND f.id = e.file_id";
const filename = sql<string | null>`SELECT f.filename FROM files f WHERE f.project_id = memory_entries.project_id
  AND f.environment = memory_entries.environment AND f.id = memory_entries.file_id`;

const ofStore = ({ project_id, environment, id }: VectorStoreRow): Condition => ({
  sql: "project_id = ? AND environment = ? AND memory_id = ?",
  values: [project_id, environment, id],
});

function check(store: VectorStoreRow, input: CreateEntry): void {
  const { text, file_id, chunking } = input;
  const broken = chunkingFault({ ...defaultChunking, ...chunking });
  const faults = [
    ...((text === undefined) === (file_id === undefined) ? [fault("text", "Give either text or file_id.")] : []),
    ...(text !== undefined && cleanText(text).trim() === "" ? [onlySpaces()] : []),
    ...(broken ? [fault(`chunking.${broken.param}`, broken.message)] : []),
  ];
  if (faults.length > 0) throw validationError(faults);
  scopeIdOf(store, input.scope_id);
}

function checkChange({ file_id }: EntryRow, { text }: UpdateEntry): void {
  if (text === undefined) return;
  if (file_id !== null) throw validationError([fault("text", "The text is a file's: add another file instead.")]);
  if (cleanText(text).trim() === "") throw validationError([onlySpaces()]);
}

const onlySpaces = () => fault("text", "Expected more than spaces.");

function requireDocument(file: EntryFile | null): EntryFile {
  if (!file) throw validationError([fault("file_id", "There is no such file.")]);
  if (!file.searchable)
    throw new AppError("unsupported_file_type", `Text of ${file.mime_type} cannot be searched.`, { param: "file_id" });
  return file;
}

/** Its own time or its store's; of a file no longer than the file itself. */
function toInsert(store: VectorStoreRow, input: CreateEntry, file: EntryFile | null, now: number): Insertion {
  const seconds = input.ttl_seconds ?? store.ttl_seconds;
  const ends = [
    ...(seconds === null ? [] : [now + seconds * 1000]),
    ...(file?.expires_at_ms ? [file.expires_at_ms] : []),
  ];
  return {
    file_id: file?.id ?? null,
    text: input.text ?? null,
    chunking: JSON.stringify({ ...defaultChunking, ...input.chunking }),
    metadata: JSON.stringify(input.metadata ?? {}),
    tool_call_id: null,
    expires_at_ms: ends.length > 0 ? Math.min(...ends) : null,
  };
}
