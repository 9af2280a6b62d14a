import { eq, sql } from "drizzle-orm";
import { AppError } from "../../domain/errors.ts";
import { newId } from "../../domain/ids.ts";
import { limits } from "../../domain/limits.ts";
import { memoryKinds } from "../../domain/memory-kinds/memory-kinds.ts";
import type { Scope, ScopeColumns } from "../../domain/scope.ts";
import { fault, invalid, throwIfInvalid } from "../../http/errors.ts";
import { listPage, type Page } from "../../http/page.ts";
import { nameIssues } from "../../http/validate-name.ts";
import { createStoreTables } from "../../runtime/retrieval/vector-search/tables.ts";
import type { Author, StoreBase } from "../../storage/db/audit.ts";
import { memoryStores } from "../../storage/db/schema.ts";
import type { ChosenEmbedding, EmbeddingChooser } from "./embedding.ts";
import { createStoreRows, type StoreRow, type VectorStoreRow } from "./row.ts";
import type { CreateMemory, UpdateMemory } from "./schema.ts";
import { type IndexProgress, serializeStore } from "./serialize.ts";

interface MemoryStoreOptions extends StoreBase {
  embeddings: EmbeddingChooser;
  /** Progress of a store's new embedding, or null. */
  progressOf: (store: StoreRow) => IndexProgress | null;
  /** Called when reindexing of a store is to start or stop. */
  onEmbedding: () => void;
  /** Called when a store was deleted and its contents must be, too. */
  onDelete: () => void;
}

export type MemoryStores = ReturnType<typeof createMemoryStores>;

export function createMemoryStores(options: MemoryStoreOptions) {
  const { db, audit, embeddings, progressOf, onEmbedding, onDelete, now = Date.now } = options;
  const { sqlite } = db;
  const rows = createStoreRows(db);
  const { find } = rows;
  const count = sqlite.query<{ n: number }, ScopeColumns>(
    `SELECT count(*) AS n FROM memory_stores
     WHERE project_id = $project_id AND environment = $environment AND deleted_at_ms IS NULL`,
  );
  const using = sqlite.query<unknown, ScopeColumns & { model: string }>(
    `SELECT 1 FROM memory_stores WHERE project_id = $project_id AND environment = $environment AND model = $model
       AND deleted_at_ms IS NULL LIMIT 1`,
  );
  const nextNumber = sqlite.query<{ number: number }, []>(
    "UPDATE memory_store_numbers SET number = number + 1 RETURNING number",
  );

  const shown = (row: StoreRow) => serializeStore(row, progressOf);

  const note = (
    author: Author,
    action: string,
    { id, name, kind }: Pick<StoreRow, "id" | "name" | "kind">,
    more = {},
  ) => audit.note(author, `memory.${action}`, id, { name, kind, ...more });

  async function create(author: Author, input: CreateMemory) {
    const { name, kind, scope = "project", ttl_seconds = null, metadata = {} } = input;
    throwIfInvalid([
      ...nameIssues(name),
      ...(!memoryKinds[kind].isSearched && input.embedding ? [keysHaveNone()] : []),
    ]);
    const newEmbedding = memoryKinds[kind].isSearched ? await embeddings.choose(input.embedding ?? null, author) : null;
    const [id, at] = [newId("memory", now()), now()];
    const row = await db.write(() => {
      const { project_id, environment } = author;
      if ((count.get({ project_id, environment })?.n ?? 0) >= limits.memory_stores)
        throw new AppError("validation_failed", `There are ${limits.memory_stores} memory stores, and may be no more.`);
      const next = nextNumber.get();
      if (!next) throw new Error("The number of the next memory store is missing.");
      const { number } = next;
      const generation = newEmbedding && firstGeneration;
      const row = rows.insert(author, {
        id,
        number,
        name,
        kind,
        scope,
        model: newEmbedding?.model,
        dimensions: newEmbedding?.dimensions,
        generation,
        last_generation: generation,
        ttl_seconds,
        metadata,
        created_at_ms: at,
        updated_at_ms: at,
      });
      if (newEmbedding)
        createStoreTables(sqlite, { number, generation: firstGeneration, dimensions: newEmbedding.dimensions });
      note(author, "created", row, { scope, ...newEmbedding });
      return row;
    });
    return shown(row);
  }

  async function update(author: Author, id: string, input: UpdateMemory) {
    const known = find(author, id); // Checked first: an unknown store is a 404, whatever the body says.
    throwIfInvalid([
      ...nameIssues(input.name),
      ...(!memoryKinds[known.kind].isSearched && input.embedding ? [keysHaveNone()] : []),
    ]);
    const chosen = input.embedding ? await embeddings.choose(input.embedding, author) : null;
    const row = await db.write(() => {
      const before = find(author, id);
      const { name, ttl_seconds, metadata } = input;
      note(author, "updated", before, { changes: Object.keys(input), ...chosen });
      return rows.update(author, id, {
        name,
        ttl_seconds,
        metadata,
        updated_at_ms: now(),
        ...(chosen && nextOf(before, chosen)),
      });
    });
    if (chosen) onEmbedding();
    return shown(row);
  }

  return {
    create,
    update,
    /** Throws if there is no such store. */
    find,
    /** Null if there is no such store. */
    facts: rows.get,
    get: (scope: Scope, id: string) => shown(find(scope, id)),
    /** True if some store uses this embedding model. */
    isUsing: ({ project_id, environment }: Scope, model: string): boolean =>
      using.get({ project_id, environment, model }) !== null,
    list(scope: Scope, page: Page) {
      const where = [{ sql: "deleted_at_ms IS NULL", values: [] }];
      return listPage(db, { table: memoryStores, kind: "memory", scope, page, where }, shown);
    },
    /** Hides the store at once; its contents are deleted later. */
    async remove(author: Author, id: string) {
      await db.write(() => {
        const row = find(author, id);
        db.orm.update(memoryStores).set({ deleted_at_ms: now() }).where(eq(memoryStores.number, row.number)).run();
        note(author, "deleted", row);
      });
      onDelete();
      return { id, object: "memory" as const, deleted: true };
    },
  };
}

const firstGeneration = 1;

const keysHaveNone = () => fault("embedding", "A store of keys has no embedding.");

/** The store's next embedding; null if it is already the current one. */
function nextOf({ model, dimensions }: StoreRow, chosen: ChosenEmbedding) {
  const isSame = chosen.model === model && chosen.dimensions === dimensions;
  return {
    next_model: isSame ? null : chosen.model,
    next_dimensions: isSame ? null : chosen.dimensions,
    last_generation: sql`last_generation + 1`, // A new number, so that no vectors of an earlier change are reused.
  };
}

/** Throws for a store of another kind. */
function requireKind(store: StoreRow, kind: StoreRow["kind"]): StoreRow {
  if (store.kind !== kind) throw new AppError("validation_failed", memoryKinds[store.kind].refusal);
  return store;
}

export const requireVectors = (store: StoreRow): VectorStoreRow => requireKind(store, "vector") as VectorStoreRow;
export const requireKeys = (store: StoreRow): StoreRow => requireKind(store, "kv");

/** Resolves the scope id of a store. Throws if it is missing, or given for a store of the whole project. */
export function scopeIdOf({ scope }: Pick<StoreRow, "scope">, scopeId: string | null | undefined): string {
  if (scope === "project") {
    if (scopeId != null) throw invalid("scope_id", "This store belongs to the whole project.");
    return "";
  }
  if (scopeId == null || scopeId === "")
    throw invalid("scope_id", `Must be the ${scope} whose memory is meant.`, "required");
  return scopeId;
}
