import type { Database } from "bun:sqlite";
import { all } from "./statements.ts";
import { type NumberedVector, type StoreTables, vectorsTable } from "./tables.ts";

/** A storage chunk of a vec0 table, unlike a chunk of text. Ids only increase; new vectors go into the last one. */
export interface Piece {
  id: number;
  vectors: NumberedVector[];
}

interface PieceRow {
  id: number;
  size: number;
  validity: Uint8Array;
  rowids: Uint8Array;
  vectors: Uint8Array;
}

/**
 * Reads pieces from an id on, directly from vec0's shadow tables: vec0 returns single vectors only, many times slower.
 */
export function readPieces(sqlite: Database, tables: StoreTables, from: number, most: number): Piece[] {
  const name = vectorsTable(tables);
  // vec0's `rowid` is no real column there: comparing with it reads the whole table.
  const sql = `SELECT chunk_id AS id, size, validity, c.rowids, v.vectors FROM ${name}_chunks c
    CROSS JOIN ${name}_vector_chunks00 v ON v._rowid_ = c.chunk_id WHERE chunk_id >= $from ORDER BY chunk_id LIMIT $most`;
  return all<PieceRow>(sqlite, sql, [{ from, most }]).map((row) => ({ id: row.id, vectors: vectorsOf(row, tables) }));
}

function vectorsOf({ size, validity, rowids, vectors }: PieceRow, { dimensions }: StoreTables): NumberedVector[] {
  const numbers = new DataView(rowids.buffer, rowids.byteOffset, rowids.byteLength);
  const values = floats(vectors);
  const found: NumberedVector[] = [];
  for (let slot = 0; slot < size; slot++) {
    if (((validity[slot >> 3] ?? 0) & (1 << (slot & 7))) === 0) continue;
    const vector = values.subarray(slot * dimensions, (slot + 1) * dimensions);
    found.push({ number: Number(numbers.getBigInt64(8 * slot, true)), vector });
  }
  return found;
}

/** Returns about the number of vectors: removed ones are included. */
export function countVectors(sqlite: Database, tables: StoreTables): number {
  const sql = `SELECT count(*) * max(size) AS slots FROM ${vectorsTable(tables)}_chunks`;
  return all<{ slots: number | null }>(sqlite, sql)[0]?.slots ?? 0;
}

/** Computes exact cosines of vectors with a query. Missing vectors are left out. */
export function cosinesOf(
  sqlite: Database,
  tables: StoreTables,
  numbers: readonly number[],
  query: Float32Array,
): Map<number, number> {
  return new Map([...vectorsBy(sqlite, tables, numbers)].map(([number, vector]) => [number, cosine(query, vector)]));
}

/** Returns vectors by chunk number. Missing ones are left out. */
export function vectorsBy(
  sqlite: Database,
  tables: StoreTables,
  numbers: readonly number[],
): Map<number, Float32Array> {
  const name = vectorsTable(tables);
  const width = 4 * tables.dimensions;
  const sql = `SELECT r.rowid AS number, substr(v.vectors, r.chunk_offset * ${width} + 1, ${width}) AS vector
    FROM ${name}_rowids r CROSS JOIN ${name}_vector_chunks00 v ON v._rowid_ = r.chunk_id
    WHERE r.rowid IN (SELECT value FROM json_each(?))`;
  const rows = all<{ number: number; vector: Uint8Array }>(sqlite, sql, [JSON.stringify(numbers)]);
  return new Map(rows.map(({ number, vector }) => [number, floats(vector)]));
}

function cosine(a: Float32Array, b: Float32Array): number {
  let [product, first, second] = [0, 0, 0];
  for (let index = 0; index < a.length; index++) {
    const [x, y] = [a[index] ?? 0, b[index] ?? 0];
    product += x * y;
    first += x * x;
    second += y * y;
  }
  return product / Math.sqrt(first * second);
}

function floats(bytes: Uint8Array): Float32Array {
  const whole = bytes.byteOffset % 4 === 0 ? bytes : bytes.slice();
  return new Float32Array(whole.buffer, whole.byteOffset, whole.byteLength / 4);
}
