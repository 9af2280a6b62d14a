import type { Database } from "bun:sqlite";
import { addSpellings, createSpellings, removeSpellings } from "./spellings.ts";
import { all, runEach } from "./statements.ts";
import { foldedWordText, formerWordText, wordText } from "./word-text.ts";

/** Tables of a vector store: its number, and the generation of its vectors. */
export interface StoreTables {
  number: number;
  generation: number;
  dimensions: number;
}

export interface NumberedVector {
  /** Number of the row in memory_chunks. */
  number: number;
  vector: Float32Array;
}

interface NumberedText {
  number: number;
  text: string;
}

/** vec0 allocates this many vectors at a time: few, so that a store with one entry stays small. */
export const chunk_size = 16;

interface WordIndex {
  /** Ending of the table's name. */
  suffix: string;
  /** The text that the table indexes for a chunk. */
  textOf: (text: string) => string;
  /** True if the store's spellings belong to it. */
  hasSpellings: boolean;
}

/** Word indexes of earlier versions, oldest first. Each is dropped when the present one is complete. */
const formerIndexes: readonly WordIndex[] = [
  { suffix: "words", textOf: formerWordText, hasSpellings: false },
  { suffix: "terms", textOf: foldedWordText, hasSpellings: true },
];
const presentIndex: WordIndex = { suffix: "forms", textOf: wordText, hasSpellings: true };

const tableOf = ({ suffix }: WordIndex, number: number): string => `memory_${requireWholeNumber(number)}_${suffix}`;

/** Returns the name of a store's table of words. */
export const wordsTable = (number: number): string => tableOf(presentIndex, number);

const spellingsTable = (number: number): string => `memory_${requireWholeNumber(number)}_spellings`;

/** Returns the name of the table with one generation of a store's vectors. */
export const vectorsTable = ({ number, generation }: Omit<StoreTables, "dimensions">): string =>
  `memory_${requireWholeNumber(number)}_vectors_${requireWholeNumber(generation)}`;

/** Table names cannot be bound as values, so only digits may get into one. */
function requireWholeNumber(number: number): number {
  if (!Number.isSafeInteger(number) || number < 0) throw new RangeError(`${number} numbers no table.`);
  return number;
}

/** Creates missing tables of a store; called for each generation. */
export function createStoreTables(sqlite: Database, tables: StoreTables): void {
  createWordTables(sqlite, tables.number);
  sqlite.run(`CREATE VIRTUAL TABLE IF NOT EXISTS ${vectorsTable(tables)} USING vec0(
    embedding float[${requireWholeNumber(tables.dimensions)}] distance_metric=cosine, chunk_size=${chunk_size})`);
}

function createWordTables(sqlite: Database, storeNumber: number): void {
  sqlite.run(`CREATE VIRTUAL TABLE IF NOT EXISTS ${wordsTable(storeNumber)} USING fts5(
    text, content = memory_chunks, content_rowid = number, tokenize = 'porter unicode61 remove_diacritics 2')`);
  createSpellings(sqlite, spellingsTable(storeNumber));
}

/** Adds vectors of chunks. Throws RangeError, and adds nothing, if one cannot be searched. */
export function addVectors(sqlite: Database, tables: StoreTables, rows: readonly NumberedVector[]): void {
  for (const { number, vector } of rows) requireVector(number, vector, tables.dimensions);
  const sql = `INSERT INTO ${vectorsTable(tables)} (rowid, embedding) VALUES ($number, $vector)`;
  runEach(
    sqlite,
    sql,
    rows.map(({ number, vector }) => ({ number, vector: bytesOf(vector) })),
  );
}

const bytesOf = (vector: Float32Array) => new Uint8Array(vector.buffer, vector.byteOffset, vector.byteLength);

function requireVector(number: number, vector: Float32Array, dimensions: number): void {
  if (vector.length !== dimensions)
    throw new RangeError(`The vector of chunk ${number} has ${vector.length} dimensions instead of ${dimensions}.`);
  let squares = 0;
  for (let index = 0; index < dimensions; index++) squares += (vector[index] ?? 0) ** 2;
  // A non-finite number would make all comparisons false and the order of matches meaningless.
  if (!Number.isFinite(squares)) throw new RangeError(`The vector of chunk ${number} is not finite.`);
  if (squares < minSquaredLength) throw new RangeError(`The vector of chunk ${number} is zero: it has no direction.`);
}

/** Minimum squared length: below it the numbers have lost their precision. */
const minSquaredLength = 1e-30;

/** Indexes the words of chunks that are in memory_chunks with the same text. Chunks already indexed are skipped. */
export function addWords(sqlite: Database, storeNumber: number, rows: readonly NumberedText[]): void {
  createWordTables(sqlite, storeNumber);
  const spelled = new Set<number>();
  for (const index of [...formerIndexes.filter((one) => exists(sqlite, tableOf(one, storeNumber))), presentIndex]) {
    const table = tableOf(index, storeNumber);
    if (index.hasSpellings) for (const number of indexedRows(sqlite, table, rows)) spelled.add(number);
    addTo(sqlite, table, rows, index.textOf);
  }
  // The spellings of chunks that an earlier index has are counted already.
  const newRows = rows.filter(({ number }) => !spelled.has(number));
  addSpellings(
    sqlite,
    spellingsTable(storeNumber),
    newRows.map(({ text }) => text),
  );
}

