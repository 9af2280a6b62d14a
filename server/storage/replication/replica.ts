import { closeSync, ftruncateSync, openSync, readSync, rmSync, statSync, writeSync } from "node:fs";
import type { SQL } from "bun";
import { requireValue } from "../../lib/require-value.ts";
import { compress, decodeFrames, page_bytes, piecePages, type WalFrames } from "./wal-frames.ts";

/** The log row that a replica has reached. */
export interface Position {
  seq: number;
  epoch: number;
}

// Limits of one read. A row has up to two megabytes of pages, of older versions eight; compressed they may be a tenth, so that
// few rows are read at once.
const [rowsMax, rows_bytes] = [100, 1024 * 1024];
const pagesMax = piecePages;

/**
 * Applies the log to a closed replica and returns its new position. Continues from a position that is in the log,
 * otherwise starts over. Skips a commit whose last piece is missing. Calls `heard` for each part received.
 */
export const catchUp = (
  sql: SQL,
  cell: string,
  path: string,
  from: Position | null,
  onProgress = () => {},
): Promise<Position> =>
  // One snapshot: otherwise rows compacted meanwhile would be read twice or not at all.
  sql.begin("isolation level repeatable read read only", async (snapshot) => {
    const [row] = await snapshot`SELECT base, base_epoch FROM runnel_cells WHERE id = ${cell}`;
    const base: Position = { seq: Number(row.base), epoch: Number(row.base_epoch) };
    const canResume = from !== null && (isSame(from, base) || (await isInLog(snapshot, cell, from)));
    const file = openSync(path, canResume ? "r+" : "w+");
    try {
      let at = canResume ? from : base;
      if (!canResume) await writePages(snapshot, cell, file, onProgress);
      let readSeq = at.seq;
      for (
        let rows = await rowsAfter(snapshot, cell, readSeq);
        rows.length > 0;
        rows = await rowsAfter(snapshot, cell, readSeq)
      ) {
        onProgress();
        for (const { seq, epoch, frames } of rows) {
          if (seq !== readSeq + 1) throw new Error(`The log of the cell "${cell}" has no row ${readSeq + 1}.`);
          readSeq = seq;
          const decoded = decodeFrames(frames);
          if (decoded.size_pages === 0) continue; // Its rows may be many, so they are read again once the last piece is known to exist.
          for (let piece = at.seq + 1; piece < seq; piece++) {
            onProgress();
            writeAll(file, decodeFrames(await frameAt(snapshot, cell, piece)));
          }
          write(file, decoded);
          at = { seq, epoch };
        }
      }
      // Removes the WAL of the database that was here before.
      for (const tail of ["-wal", "-shm"]) rmSync(path + tail, { force: true });
      return at;
    } finally {
      closeSync(file);
    }
  });

const isSame = (a: Position, b: Position): boolean => a.seq === b.seq && a.epoch === b.epoch;

async function isInLog(moment: SQL, cell: string, { seq, epoch }: Position): Promise<boolean> {
  const rows = await moment`SELECT seq FROM runnel_log WHERE cell = ${cell} AND seq = ${seq} AND epoch = ${epoch}`;
  return rows.length === 1;
}

/** Returns the next rows that fit into memory. */
async function rowsAfter(moment: SQL, cell: string, seq: number) {
  const rows = await moment`SELECT r.seq, r.epoch, r.frames FROM (
      SELECT seq, epoch, frames, sum(length(frames)) OVER (ORDER BY seq) - length(frames) AS before FROM (
        SELECT seq, epoch, frames FROM runnel_log WHERE cell = ${cell} AND seq > ${seq} ORDER BY seq LIMIT ${rowsMax}
      ) AS n
    ) AS r WHERE r.before < ${rows_bytes} ORDER BY r.seq`;
  return rows.map((row: { seq: bigint; epoch: bigint; frames: Uint8Array }) => ({
    seq: Number(row.seq),
    epoch: Number(row.epoch),
    frames: row.frames,
  })) as (Position & { frames: Uint8Array })[];
}

async function frameAt(moment: SQL, cell: string, seq: number): Promise<Uint8Array> {
  const [row] = await moment`SELECT frames FROM runnel_log WHERE cell = ${cell} AND seq = ${seq}`;
  return row.frames;
}

async function writePages(moment: SQL, cell: string, file: number, heard: () => void): Promise<void> {
  for (let last = 0, more = true; more; ) {
    const rows = await moment`SELECT page, image FROM runnel_pages WHERE cell = ${cell} AND page > ${last}
      ORDER BY page LIMIT ${pagesMax}`;
    heard();
    for (const { page, image } of rows) {
      last = Number(page);
      writePage(file, last, Bun.zstdDecompressSync(image));
    }
    more = rows.length === pagesMax;
  }
}

/**
 * Deletes rows of a commit that a former leader could not send completely. All replicas end before it. Throws if
 * another node leads.
 */
export const dropUnfinished = (sql: SQL, cell: string, epoch: number, { seq }: Position): Promise<void> =>
  sql.begin(async (transaction) => {
    const rows = await transaction`UPDATE runnel_cells SET head = ${seq} WHERE id = ${cell} AND epoch = ${epoch}
      RETURNING head`;
    if (rows.length === 0) throw new Error(`The cell "${cell}" is led by another node.`);
    await transaction`DELETE FROM runnel_log WHERE cell = ${cell} AND seq > ${seq}`;
  });

