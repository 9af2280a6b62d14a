import type { Database, SQLQueryBindings } from "bun:sqlite";
import type { EntryFacts } from "./entry-facts.ts";
import { type Condition, conditionOf, type Filter } from "./filter.ts";
import { all, allKept } from "./statements.ts";

export type SearchMode = "hybrid" | "vector" | "keyword";

/** Whose passages are searched, and which of them. */
interface Wanted {
  store: { number: number; generation: number };
  mode: SearchMode;
  scope_id: string;
  filter: Filter | null;
  /** What has expired by then is not found. */
  now: number;
}

/** A passage as it is found, without what its search says of it. */
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

/** The passages of one store that an order may see, as they stand in the transaction that reads them. */
export interface Passages {
  /** Of some chunks those that may be seen. */
  among(numbers: readonly number[]): Set<number>;
  /** The chunks that may be seen, in no order. */
  all(): number[];
  /** The chunks of the order's scope, in no order, whether they may be seen or not; at most so many. */
  ofScope(most: number): number[];
  /** Of some chunks those that are not there any more, or deleted, which nothing takes back. */
  gone(numbers: readonly number[]): Set<number>;
  read(numbers: readonly number[]): Map<number, Passage>;
}

const entryOf = "(e.project_id, e.environment, e.id) = (c.project_id, c.environment, c.entry_id)";

/** Whose some chunks are, and their metadata. Neither changes while they are there. */
export function factsOf(sqlite: Database, numbers: readonly number[]): Map<number, EntryFacts> {
  const sql = `SELECT c.number, e.scope_id, e.metadata FROM memory_chunks c CROSS JOIN memory_entries e ON ${entryOf}
    WHERE c.number IN (SELECT value FROM json_each(?))`;
  const rows = allKept<EntryFacts & { number: number }>(sqlite, sql, [JSON.stringify(numbers)]);
  return new Map(rows.map((row) => [row.number, row]));
}

/** Of some chunks those whose rows are gone. */
export function goneOf(sqlite: Database, numbers: Iterable<number>): Set<number> {
  const sql = `SELECT value AS number FROM json_each(?)
    WHERE NOT EXISTS (SELECT 1 FROM memory_chunks WHERE memory_chunks.number = value)`;
  const rows = allKept<{ number: number }>(sqlite, sql, [JSON.stringify([...numbers])]);
  return new Set(rows.map(({ number }) => number));
}

interface Owner {
  project_id: string;
  environment: string;
  id: string;
  generation: number;
}

/** Null when the store is deleted. Throws when it has other vectors by now. */
export function openPassages(sqlite: Database, { store, mode, scope_id, filter, now }: Wanted): Passages | null {
  const [owner] = allKept<Owner>(
    sqlite,
    "SELECT project_id, environment, id, generation FROM memory_stores WHERE number = ? AND deleted_at_ms IS NULL",
    [store.number],
  );
  if (!owner) return null;
  // The old ones go in slices: what is left of them would be found, and taken for all that there is.
  if (mode !== "keyword" && owner.generation !== store.generation)
    throw new Error(`The vectors of generation ${store.generation} were replaced.`);
  const seen = visible(scope_id, filter, now);
  const read = filter ? all : allKept; // Filters are as many as there are questions.
  const numbersOf = (sql: string, values: SQLQueryBindings[]) =>
    read<{ number: number }>(sqlite, sql, values).map(({ number }) => number);

  return {
    among(numbers) {
      // The plus keeps the chunks from being looked up by their store first: a page more for each of them.
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
    gone(numbers) {
      const sql = `SELECT value AS number FROM json_each(?) WHERE NOT EXISTS (SELECT 1 FROM memory_chunks c
        CROSS JOIN memory_entries e ON ${entryOf} WHERE c.number = value AND e.deleted_at_ms IS NULL)`;
      return new Set(numbersOf(sql, [JSON.stringify(numbers)]));
    },
    read(numbers) {
      const sql = `SELECT c.number, c.entry_id, e.file_id, c.chunk_index, c.text, c.page, c.heading, e.metadata
        FROM memory_chunks c CROSS JOIN memory_entries e ON ${entryOf}
        WHERE c.number IN (SELECT value FROM json_each(?))`;
      type Row = Omit<Passage, "metadata"> & { number: number; metadata: string };
      const rows = allKept<Row>(sqlite, sql, [JSON.stringify(numbers)]);
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
