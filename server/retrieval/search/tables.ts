import type { Database } from "bun:sqlite";
import { addSpellings, createSpellings, removeSpellings } from "./spellings.ts";
import { all, runEach } from "./statements.ts";
import { formerWordText, wordText } from "./word-text.ts";

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
export const wordsTable = (number: number): string => `memory_${whole(number)}_terms`;

/** The one of stores that were made when words were indexed as they are written; it goes when the other one is whole. */
const formerWordsTable = (number: number): string => `memory_${whole(number)}_words`;

const spellingsTable = (number: number): string => `memory_${whole(number)}_spellings`;

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
  createWordTables(sqlite, tables.number);
  sqlite.run(`CREATE VIRTUAL TABLE IF NOT EXISTS ${vectorsTable(tables)} USING vec0(
    embedding float[${whole(tables.dimensions)}] distance_metric=cosine, chunk_size=${chunk_size})`);
}

function createWordTables(sqlite: Database, storeNumber: number): void {
  sqlite.run(`CREATE VIRTUAL TABLE IF NOT EXISTS ${wordsTable(storeNumber)} USING fts5(
    text, content = memory_chunks, content_rowid = number, tokenize = 'porter unicode61 remove_diacritics 2')`);
  createSpellings(sqlite, spellingsTable(storeNumber));
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
  createWordTables(sqlite, storeNumber);
  const fresh = addTo(sqlite, wordsTable(storeNumber), rows, wordText);
  addSpellings(
    sqlite,
    spellingsTable(storeNumber),
    fresh.map(({ text }) => text),
  );
  const former = formerWordsTable(storeNumber);
  if (exists(sqlite, former)) addTo(sqlite, former, rows, formerWordText);
}

function addTo(sqlite: Database, table: string, rows: readonly NumberedText[], indexed: (text: string) => string) {
  const known = withWords(sqlite, table, rows);
  const fresh = rows.filter(({ number }) => !known.has(number));
  const values = fresh.map(({ number, text }) => [number, indexed(text)]);
  runEach(sqlite, `INSERT INTO ${table} (rowid, text) VALUES (?, ?)`, values);
  return fresh;
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
  removeWords(sqlite, number, numbers);
  for (const table of vectorTables(sqlite, number))
    runEach(
      sqlite,
      `DELETE FROM ${table} WHERE rowid = ?`,
      numbers.map((each) => [each]),
    );
}

function removeWords(sqlite: Database, storeNumber: number, numbers: readonly number[]): void {
  const sql = "SELECT number, text FROM memory_chunks WHERE number IN (SELECT value FROM json_each(?))";
  const rows = all<NumberedText>(sqlite, sql, [JSON.stringify(numbers)]);
  const gone = removeFrom(sqlite, wordsTable(storeNumber), rows, wordText);
  if (gone.length > 0)
    removeSpellings(
      sqlite,
      spellingsTable(storeNumber),
      gone.map(({ text }) => text),
    );
  removeFrom(sqlite, formerWordsTable(storeNumber), rows, formerWordText);
}

function removeFrom(sqlite: Database, table: string, rows: readonly NumberedText[], indexed: (text: string) => string) {
  if (!exists(sqlite, table)) return [];
  const known = withWords(sqlite, table, rows);
  const there = rows.filter(({ number }) => known.has(number));
  const values = there.map(({ number, text }) => [number, indexed(text)]);
  runEach(sqlite, `INSERT INTO ${table} (${table}, rowid, text) VALUES ('delete', ?, ?)`, values);
  return there;
}

/** The words that are searched: the former ones for as long as they are there, which nobody corrects. */
export function searchedWords(sqlite: Database, storeNumber: number): { table: string; spellings: string | null } {
  const former = formerWordsTable(storeNumber);
  if (exists(sqlite, former)) return { table: former, spellings: null };
  return { table: wordsTable(storeNumber), spellings: spellingsTable(storeNumber) };
}

/** Stores whose words are still indexed as they once were. */
export function formerStores(sqlite: Database): number[] {
  const sql = `SELECT number FROM memory_stores JOIN sqlite_schema s ON s.name = 'memory_' || number || '_words'
    WHERE deleted_at_ms IS NULL`;
  return all<{ number: number }>(sqlite, sql).map(({ number }) => number);
}

/** A store's new words are searched from now on: every chunk has them. The former ones go at once, as FTS5 deletes. */
export const dropFormerWords = (sqlite: Database, storeNumber: number): void =>
  void sqlite.run(`DROP TABLE IF EXISTS ${formerWordsTable(storeNumber)}`);

/** Asked of the table itself: a list of all tables is read from end to end, and there are some for each store. */
function exists(sqlite: Database, table: string): boolean {
  try {
    all(sqlite, `SELECT 1 FROM ${table} WHERE FALSE`);
    return true;
  } catch (error) {
    if (error instanceof Error && error.message.startsWith("no such table")) return false;
    throw error;
  }
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
  const words = [wordsTable, formerWordsTable, spellingsTable].map((nameOf) => nameOf(number));
  for (const table of [...words, ...vectorTables(sqlite, number)]) sqlite.run(`DROP TABLE IF EXISTS ${table}`);
}