function addTo(sqlite: Database, table: string, rows: readonly NumberedText[], indexed: (text: string) => string) {
  const known = indexedRows(sqlite, table, rows);
  const newRows = rows.filter(({ number }) => !known.has(number));
  const values = newRows.map(({ number, text }) => ({ number, text: indexed(text) }));
  runEach(sqlite, `INSERT INTO ${table} (rowid, text) VALUES ($number, $text)`, values);
}

/**
 * Returns the rows whose words are indexed, from FTS5's table of row lengths: FTS5 itself does not check that a row
 * added is new, or a row deleted is there.
 */
function indexedRows(sqlite: Database, table: string, rows: readonly { number: number }[]): Set<number> {
  const sql = `SELECT id FROM ${table}_docsize WHERE id IN (SELECT value FROM json_each(?))`;
  const found = all<{ id: number }>(sqlite, sql, [JSON.stringify(rows.map(({ number }) => number))]);
  return new Set(found.map(({ id }) => id));
}

/**
 * Removes chunks from the words and the vectors of all generations, if they are there. Call it before their rows are
 * deleted from memory_chunks, in the same transaction, because their texts are read from there.
 */
export function removeChunks(sqlite: Database, { number }: { number: number }, numbers: readonly number[]): void {
  removeWords(sqlite, number, numbers);
  for (const table of vectorTables(sqlite, number))
    runEach(
      sqlite,
      `DELETE FROM ${table} WHERE rowid = $number`,
      numbers.map((number) => ({ number })),
    );
}

function removeWords(sqlite: Database, storeNumber: number, numbers: readonly number[]): void {
  const sql = "SELECT number, text FROM memory_chunks WHERE number IN (SELECT value FROM json_each(?))";
  const rows = all<NumberedText>(sqlite, sql, [JSON.stringify(numbers)]);
  const removed = new Set<number>();
  for (const index of [...formerIndexes, presentIndex]) {
    const removedRows = removeFrom(sqlite, tableOf(index, storeNumber), rows, index.textOf);
    if (index.hasSpellings) for (const { number } of removedRows) removed.add(number);
  }
  if (removed.size === 0) return;
  const removedRows = rows.filter(({ number }) => removed.has(number));
  removeSpellings(
    sqlite,
    spellingsTable(storeNumber),
    removedRows.map(({ text }) => text),
  );
}

function removeFrom(sqlite: Database, table: string, rows: readonly NumberedText[], indexed: (text: string) => string) {
  if (!exists(sqlite, table)) return [];
  const known = indexedRows(sqlite, table, rows);
  const existingRows = rows.filter(({ number }) => known.has(number));
  const values = existingRows.map(({ number, text }) => ({ number, text: indexed(text) }));
  runEach(sqlite, `INSERT INTO ${table} (${table}, rowid, text) VALUES ('delete', $number, $text)`, values);
  return existingRows;
}

/** Returns the tables to search: the former words, which are complete, until they are replaced. */
export function searchedWords(sqlite: Database, storeNumber: number): { table: string; spellings: string | null } {
  const index = formerIndexes.find((one) => exists(sqlite, tableOf(one, storeNumber))) ?? presentIndex;
  return {
    table: tableOf(index, storeNumber),
    spellings: index.hasSpellings ? spellingsTable(storeNumber) : null,
  };
}

/** Returns the stores whose words are still indexed in a former way. */
export function formerStores(sqlite: Database): number[] {
  const sql = `SELECT DISTINCT number FROM memory_stores JOIN json_each(?) suffix
    JOIN sqlite_schema s ON s.name = 'memory_' || number || '_' || suffix.value WHERE deleted_at_ms IS NULL`;
  const suffixes = JSON.stringify(formerIndexes.map(({ suffix }) => suffix));
  return all<{ number: number }>(sqlite, sql, [suffixes]).map(({ number }) => number);
}

/** Switches a store to its new words, which are complete, by dropping the former tables. */
export function dropFormerWords(sqlite: Database, storeNumber: number): void {
  for (const index of formerIndexes) sqlite.run(`DROP TABLE IF EXISTS ${tableOf(index, storeNumber)}`);
}

/** Queries the table itself, because listing all tables is slow with several tables per store. */
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
  return all<{ name: string }>(sqlite, sql, [`memory_${requireWholeNumber(number)}_vectors_*`]).map(({ name }) => name);
}

/** Drops one generation of vectors at once. If there are many, remove them in slices first. */
export function dropVectors(sqlite: Database, tables: Omit<StoreTables, "dimensions">): void {
  sqlite.run(`DROP TABLE IF EXISTS ${vectorsTable(tables)}`);
}

/** Drops all tables of a store at once. If it has many chunks, remove them in slices first. */
export function dropStoreTables(sqlite: Database, { number }: { number: number }): void {
  const words = [...formerIndexes, presentIndex].map((index) => tableOf(index, number));
  for (const table of [...words, spellingsTable(number), ...vectorTables(sqlite, number)])
    sqlite.run(`DROP TABLE IF EXISTS ${table}`);
}
