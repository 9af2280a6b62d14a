import { closeSync, fstatSync, mkdirSync, openSync, readSync, rmSync } from "node:fs";
import { open, rename } from "node:fs/promises";
import { join } from "node:path";
import type { Int8Rows } from "./int8-rows.ts";
import type { StoreTables } from "./tables.ts";

/** Increase it if the file format changes. */
const version = 1;
/** Version, generation, dimensions, count and last piece. */
const header_bytes = 5 * 8;
const slice_bytes = 2 ** 22;

const fileOf = (folder: string, storeNumber: number): string => join(folder, `${storeNumber}.int8`);

export const deleteVectorCache = (folder: string, storeNumber: number): void =>
  rmSync(fileOf(folder, storeNumber), { force: true });

/**
 * Adds the cached rows in parts and returns the id of the last piece included. Returns null if there is no cache of
 * these tables, or it is incomplete; `rows` may then have some and must be cleared.
 */
export function* readVectorCache(folder: string, tables: StoreTables, rows: Int8Rows): Generator<void, number | null> {
  const file = opened(fileOf(folder, tables.number));
  if (file === null) return null;
  try {
    const { size } = fstatSync(file);
    if (size < header_bytes) return null;
    const [written, generation, dimensions, count = 0, last = 0] = new Float64Array(read(file, header_bytes, 0));
    if (written !== version || generation !== tables.generation || dimensions !== tables.dimensions) return null;
    if (size !== header_bytes + count * (8 + rows.size)) return null;
    const numbers = new Float64Array(read(file, 8 * count, header_bytes));
    const some = Math.max(1, Math.floor(slice_bytes / rows.size));
    for (let from = 0; from < numbers.length; from += some) {
      const slice = numbers.subarray(from, from + some);
      const place = header_bytes + 8 * numbers.length + from * rows.size;
      rows.take(slice, new Uint8Array(read(file, slice.length * rows.size, place)));
      yield;
    }
    return last;
  } finally {
    closeSync(file);
  }
}

function opened(path: string): number | null {
  try {
    return openSync(path, "r");
  } catch {
    return null;
  }
}

function read(file: number, length: number, from: number): ArrayBuffer {
  const bytes = new Uint8Array(length);
  for (let at = 0; at < length; ) {
    const bytesRead = readSync(file, bytes, at, length - at, from + at);
    if (bytesRead === 0) throw new Error("A file of kept vectors became shorter.");
    at += bytesRead;
  }
  return bytes.buffer;
}

/**
 * Writes the current rows to the cache in slices; rows added meanwhile are left out. The file is discarded if a row is
 * removed meanwhile, or `isWanted` turns false.
 */
export async function writeVectorCache(
  folder: string,
  tables: StoreTables,
  { rows, last, isWanted }: { rows: Int8Rows; last: number; isWanted: () => boolean },
): Promise<void> {
  const { count, removals } = rows;
  const isSame = () => isWanted() && rows.removals === removals;
  const path = fileOf(folder, tables.number);
  const numbers = rows.numbers(count);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const file = await open(`${path}.new`, "w", 0o600);
  try {
    const header = Float64Array.of(version, tables.generation, tables.dimensions, count, last);
    await file.write(new Uint8Array(header.buffer));
    await file.write(new Uint8Array(numbers.buffer));
    const some = Math.max(1, Math.floor(slice_bytes / rows.size));
    for (let from = 0; from < count && isSame(); from += some)
      await file.write(rows.copy(from, Math.min(from + some, count)));
  } finally {
    await file.close();
  }
  if (isSame()) await rename(`${path}.new`, path);
  else rmSync(`${path}.new`, { force: true });
}