function write(file: number, frames: WalFrames): void {
  writeAll(file, frames);
  ftruncateSync(file, frames.size_pages * page_bytes); // After a VACUUM the database is shorter.
}

function writeAll(file: number, { pages }: WalFrames): void {
  for (const [number, image] of pages) writePage(file, number, image);
}

const writePage = (file: number, number: number, image: Uint8Array): void =>
  void writeSync(file, image, 0, page_bytes, (number - 1) * page_bytes);

/**
 * Uploads a whole database as the beginning of an empty cell, by the leader of this epoch. The database must have an
 * empty WAL and no writers. Throws if another node leads.
 */
export const bootstrap = (sql: SQL, cell: string, epoch: number, path: string, heard = () => {}): Promise<Position> =>
  sql.begin(async (transaction) => {
    const file = openSync(path, "r");
    try {
      const size_pages = statSync(path).size / page_bytes;
      for (let first = 1; first <= size_pages; first += 500) {
        const pages: WalFrames["pages"] = new Map();
        for (let number = first; number < first + 500 && number <= size_pages; number++) {
          const image = Buffer.alloc(page_bytes);
          readSync(file, image, 0, page_bytes, (number - 1) * page_bytes);
          pages.set(number, image);
        }
        await putPages(transaction, cell, pages);
        heard();
      }
    } finally {
      closeSync(file);
    }
    const rows = await transaction`UPDATE runnel_cells SET head = 1, base = 1, base_epoch = ${epoch}
      WHERE id = ${cell} AND epoch = ${epoch} AND head = 0 RETURNING head`;
    if (rows.length === 0) throw new Error(`The cell "${cell}" is led by another node.`);
    return { seq: 1, epoch };
  });

/** Writes pages and empties the map: few are compressed at a time. */
async function putPages(transaction: SQL, cell: string, pages: WalFrames["pages"]): Promise<void> {
  const numbers = [...pages.keys()];
  for (let at = 0; at < numbers.length; at += pagesMax) {
    const rows = numbers
      .slice(at, at + pagesMax)
      .map((page) => ({ cell, page, image: compress(Buffer.from(requireValue(pages.get(page), "A page"))) }));
    await transaction`INSERT INTO runnel_pages ${transaction(rows)}
      ON CONFLICT (cell, page) DO UPDATE SET image = excluded.image`;
  }
  pages.clear();
}

/**
 * Moves the oldest rows of the log into the pages: some hundred, up to `upto`, but never part of a commit. One
 * transaction, with few rows in memory at a time. Returns the number of rows. Two concurrent compactions of a cell are
 * harmless: the second finds nothing.
 */
export async function compact(sql: SQL, cell: string, upto: number, heard = () => {}): Promise<number> {
  try {
    return await compactWhole(sql, cell, upto, heard);
  } catch (error) {
    if (error instanceof Unfinished) return await compactWhole(sql, cell, error.before, heard);
    throw error;
  }
}

/** Thrown if the last piece of a commit is not in the log; the previous commit ends at row `before`. */
class Unfinished extends Error {
  constructor(readonly before: number) {
    super("The log ends in the middle of a commit.");
  }
}

const compactWhole = (sql: SQL, cell: string, upto: number, heard: () => void): Promise<number> =>
  sql.begin(async (transaction) => {
    const [row] = await transaction`SELECT base FROM runnel_cells WHERE id = ${cell}`;
    const base = Number(row.base);
    const [first] = await transaction`SELECT seq FROM runnel_log WHERE cell = ${cell} AND seq > ${base}
      ORDER BY seq LIMIT 1 FOR UPDATE`;
    if (upto <= base || !first || Number(first.seq) !== base + 1) return 0;
    let last: Position | null = null;
    let size_pages = 0;
    for (let read = base; last === null || last.seq < read; ) {
      const rows = await rowsAfter(transaction, cell, read);
      if (rows.length === 0) throw new Unfinished(last?.seq ?? base);
      const pages: WalFrames["pages"] = new Map();
      for (const { seq, epoch, frames } of rows) {
        if (seq > upto && last?.seq === read) break;
        read = seq;
        const decoded = decodeFrames(frames);
        for (const [number, image] of decoded.pages) pages.set(number, image);
        if (pages.size > pagesMax) await putPages(transaction, cell, pages);
        if (decoded.size_pages === 0) continue;
        size_pages = decoded.size_pages;
        last = { seq, epoch };
      }
      await putPages(transaction, cell, pages);
      heard();
    }
    await transaction`DELETE FROM runnel_pages WHERE cell = ${cell} AND page > ${size_pages}`;
    await transaction`DELETE FROM runnel_log WHERE cell = ${cell} AND seq <= ${last.seq}`;
    // Last, because the leader's commits wait for this row from here to the end.
    await transaction`UPDATE runnel_cells SET base = ${last.seq}, base_epoch = ${last.epoch} WHERE id = ${cell}`;
    return last.seq - base;
  });
