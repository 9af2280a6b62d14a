import { isNull } from "drizzle-orm";
import type { Db } from "../db/open.ts";
import { createRows } from "../db/rows.ts";
import { type memoryEntries, memoryStores } from "../db/schema.ts";

/** A store as the table holds it. */
export type StoreRow = typeof memoryStores.$inferSelect;

/** A store of vectors, with what is searched now. */
export type VectorStoreRow = StoreRow & {
  model: string;
  dimensions: number;
  generation: number;
  last_generation: number;
};

/** An entry as the table holds it. `scope_id` is "" where the store belongs to the whole project. */
export type EntryRow = typeof memoryEntries.$inferSelect;

/** Stores that were not deleted. */
export const createStoreRows = (db: Pick<Db, "orm" | "sqlite">) =>
  createRows(db, memoryStores, isNull(memoryStores.deleted_at_ms));
