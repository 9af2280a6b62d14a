import type { Database, SQLQueryBindings } from "bun:sqlite";
import type { searchModes } from "../../../domain/api-types/enums.ts";
import type { EntryFacts } from "./entry-facts.ts";
import { type Condition, conditionOf, type Filter } from "./filter.ts";
import { all, allCached } from "./statements.ts";

export type SearchMode = (typeof searchModes)[number];

/** Store, scope and filter of a search. */
interface PassageQuery {
  store: { number: number; generation: number };
  mode: SearchMode;
  scope_id: string;
  filter: Filter | null;
  /** Entries that have expired by this time are not found. */
  now: number;
}

/** A stored passage, without search scores. */
export interface Passage {
  entry_id: string;
  file_id: string | null;
  chunk_index: number;
  text: string;
  page: number | null;
  heading: string | null;
  metadata: Record<string, FilterableValue>;
}

type FilterableValue = string | number | boolean;

/** Passages of one store that a search may see, within one read transaction. */
export interface Passages {
  /** Returns those of the given chunks that may be seen. */
  visibleAmong(numbers: readonly number[]): Set<number>;
  /** Returns all chunks that may be seen, unordered. */
  all(): number[];
  /** Returns up to `most` chunks of the scope, visible or not, unordered. */
  ofScope(most: number): number[];
  /** Returns those of the given chunks that are gone or marked as deleted, which is final. */
  deletedAmong(numbers: readonly number[]): Set<number>;
  read(numbers: readonly number[]): Map<number, Passage>;
}

const entryOf = "(e.project_id, e.environment, e.id) = (c.project_id, c.environment, c.entry_id)";

/** Returns the scope and metadata of chunks. Neither changes during their lifetime. */
export function factsOf(sqlite: Database, numbers: readonly number[]): Map<number, EntryFacts> {
  const sql = `SELECT c.number, e.scope_id, e.metadata FROM memory_chunks c CROSS JOIN memory_entries e ON ${entryOf}
    WHERE c.number IN (SELECT value FROM json_each(?))`;
  const rows = allCached<EntryFacts & { number: number }>(sqlite, sql, [JSON.stringify(numbers)]);
  return new Map(rows.map((row) => [row.number, row]));
}

/** Returns those of the given chunks whose rows are gone. */
export function deletedChunks(sqlite: Database, numbers: Iterable<number>): Set<number> {
  const sql = `SELECT value AS number FROM json_each(?)
    WHERE NOT EXISTS (SELECT 1 FROM memory_chunks WHERE memory_chunks.number = value)`;
  const rows = allCached<{ number: number }>(sqlite, sql, [JSON.stringify([...numbers])]);
  return new Set(rows.map(({ number }) => number));
}

interface Owner {
  project_id: string;
  environment: string;
  id: string;
  generation: number;
}

/** Returns null if the store is deleted. Throws if its vectors were replaced by another generation. */
export function openPassages(sqlite: Database, { store, mode, scope_id, filter, now }: PassageQuery): Passages | null {
  const [owner] = allCached<Owner>(
    sqlite,
    "SELECT project_id, environment, id, generation FROM memory_stores WHERE number = ? AND deleted_at_ms IS NULL",
    [store.number],
  );
  if (!owner) return null;
  // Old vectors are deleted in slices: the rest would be searched and taken for all.
  if (mode !== "keyword" && owner.generation !== store.generation)
    throw new Error(`The vectors of generation ${store.generation} were replaced.`);
  const seen = visible(scope_id, filter, now);
  const read = filter ? all : allCached; // Not cached with a filter: there are too many of them.
  const numbersOf = (sql: string, values: SQLQueryBindings[]) =>
    read<{ number: number }>(sqlite, sql, values).map(({ number }) => number);

  return {
    visibleAmong(numbers) {
      // The plus prevents a lookup by store, which would read one more page per chunk.
      const sql = `SELECT c.number FROM memory_chunks c CROSS JOIN memory_entries e ON ${entryOf}
        WHERE c.number IN (SELECT value FROM json_each(?)) AND +c.store = ? AND ${seen.sql}`;
      return new Set(numbersOf(sql, [JSON.stringify(numbers), store.number, ...seen.values]));
    },
    all() {
      const sql = `SELECT c.number FROM memory_entries e CROSS JOIN memory_chunks c ON ${entryOf}
        WHERE e.project_id = ? AND e.environment = ? AND e.memory_id = ? AND ${seen.sql}`;
      return numbersOf(sql, [owner.project_id, owner.environment, owner.id, ...seen.values]);
    },
    ofScope(most) {
      const sql = `SELECT c.number FROM memory_entries e CROSS JOIN memory_chunks c ON ${entryOf}
        WHERE e.project_id = ? AND e.environment = ? AND e.memory_id = ? AND e.scope_id = ? LIMIT ?`;
      return numbersOf(sql, [owner.project_id, owner.environment, owner.id, scope_id, most]);
    },
    deletedAmong(numbers) {
      const sql = `SELECT value AS number FROM json_each(?) WHERE NOT EXISTS (SELECT 1 FROM memory_chunks c
        CROSS JOIN memory_entries e ON ${entryOf} WHERE c.number = value AND e.deleted_at_ms IS NULL)`;
      return new Set(numbersOf(sql, [JSON.stringify(numbers)]));
    },
    read(numbers) {
      const sql = `SELECT c.number, c.entry_id, e.file_id, c.chunk_index, c.text, c.page, c.heading, e.metadata
        FROM memory_chunks c CROSS JOIN memory_entries e ON ${entryOf}
        WHERE c.number IN (SELECT value FROM json_each(?))`;
      type Row = Omit<Passage, "metadata"> & { number: number; metadata: string };
      const rows = allCached<Row>(sqlite, sql, [JSON.stringify(numbers)]);
      return new Map(rows.map(({ number, ...row }) => [number, { ...row, metadata: JSON.parse(row.metadata) }]));
    },
  };
}

function visible(scope_id: string, filter: Filter | null, now: number): Condition {
  const wanted = filter ? conditionOf(filter, "e.metadata") : { sql: "TRUE", values: [] };
  return {
    sql: `e.scope_id = ? AND e.status = 'ready' AND e.deleted_at_ms IS NULL AND (e.expires_at_ms IS NULL OR e.expires_at_ms > ?)
      AND ${wanted.sql}`,
    values: [scope_id, now, ...wanted.values],
  };
}
