import type { Database } from "bun:sqlite";
import { all, runEach } from "./statements.ts";
import { wordText } from "./word-text.ts";

/** Which tables are a vector store's: its number, and the generation of its vectors that is meant. */
export interface StoreTables {
  number: number;
  generation: number;
  dimensions: number;
}

export interface NumberedVector {
  /** Of its row in memory_chunks. */
  number: number;
  vector: Float32Array;
}

interface NumberedText {
  number: number;
  text: string;
}

/** vec0 takes the room of so many vectors at once: few, so that a store with one entry stays small. */
export const chunk_size = 16;

/** The name of the table of a store's words. */
export const wordsTable = (number: number): string => `memory_${whole(number)}_words`;

/** The name of the table of a store's vectors of one generation. */
export const vectorsTable = ({ number, generation }: Omit<StoreTables, "dimensions">): string =>
  `memory_${whole(number)}_vectors_${whole(generation)}`;

/** Names of tables cannot be bound: nothing but digits ever gets into one. */
function whole(number: number): number {
  if (!Number.isSafeInteger(number) || number < 0) throw new RangeError(`${number} numbers no table.`);
  return number;
}

/** Makes the tables of a store that are not there yet: again for each generation. */
export function createStoreTables(sqlite: Database, tables: StoreTables): void {
  sqlite.run(`CREATE VIRTUAL TABLE IF NOT EXISTS ${wordsTable(tables.number)} USING fts5(
    text, content = memory_chunks, content_rowid = number, tokenize = 'porter unicode61 remove_diacritics 2')`);
  sqlite.run(`CREATE VIRTUAL TABLE IF NOT EXISTS ${vectorsTable(tables)} USING vec0(
    embedding float[${whole(tables.dimensions)}] distance_metric=cosine, chunk_size=${chunk_size})`);
}

/** Adds vectors of chunks. Throws a RangeError, and adds nothing, when one is none that could be searched. */
export function addVectors(sqlite: Database, tables: StoreTables, rows: readonly NumberedVector[]): void {
  for (const { number, vector } of rows) requireVector(number, vector, tables.dimensions);
  const sql = `INSERT INTO ${vectorsTable(tables)} (rowid, embedding) VALUES (?, ?)`;
  runEach(
    sqlite,
    sql,
    rows.map(({ number, vector }) => [number, bytesOf(vector)]),
  );
}

const bytesOf = (vector: Float32Array) => new Uint8Array(vector.buffer, vector.byteOffset, vector.byteLength);

function requireVector(number: number, vector: Float32Array, dimensions: number): void {
  if (vector.length !== dimensions)
    throw new RangeError(`The vector of chunk ${number} has ${vector.length} dimensions instead of ${dimensions}.`);
  let squares = 0;
  for (let index = 0; index < dimensions; index++) squares += vector[index]! ** 2;
  // One such number would make every comparison with it false, and the order of matches meaningless.
  if (!Number.isFinite(squares)) throw new RangeError(`The vector of chunk ${number} is not finite.`);
  if (squares < smallest) throw new RangeError(`The vector of chunk ${number} is zero: it has no direction.`);
}

/** Below, the numbers of a vector have lost their digits. */
const smallest = 1e-30;

/** Adds the words of chunks that are in memory_chunks with the same text. Chunks whose words are there are left out. */
export function addWords(sqlite: Database, storeNumber: number, rows: readonly NumberedText[]): void {
  const table = wordsTable(storeNumber);
  const known = withWords(sqlite, table, rows);
  const fresh = rows.filter(({ number }) => !known.has(number));
  const sql = `INSERT INTO ${table} (rowid, text) VALUES (?, ?)`;
  runEach(
    sqlite,
    sql,
    fresh.map(({ number, text }) => [number, wordText(text)]),
  );
}

/** FTS5 keeps the length of each row that it knows, and believes whatever it is told of the rest. */
function withWords(sqlite: Database, table: string, rows: readonly { number: number }[]): Set<number> {
  const sql = `SELECT id FROM ${table}_docsize WHERE id IN (SELECT value FROM json_each(?))`;
  const found = all<{ id: number }>(sqlite, sql, [JSON.stringify(rows.map(({ number }) => number))]);
  return new Set(found.map(({ id }) => id));
}

/**
 * Removes chunks from the words and from the vectors of all generations, whether they are in there or not. Before their
 * rows go from memory_chunks, and in the same transaction: the words to remove are read from there.
 */
export function removeChunks(sqlite: Database, { number }: { number: number }, numbers: readonly number[]): void {
  removeWords(sqlite, wordsTable(number), numbers);
  for (const table of vectorTables(sqlite, number))
    runEach(
      sqlite,
      `DELETE FROM ${table} WHERE rowid = ?`,
      numbers.map((each) => [each]),
    );
}

function removeWords(sqlite: Database, table: string, numbers: readonly number[]): void {
  if (!exists(sqlite, table)) return;
  const sql = "SELECT number, text FROM memory_chunks WHERE number IN (SELECT value FROM json_each(?))";
  const rows = all<NumberedText>(sqlite, sql, [JSON.stringify(numbers)]);
  const known = withWords(sqlite, table, rows);
  const there = rows.filter((row) => known.has(row.number));
  runEach(
    sqlite,
    `INSERT INTO ${table} (${table}, rowid, text) VALUES ('delete', ?, ?)`,
    there.map((row) => [row.number, wordText(row.text)]),
  );
}

function exists(sqlite: Database, table: string): boolean {
  return all(sqlite, "SELECT 1 FROM sqlite_schema WHERE name = ?", [table]).length > 0;
}

function vectorTables(sqlite: Database, number: number): string[] {
  const sql = "SELECT name FROM sqlite_schema WHERE name GLOB ? AND sql LIKE 'CREATE VIRTUAL TABLE%'";
  return all<{ name: string }>(sqlite, sql, [`memory_${whole(number)}_vectors_*`]).map(({ name }) => name);
}

/** Drops the vectors of one generation at once: whoever has many removes them in slices before. */
export function dropVectors(sqlite: Database, tables: Omit<StoreTables, "dimensions">): void {
  sqlite.run(`DROP TABLE IF EXISTS ${vectorsTable(tables)}`);
}

/** Drops all tables of a store at once: whoever has many chunks removes them in slices before. */
export function dropStoreTables(sqlite: Database, { number }: { number: number }): void {
  for (const table of [wordsTable(number), ...vectorTables(sqlite, number)])
    sqlite.run(`DROP TABLE IF EXISTS ${table}`);
}
