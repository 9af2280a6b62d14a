import type { Filter } from "./filter.ts";
import type { Passage, SearchMode } from "./passages.ts";
import type { StoreTables } from "./tables.ts";

export interface SearchOrder {
  /** Tenant that is scheduled fairly against others. */
  owner: string;
  store: StoreTables;
  /** Scope of the entries; "" in a store of the whole project. */
  scope_id: string;
  query: string;
  /** Vector of the query by the store's current model; null in keyword mode. */
  vector: Float32Array | null;
  mode: SearchMode;
  top_k: number;
  filter: Filter | null;
  score_threshold: number | null;
  /** Entries that have expired by this time are not found. */
  now: number;
  /** True to return the vectors of matches. */
  with_vectors?: boolean;
}

export interface Match extends Passage {
  score: number;
  score_parts: { vector: number | null; keyword: number | null };
  /** The stored vector if requested; null: it has none. */
  vector?: Float32Array | null;
}

/** Messages to the thread. */
export type ToThread =
  | { do: "open"; path: string; most_bytes: number }
  | { do: "search"; id: number; order: SearchOrder }
  | { do: "abort"; id: number }
  | { do: "forget"; store: number }
  | { do: "removed"; store: number; numbers: number[] };

/** Messages from the thread. */
export type FromThread = { id: number; matches: Match[] } | { id: number; fault: string };
