import type { Database, SQLQueryBindings } from "bun:sqlite";
import { newId, timeOf } from "../../domain/ids.ts";
import { requireValue } from "../../lib/require-value.ts";
import {
  addVectors,
  addWords,
  createStoreTables,
  dropStoreTables,
  vectorsTable,
} from "../../runtime/retrieval/vector-search/tables.ts";
import { onlyRow } from "../../storage/db/only-row.ts";
import { type OwnedTable, ownedTables } from "./erase.ts";

type Value = string | number | null | Uint8Array;

/** Rows of one table. */
interface Rows {
  table: string;
  columns: string[];
  rows: Value[][];
}

/** Thrown if a project is too large to be moved. */
export class TooLarge extends Error {}

// Uncompressed length of a piece. A larger row is a piece of its own.
const piece_length = 1024 * 1024;
/** The search index is rebuilt at the target: triggers and `runs.projected` tell what to index. */
const derived = ["search_documents", "search_changes"];
/** Stands in parcels for the vector tables, of which each store has its own. */
const vectors = "vectors";

/** Tables of a project, referenced ones first, because rows are inserted in this order. */
function tablesToCopy(sqlite: Database): { table: string; of: string }[] {
  const owned = ownedTables(sqlite)
    .toReversed()
    .filter(({ table }) => !derived.includes(table));
  return [
    { table: "projects", of: "id = ?" },
    ...owned.flatMap(({ table, children }) => [
      // In order of creation, because of equal passages the older one ranks first.
      { table, of: table === "memory_chunks" ? "project_id = ? ORDER BY number" : "project_id = ?" },
      ...children.map((child) => ({ table: child.table, of: ofParent(table, child) })),
    ]),
  ];
}

const ofParent = (table: string, { column, parent }: OwnedTable["children"][number]): string =>
  `${column} IN (SELECT ${parent} FROM ${table} WHERE project_id = ?)`;

/**
 * Exports all rows of a project in pieces. Throws `TooLarge` above `most_bytes`. Call inside a write or a read
 * transaction.
 */
export function exportProject(
  sqlite: Database,
  projectId: string,
  take: (piece: Uint8Array) => void,
  most_bytes: number,
): void {
  let remaining = most_bytes;

  function pack(table: string, columns: string[], rows: Iterable<Value[]>): void {
    let [some, length]: [Value[][], number] = [[], 0];
    const flush = (): void => {
      if (some.length === 0) return;
      take(encode({ table, columns, rows: some }));
      remaining -= length;
      if (remaining < 0) throw new TooLarge(`It has more than ${Math.round(most_bytes / 1e6)} MB.`);
      [some, length] = [[], 0];
    };
    for (const row of rows) {
      some.push(row);
      length += row.reduce<number>((sum, value) => sum + lengthOf(value), 0);
      if (length >= piece_length) flush();
    }
    flush();
  }

  for (const { table, of } of tablesToCopy(sqlite)) {
    const columns = columnsOf(sqlite, table);
    pack(table, columns, rowsOf(sqlite, `SELECT ${columns.join(", ")} FROM ${table} WHERE ${of}`, [projectId]));
  }
  for (const { number, generation } of vectorsOf(sqlite, projectId))
    pack(
      vectors,
      ["store", "generation", "number", "embedding"],
      rowsOf(
        sqlite,
        `SELECT ${number} AS store, ${generation} AS generation, rowid AS number, embedding
         FROM ${vectorsTable({ number, generation })} ORDER BY rowid`,
        [],
      ),
    );
}

const lengthOf = (value: Value): number => (typeof value === "object" ? (value?.length ?? 4) : String(value).length);

const columnsOf = (sqlite: Database, table: string): string[] =>
  sqlite
    .query<{ name: string }, [string]>("SELECT name FROM pragma_table_info(?)")
    .all(table)
    .map(({ name }) => name);

