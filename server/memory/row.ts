import type { MemoryKind, MemoryScope } from "../core/agent-snapshot.ts";
import type { Scope } from "../core/scope.ts";
import type { entryStatuses } from "../wire/names.ts";

/** A store as the table holds it. */
export interface StoreRow extends Scope {
  id: string;
  /** Names its tables. */
  number: number;
  name: string;
  kind: MemoryKind;
  scope: MemoryScope;
  model: string | null;
  dimensions: number | null;
  generation: number | null;
  next_model: string | null;
  next_dimensions: number | null;
  /** The newest that was ever given: what the store is being indexed anew into. */
  last_generation: number | null;
  ttl_seconds: number | null;
  metadata: string;
  /** Entries or keys that it holds, also those whose time is up until they are swept. */
  items: number;
  /** The highest version of any key that is gone. */
  last_version: number;
  created_at_ms: number;
  updated_at_ms: number;
  deleted_at_ms: number | null;
}

/** A store of vectors, with what is searched now. */
export type VectorStoreRow = StoreRow & {
  model: string;
  dimensions: number;
  generation: number;
  last_generation: number;
};

/** An entry as the table holds it. */
export interface EntryRow extends Scope {
  id: string;
  memory_id: string;
  /** Whose it is; "" where the store belongs to the whole project. */
  scope_id: string;
  file_id: string | null;
  text: string | null;
  chunking: string;
  metadata: string;
  status: (typeof entryStatuses)[number];
  error: string | null;
  processed: number;
  total: number | null;
  tool_call_id: string | null;
  created_at_ms: number;
  updated_at_ms: number;
  expires_at_ms: number | null;
  deleted_at_ms: number | null;
}

/** Finds a store that was not deleted. */
export const selectStore =
  "SELECT * FROM memory_stores WHERE project_id = ? AND environment = ? AND id = ? AND deleted_at_ms IS NULL";
