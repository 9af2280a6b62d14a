import { sql } from "drizzle-orm";
import { AppError } from "../core/errors.ts";
import type { Scope } from "../core/scope.ts";
import type { Author, StoreBase } from "../db/audit.ts";
import { memoryEntries } from "../db/schema.ts";
import { chunkingFault, defaultChunking } from "../documents/chunking.ts";
import { cleanText } from "../documents/decode.ts";
import type { Viewer } from "../http/auth.ts";
import { fault, invalid, refuse, validationError } from "../http/errors.ts";
import { inScope, listPage, type Page } from "../http/page.ts";
import { createEntryRows, type Fact, lives, type NewEntryRow } from "./entry-rows.ts";
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

export function createEntryStore(options: EntryStoreOptions) {
  const { db, audit, stores, fileFor, indexer, onDelete, now = Date.now, settle_ms = 5000 } = options;
  const rows = createEntryRows(db, now);
  const { find, insert, mark } = rows;

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
      const isChanged = rows.change(row, text, metadata === undefined ? row.metadata : JSON.stringify(metadata));
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
  function replaceable(store: VectorStoreRow, scopeId: string, entry: NewEntryRow): EntryRow | null {
    const known = rows
      .ofFile(store, entry.file_id!)
      .find(({ memory_id, scope_id }) => memory_id === store.id && scope_id === scopeId);
    if (!known) return null;
    if (known.status === "failed") {
      mark(known);
      return null;
    }
    if (known.metadata !== entry.metadata || known.chunking !== entry.chunking)
      throw invalid(
        "file_id",
        `The file is in this store as ${known.id}, with other metadata or chunking: delete that first.`,
      );
    return known;
  }

  return {
    create,
    /** Another text or metadata under the same id. It waits as `create` does. */
    update,
    unfound: rows.unfound,
    get: (scope: Scope, memoryId: string, id: string) => {
      vectors(scope, memoryId);
      return shownEntry(find(scope, memoryId, id));
    },
    list(scope: Scope, memoryId: string, page: Page) {
      const store = vectors(scope, memoryId);
      return listPage(
        db,
        {
          table: memoryEntries,
          kind: "memory_entry",
          more: { filename },
          scope,
          page,
          within: inScope(store, { memory_id: store.id }),
          where: [{ sql: lives, values: [now()] }],
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
        const earlier = tool_call_id && rows.ofCall(scope, tool_call_id);
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
    forgetFile(scope: Scope, fileId: string): boolean {
      const gone = rows.ofFile(scope, fileId, 0);
      gone.forEach(mark);
      if (gone.length > 0) onDelete();
      return gone.length > 0;
    },

    /** What a store knows of a user: the texts that were added to it last, the oldest of them first. */
    factsOf: (scope: Scope, memoryId: string, userId: string, most: number): Fact[] =>
      rows.texts(scope, memoryId, userId, most).reverse(),

    /**
     * Within a write: texts of a user come, and others of theirs go. What is gone already, or is no text of theirs, is left
     * alone. Wake the indexer after it.
     */
    changeFacts(scope: Scope, memoryId: string, userId: string, { gone, fresh, metadata }: FactChange): void {
      const store = vectors(scope, memoryId);
      const scopeId = scopeIdOf(store, userId);
      for (const id of gone) {
        const row = rows.get(scope, memoryId, id);
        if (row && row.scope_id === scopeId && row.file_id === null) mark(row);
      }
      for (const text of fresh) insert(store, scopeId, toInsert(store, { text, metadata }, null, now()));
    },

    /** Within a write: deletes up to so many entries of users, or of sessions. Returns the files of each. */
    forgetOf(scope: Scope, of: "user" | "session", ids: readonly string[], limit: number) {
      const gone = rows.ofSubjects(scope, of, ids, limit);
      gone.forEach(mark);
      return gone.map(({ file_id }) => file_id);
    },

    /** Within a write. */
    mark,
  };
}

const filename = sql<string | null>`SELECT f.filename FROM files f WHERE f.project_id = memory_entries.project_id
  AND f.environment = memory_entries.environment AND f.id = memory_entries.file_id`;

function check(store: VectorStoreRow, input: CreateEntry): void {
  const { text, file_id, chunking } = input;
  const broken = chunkingFault({ ...defaultChunking, ...chunking });
  refuse([
    ...((text === undefined) === (file_id === undefined) ? [fault("text", "Give either text or file_id.")] : []),
    ...(text !== undefined && cleanText(text).trim() === "" ? [onlySpaces()] : []),
    ...(broken ? [fault(`chunking.${broken.param}`, broken.message)] : []),
  ]);
  scopeIdOf(store, input.scope_id);
}

function checkChange({ file_id }: EntryRow, { text }: UpdateEntry): void {
  if (text === undefined) return;
  if (file_id !== null) throw invalid("text", "The text is a file's: add another file instead.");
  if (cleanText(text).trim() === "") throw validationError([onlySpaces()]);
}

const onlySpaces = () => fault("text", "Expected more than spaces.");

function requireDocument(file: EntryFile | null): EntryFile {
  if (!file) throw invalid("file_id", "There is no such file.");
  if (!file.searchable)
    throw new AppError("unsupported_file_type", `Text of ${file.mime_type} cannot be searched.`, { param: "file_id" });
  return file;
}

/** Its own time or its store's; of a file no longer than the file itself. */
function toInsert(store: VectorStoreRow, input: CreateEntry, file: EntryFile | null, now: number): NewEntryRow {
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
