import { sql } from "drizzle-orm";
import { chunkingFault, defaultChunking } from "../../domain/chunking.ts";
import { noSuch, onlySpaces } from "../../domain/error-messages.ts";
import { AppError } from "../../domain/errors.ts";
import type { Scope } from "../../domain/scope.ts";
import type { Viewer } from "../../http/auth.ts";
import { fault, invalid, throwIfInvalid, validationError } from "../../http/errors.ts";
import { listPage, type Page, scopeCondition } from "../../http/page.ts";
import { cleanText } from "../../runtime/documents/decode.ts";
import type { Author, StoreBase } from "../../storage/db/audit.ts";
import { memoryEntries } from "../../storage/db/schema.ts";
import { createEntryRows, type Fact, isAliveSql, type NewEntryRow } from "./entry-rows.ts";
import type { EntryRow, VectorStoreRow } from "./row.ts";
import type { CreateEntry, UpdateEntry } from "./schema.ts";
import { type EntryMetadata, serializeEntry } from "./serialize.ts";
import { type MemoryStores, requireVectors, scopeIdOf } from "./store.ts";

/** Facts of a file that an entry needs. */
interface EntryFile {
  id: string;
  mime_type: string;
  /** True if its text can be searched. */
  searchable: boolean;
  expires_at_ms: number | null;
}

/** Makes entries searchable. */
interface EntryIndexer {
  /** Called when there is work. */
  wake(): void;
  /** Resolves when the entry is `ready` or `failed`, or after `ms`. */
  settled(entryId: string, ms: number): Promise<void>;
}

interface EntryStoreOptions extends StoreBase {
  stores: Pick<MemoryStores, "find" | "facts">;
  /** Null if the viewer sees no such file. */
  fileFor: (viewer: Viewer, id: string) => EntryFile | null;
  indexer: EntryIndexer;
  /** Called when entries were deleted and their chunks must be, too. */
  onDelete: () => void;
  /** Milliseconds that the creation of a text waits until it is searchable. */
  settle_ms?: number;
}

/** A new entry that the server creates without a client's request. */
interface NewText {
  memory_id: string;
  scope_id: string | null;
  text: string;
  metadata?: EntryMetadata;
  /** Id of the tool call that writes it; a repeated call is a no-op. */
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
    return { entry: serializeEntry(find(author, memoryId, id)), isNew };
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
    return serializeEntry(find(author, memoryId, id));
  }

  /**
   * Returns the existing entry of this file if it is the same. Deletes a failed one, because adding the file again is a
   * retry. Throws if the entry differs. Call inside a write.
   */
  function replaceable(store: VectorStoreRow, scopeId: string, entry: NewEntryRow): EntryRow | null {
    if (entry.file_id === null) return null;
    const known = rows
      .ofFile(store, entry.file_id)
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
    /** Replaces the text or metadata. Waits as `create` does. */
    update,
    unfound: rows.unfound,
    get: (scope: Scope, memoryId: string, id: string) => {
      vectors(scope, memoryId);
      return serializeEntry(find(scope, memoryId, id));
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
          within: scopeCondition(store, { memory_id: store.id }),
          where: [{ sql: isAliveSql, values: [now()] }],
        },
        serializeEntry,
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

    /** Adds a text that a run wrote, without waiting until it is searchable. */
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

    /** Adds a file inside the write that checks it. Wake the indexer afterwards. */
    addFile(scope: Scope, { memory_id, scope_id, file_id, metadata, chunking }: NewFile, expires_at_ms: number | null) {
      const store = vectors(scope, memory_id);
      const file = { id: file_id, mime_type: "", searchable: true, expires_at_ms };
      const entry = toInsert(store, { file_id, metadata, chunking }, file, now());
      const scopeId = scopeIdOf(store, scope_id);
      return replaceable(store, scopeId, entry)?.id ?? insert(store, scopeId, entry);
    },

    /** Deletes a file's entries inside the write that deletes the file; true if there were any. */
    forgetFile(scope: Scope, fileId: string): boolean {
      const gone = rows.ofFile(scope, fileId, 0);
      gone.forEach(mark);
      if (gone.length > 0) onDelete();
      return gone.length > 0;
    },

    /** Newest texts about a user in a store, oldest first. */
    factsOf: (scope: Scope, memoryId: string, userId: string, most: number): Fact[] =>
      rows.texts(scope, memoryId, userId, most).reverse(),

    /**
     * Adds and deletes texts of a user. Ignores ids that are gone or are no text of theirs. Call inside a write, and
     * wake the indexer afterwards.
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

    /** Deletes up to `limit` entries of users or sessions. Returns the file of each. Call inside a write. */
    forgetOf(scope: Scope, of: "user" | "session", ids: readonly string[], limit: number) {
      const gone = rows.ofSubjects(scope, of, ids, limit);
      gone.forEach(mark);
      return gone.map(({ file_id }) => file_id);
    },

    /** Call inside a write. */
    mark,
  };
}

const filename = sql<string | null>`SELECT f.filename FROM files f WHERE f.project_id = memory_entries.project_id
  AND f.environment = memory_entries.environment AND f.id = memory_entries.file_id`;

function check(store: VectorStoreRow, input: CreateEntry): void {
  const { text, file_id, chunking } = input;
  const broken = chunkingFault({ ...defaultChunking, ...chunking });
  throwIfInvalid([
    ...((text === undefined) === (file_id === undefined) ? [fault("text", "Give either text or file_id.")] : []),
    ...(text !== undefined && cleanText(text).trim() === "" ? [blankText()] : []),
    ...(broken ? [fault(`chunking.${broken.param}`, broken.message)] : []),
  ]);
  scopeIdOf(store, input.scope_id);
}

function checkChange({ file_id }: EntryRow, { text }: UpdateEntry): void {
  if (text === undefined) return;
  if (file_id !== null) throw invalid("text", "The text is a file's: add another file instead.");
  if (cleanText(text).trim() === "") throw validationError([blankText()]);
}

const blankText = () => fault("text", onlySpaces);

function requireDocument(file: EntryFile | null): EntryFile {
  if (!file) throw invalid("file_id", noSuch("file"));
  if (!file.searchable)
    throw new AppError("unsupported_file_type", `Text of ${file.mime_type} cannot be searched.`, { param: "file_id" });
  return file;
}

/** Expiry: the entry's or the store's time to live, but not after the file's expiry. */
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
