import type { Filter } from "./filter.ts";
import type { Passage, SearchMode } from "./passages.ts";
import type { StoreTables } from "./tables.ts";

export interface SearchOrder {
  /** Whose work it is. */
  owner: string;
  store: StoreTables;
  /** Whose entries; '' in a store of the whole project. */
  scope_id: string;
  query: string;
  /** Of the query, by the model of the store's generation; null for keyword. */
  vector: Float32Array | null;
  mode: SearchMode;
  top_k: number;
  filter: Filter | null;
  score_threshold: number | null;
  /** What has expired by then is not found. */
  now: number;
  /** Whether to give the vectors of what is found. */
  with_vectors?: boolean;
}

export interface Match extends Passage {
  score: number;
  score_parts: { vector: number | null; keyword: number | null };
  /** Where it was asked for; null: it has none. */
  vector?: Float32Array | null;
}

/** What the thread is told. */
export type ToThread =
  | { do: "open"; path: string; most_bytes: number }
  | { do: "search"; id: number; order: SearchOrder }
  | { do: "abort"; id: number }
  | { do: "forget"; store: number }
  | { do: "removed"; store: number; numbers: number[] };

/** What it says. */
export type FromThread = { id: number; matches: Match[] } | { id: number; fault: string };