function* rowsOf(sqlite: Database, sql: string, values: SQLQueryBindings[]): Generator<Value[]> {
  using statement = sqlite.prepare<Record<string, Value>, SQLQueryBindings[]>(sql);
  for (const row of statement.iterate(...values)) yield Object.values(row);
}

interface StoreVectors {
  number: number;
  generation: number;
  dimensions: number;
}

/** Current and next vectors of a project's stores. */
function vectorsOf(sqlite: Database, projectId: string): StoreVectors[] {
  return sqlite
    .query<StoreVectors, [string]>(
      `SELECT s.number, s.generation, s.dimensions FROM (
         SELECT project_id, number, generation, dimensions FROM memory_stores WHERE generation IS NOT NULL
         UNION ALL SELECT project_id, number, last_generation, next_dimensions FROM memory_stores WHERE next_model IS NOT NULL
       ) s JOIN sqlite_schema t ON t.name = 'memory_' || s.number || '_vectors_' || s.generation WHERE s.project_id = ?`,
    )
    .all(projectId);
}

/** Deletes everything that `exportProject` exports, and the project itself. Call inside a write. */
export function removeProject(sqlite: Database, projectId: string): void {
  leaveWords(sqlite, projectId);
  const stores = sqlite.query<{ number: number }, [string]>("SELECT number FROM memory_stores WHERE project_id = ?");
  for (const store of stores.all(projectId)) dropStoreTables(sqlite, store);
  for (const { table, children } of ownedTables(sqlite)) {
    for (const child of children)
      sqlite.query(`DELETE FROM ${child.table} WHERE ${ofParent(table, child)}`).run(projectId);
    sqlite.query(`DELETE FROM ${table} WHERE project_id = ?`).run(projectId);
  }
  sqlite.query("DELETE FROM projects WHERE id = ?").run(projectId);
}

/**
 * Moves the index entries of a project to a deleted one, which is erased in small writes, because deleting them takes
 * long. Searches do not find them, because that project does not exist.
 */
function leaveWords(sqlite: Database, projectId: string): void {
  if (!sqlite.query("SELECT 1 FROM search_documents WHERE project_id = ?").get(projectId)) return;
  const placeholderId = newId("project");
  sqlite
    .query(
      `INSERT INTO projects (id, name, created_at_ms, archived_at_ms, deleted_at_ms)
       VALUES (?1, 'deleted ' || ?1, ?2, ?2, ?2)`,
    )
    .run(placeholderId, timeOf(placeholderId));
  sqlite.query("UPDATE search_documents SET project_id = ? WHERE project_id = ?").run(placeholderId, projectId);
}

/** Inserts exported rows, here or in another cell. Database-local numbers are reassigned. Call inside a write. */
export function importProject(sqlite: Database, pieces: Iterable<Uint8Array>): void {
  const numbers = createNumbers(sqlite);
  for (const piece of pieces) {
    const { table, columns, rows } = decode(piece);
    if (table === vectors) insertVectors(sqlite, rows, numbers);
    else insertRows(sqlite, { table, columns, rows: rows.map((row) => numbers.rowAs(table, columns, row)) });
    if (table === "memory_chunks") insertWords(sqlite, columns, rows, numbers);
  }
}

function insertRows(sqlite: Database, { table, columns, rows }: Rows): void {
  const values = columns.map(() => "?").join(", ");
  const insert = sqlite.query(`INSERT INTO ${table} (${columns.join(", ")}) VALUES (${values})`);
  for (const row of rows) insert.run(...row);
}

type Numbers = ReturnType<typeof createNumbers>;

