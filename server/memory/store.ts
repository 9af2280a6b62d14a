import { eq, sql } from "drizzle-orm";
import { AppError } from "../core/errors.ts";
import { newId } from "../core/ids.ts";
import { limits } from "../core/limits.ts";
import { memoryKinds } from "../core/memory-kinds/memory-kinds.ts";
import type { Environment, Scope } from "../core/scope.ts";
import type { Author, StoreBase } from "../db/audit.ts";
import { memoryStores } from "../db/schema.ts";
import { fault, invalid, refuse } from "../http/errors.ts";
import { nameFaults } from "../http/name-fault.ts";
import { listPage, type Page } from "../http/page.ts";
import { createStoreTables } from "../retrieval/search/tables.ts";
import type { ChosenEmbedding, EmbeddingChooser } from "./embedding.ts";
import { createStoreRows, type StoreRow, type VectorStoreRow } from "./row.ts";
import type { CreateMemory, UpdateMemory } from "./schema.ts";
import { type IndexProgress, shownStore } from "./shown.ts";

interface MemoryStoreOptions extends StoreBase {
  embeddings: EmbeddingChooser;
  /** How far a store is with its new embedding. */
  progressOf: (store: StoreRow) => IndexProgress | null;
  /** A store is to be indexed anew, or no longer. */
  onEmbedding: () => void;
  /** A store was deleted: what it holds is to go. */
  onDelete: () => void;
}

export type MemoryStores = ReturnType<typeof createMemoryStores>;

export function createMemoryStores(options: MemoryStoreOptions) {
  const { db, audit, embeddings, progressOf, onEmbedding, onDelete, now = Date.now } = options;
  const { sqlite } = db;
  const rows = createStoreRows(db);
  const { find } = rows;
  const count = sqlite.query<{ n: number }, [string, Environment]>(
    "SELECT count(*) AS n FROM memory_stores WHERE project_id = ? AND environment = ? AND deleted_at_ms IS NULL",
  );
  const using = sqlite.query<unknown, [string, Environment, string]>(
    "SELECT 1 FROM memory_stores WHERE project_id = ? AND environment = ? AND model = ? AND deleted_at_ms IS NULL LIMIT 1",
  );
  const nextNumber = sqlite.query<{ number: number }, []>(
    "UPDATE memory_store_numbers SET number = number + 1 RETURNING number",
  );

  const shown = (row: StoreRow) => shownStore(row, progressOf);

  const note = (author: Author, done: string, { id, name, kind }: Pick<StoreRow, "id" | "name" | "kind">, more = {}) =>
    audit.note(author, `memory.${done}`, id, { name, kind, ...more });

  async function create(author: Author, input: CreateMemory) {
    const { name, kind, scope = "project", ttl_seconds = null, metadata = {} } = input;
    refuse([...nameFaults(name), ...(!memoryKinds[kind].isSearched && input.embedding ? [keysHaveNone()] : [])]);
    const chosen = memoryKinds[kind].isSearched ? await embeddings.choose(input.embedding ?? null, author) : null;
    const [id, at] = [newId("memory", now()), now()];
    const row = await db.write(() => {
      const { project_id, environment } = author;
      if (count.get(project_id, environment)!.n >= limits.memory_stores)
        throw new AppError("validation_failed", `There are ${limits.memory_stores} memory stores, and may be no more.`);
      const { number } = nextNumber.get()!;
      const generation = chosen && firstGeneration;
      const row = rows.insert(author, {
        id,
        number,
        name,
        kind,
        scope,
        model: chosen?.model,
        dimensions: chosen?.dimensions,
        generation,
        last_generation: generation,
        ttl_seconds,
        metadata,
        created_at_ms: at,
        updated_at_ms: at,
      });
      if (chosen) createStoreTables(sqlite, { number, generation: firstGeneration, dimensions: chosen.dimensions });
      note(author, "created", row, { scope, ...chosen });
      return row;
    });
    return shown(row);
  }

  async function update(author: Author, id: string, input: UpdateMemory) {
    const known = find(author, id); // What is not there is not there, whatever the body says.
    refuse([
      ...nameFaults(input.name),
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
    /** Throws for what is not there. */
    find,
    /** Null for what is not there. */
    facts: rows.get,
    get: (scope: Scope, id: string) => shown(find(scope, id)),
    /** Whether there is a store whose vectors are this model's. */
    isUsing: ({ project_id, environment }: Scope, model: string): boolean =>
      using.get(project_id, environment, model) !== null,
    list(scope: Scope, page: Page) {
      const where = [{ sql: "deleted_at_ms IS NULL", values: [] }];
      return listPage(db, { table: memoryStores, kind: "memory", scope, page, where }, shown);
    },
    /** It is gone at once; what it holds goes some at a time. */
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

/** What a store is to be indexed with from now on; what it is searched with already is nothing to do. */
function nextOf({ model, dimensions }: StoreRow, chosen: ChosenEmbedding) {
  const stands = chosen.model === model && chosen.dimensions === dimensions;
  return {
    next_model: stands ? null : chosen.model,
    next_dimensions: stands ? null : chosen.dimensions,
    last_generation: sql`last_generation + 1`, // What replaces another change shares no vectors with it.
  };
}

/** Throws for a store of another kind. */
function requireKind(store: StoreRow, kind: StoreRow["kind"]): StoreRow {
  if (store.kind !== kind) throw new AppError("validation_failed", memoryKinds[store.kind].refusal);
  return store;
}

export const requireVectors = (store: StoreRow): VectorStoreRow => requireKind(store, "vector") as VectorStoreRow;
export const requireKeys = (store: StoreRow): StoreRow => requireKind(store, "kv");

/** Whose part of a store is meant; throws where that is not said, or says nothing. */
export function scopeIdOf({ scope }: Pick<StoreRow, "scope">, scopeId: string | null | undefined): string {
  if (scope === "project") {
    if (scopeId != null) throw invalid("scope_id", "This store belongs to the whole project.");
    return "";
  }
  if (scopeId == null || scopeId === "")
    throw invalid("scope_id", `Expected the ${scope} whose memory is meant.`, "required");
  return scopeId;
}
