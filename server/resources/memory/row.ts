import { isNull } from "drizzle-orm";
import type { Db } from "../../storage/db/open.ts";
import { type memoryEntries, memoryStores } from "../../storage/db/schema.ts";
import { createScopedTable } from "../../storage/db/scoped-table.ts";

/** A store row. */
export type StoreRow = typeof memoryStores.$inferSelect;

/** A vector store, with its current embedding. */
export type VectorStoreRow = StoreRow & {
  model: string;
  dimensions: number;
  generation: number;
  last_generation: number;
};

/** An entry row. `scope_id` is "" if the store belongs to the whole project. */
export type EntryRow = typeof memoryEntries.$inferSelect;

/** Rows of stores that were not deleted. */
export const createStoreRows = (db: Db) => createScopedTable(db, memoryStores, isNull(memoryStores.deleted_at_ms));