/** Reassigns the numbers of memory stores and chunks. Everything else has globally unique ids. */
function createNumbers(sqlite: Database) {
  const nextStore = sqlite.query<{ number: number }, []>(
    "UPDATE memory_store_numbers SET number = number + 1 RETURNING number",
  );
  const lastChunk = sqlite.query<{ seq: number }, []>("SELECT seq FROM sqlite_sequence WHERE name = 'memory_chunks'");
  const stores = new Map<number, number>();
  const chunks = new Map<number, number>();
  const dimensions = new Map<string, number>();
  let last = lastChunk.get()?.seq ?? 0;

  function storeAs(row: Record<string, Value>): Value[] {
    const { kind, generation, next_model } = row;
    const number = onlyRow(nextStore.get()).number;
    stores.set(row.number as number, number);
    const createTables = (of: Value, size: Value) => {
      dimensions.set(`${row.number} ${of}`, size as number);
      createStoreTables(sqlite, { number, generation: of as number, dimensions: size as number });
    };
    if (kind === "vector") createTables(generation!, row.dimensions!);
    if (next_model !== null) createTables(row.last_generation!, row.next_dimensions!);
    return Object.values({ ...row, number });
  }

  return {
    store: (number: Value | undefined): number => stores.get(number as number)!,
    chunk: (number: Value | undefined): number | undefined => chunks.get(number as number),
    dimensions: (store: Value, generation: Value): number => dimensions.get(`${store} ${generation}`)!,
    rowAs(table: string, columns: readonly string[], values: Value[]): Value[] {
      const row = () => Object.fromEntries(columns.map((name, index) => [name, values[index]!]));
      if (table === "memory_stores") return storeAs(row());
      if (table === "memory_chunks") {
        const chunk = row();
        chunks.set(chunk.number as number, ++last);
        return Object.values({ ...chunk, number: last, store: stores.get(chunk.store as number)! });
      }
      if (table === "runs") {
        const run = row();
        return Object.values({ ...run, projected: Number(run.projected) & ~searchProjectedBit });
      }
      return values;
    },
  };
}

/** Bit of `runs.projected`: the run is in the search index. */
const searchProjectedBit = 1;

/** Indexes the words of chunks that have a vector. */
function insertWords(sqlite: Database, columns: readonly string[], rows: Value[][], numbers: Numbers): void {
  const at = (name: string) => columns.indexOf(name);
  const [number, store, text, generation] = [at("number"), at("store"), at("text"), at("generation")];
  const indexed = rows.filter((row) => Number(row[generation]) > 0);
  for (const [own, some] of Map.groupBy(indexed, (row) => numbers.store(row[store])))
    addWords(
      sqlite,
      own,
      some.map((row) => ({ number: requireValue(numbers.chunk(row[number]), "A chunk"), text: String(row[text]) })),
    );
}

function insertVectors(sqlite: Database, rows: Value[][], numbers: Numbers): void {
  for (const [name, some] of Map.groupBy(rows, ([store, generation]) => `${store} ${generation}`)) {
    const [store, generation] = name.split(" ").map(Number) as [number, number];
    addVectors(
      sqlite,
      { number: numbers.store(store), generation, dimensions: numbers.dimensions(store, generation) },
      some.flatMap(([, , chunk, bytes]) => {
        const number = numbers.chunk(chunk);
        return number === undefined ? [] : [{ number, vector: floatsOf(bytes as Uint8Array) }]; // Else it is deleted.
      }),
    );
  }
}

const floatsOf = (bytes: Uint8Array): Float32Array => new Float32Array(new Uint8Array(bytes).buffer);

/** JSON with bytes as an array of one base64 string, compressed. */
const encode = ({ table, columns, rows }: Rows): Uint8Array => {
  const jsonRows = rows.map((row) => row.map((value) => (value instanceof Uint8Array ? [value.toBase64()] : value)));
  return Bun.zstdCompressSync(JSON.stringify({ table, columns, rows: jsonRows }), { level: 1 });
};

function decode(piece: Uint8Array): Rows {
  const { table, columns, rows } = JSON.parse(new TextDecoder().decode(Bun.zstdDecompressSync(piece))) as {
    table: string;
    columns: string[];
    rows: (string | number | null | [string])[][];
  };
  const toValue = (value: string | number | null | [string]): Value =>
    Array.isArray(value) ? Uint8Array.fromBase64(value[0]) : value;
  return { table, columns, rows: rows.map((row) => row.map(toValue)) };
}
