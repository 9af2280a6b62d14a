import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { temporaryFolder } from "../../testing/temporary.ts";
import { addCommits, countPieces, inPieces, page_bytes } from "./wal-frames.ts";
import { createWalReader } from "./wal-reader.ts";

test("a transaction that had spilled into the WAL and was rolled back is never shipped, then or later", () => {
  using folder = temporaryFolder();
  const path = folder.file("runnel.db");
  using db = new Database(path);
  for (const pragma of ["journal_mode = WAL", "wal_autocheckpoint = 0", "cache_size = 10"]) db.run(`PRAGMA ${pragma}`);
  db.run("CREATE TABLE given (n INTEGER PRIMARY KEY, data BLOB) STRICT");
  const capture = createWalReader(path);
  const first = capture.take()!;
  const logged = () => Bun.file(`${path}-wal`).size;
  const before = logged();
  db.run("BEGIN IMMEDIATE");
  for (let n = 0; n < 100; n++) db.run("INSERT INTO given (n, data) VALUES (?, randomblob(20000))", [n]);
  db.run("ROLLBACK");
  // The transaction had spilled, and its frames look valid.
  expect(logged()).toBeGreaterThan(before + 100 * page_bytes);
  expect(capture.take()).toBeNull();
  db.run("INSERT INTO given (n, data) VALUES (1000, x'01')");
  const second = capture.take()!;
  // One row of a table that fits into one page.
  expect([first.size_pages, [...second.pages.keys()], second.size_pages]).toEqual([2, [2], 2]);
  capture.close();
});

/** Opens a database whose WAL grows until a checkpoint is asked for. */
function opened({ file }: ReturnType<typeof temporaryFolder>) {
  const path = file("runnel.db");
  const db = new Database(path);
  for (const pragma of ["journal_mode = WAL", "wal_autocheckpoint = 0"]) db.run(`PRAGMA ${pragma}`);
  const capture = createWalReader(path);
  return { path, db, capture };
}

test("of a large commit only the places of its pages are kept, and all its pages are shipped", () => {
  using folder = temporaryFolder();
  const { path, db, capture } = opened(folder);
  db.run("CREATE TABLE given (data BLOB) STRICT");
  db.run("INSERT INTO given (data) VALUES (randomblob(20000000))");
  const taken = capture.take()!;
  expect(taken.isUnread).toBe(true);
  expect([...taken.pages.values()].every((image) => typeof image === "number")).toBe(true);
  const copy = Buffer.alloc(taken.size_pages * page_bytes);
  let pieces = 0;
  for (const piece of inPieces(taken)) {
    pieces++;
    expect(piece.pages.size).toBeLessThanOrEqual(512);
    for (const [number, page] of capture.load(piece).pages) copy.set(page, (number - 1) * page_bytes);
  }
  expect(pieces).toBe(countPieces(taken));
  db.run("PRAGMA wal_checkpoint(TRUNCATE)");
  expect(copy.equals(readFileSync(path))).toBe(true);
  capture.close();
  db.close();
});

test("a page of a large commit that a later one changes is shipped once, as the later one has it", () => {
  using folder = temporaryFolder();
  const { path, db, capture } = opened(folder);
  db.run("CREATE TABLE given (n INTEGER PRIMARY KEY, data BLOB) STRICT");
  db.run("INSERT INTO given (data) VALUES (randomblob(9000000)), (x'01')");
  const taken = capture.take()!;
  db.run("UPDATE given SET data = x'02' WHERE n = 2");
  addCommits(taken, capture.take(true)!);
  const copy = Buffer.alloc(taken.size_pages * page_bytes);
  for (const piece of inPieces(taken))
    for (const [number, page] of capture.load(piece).pages) copy.set(page, (number - 1) * page_bytes);
  db.run("PRAGMA wal_checkpoint(TRUNCATE)");
  expect(copy.equals(readFileSync(path))).toBe(true);
  capture.close();
  db.close();
});

test("pages of a large commit that the log has lost are never taken for others", () => {
  using folder = temporaryFolder();
  const { db, capture } = opened(folder);
  db.run("CREATE TABLE given (data BLOB) STRICT");
  const write = () => db.run("INSERT INTO given (data) VALUES (randomblob(9000000))");
  write();
  const [first] = inPieces(capture.take()!);
  db.run("PRAGMA wal_checkpoint(PASSIVE)");
  write(); // The log begins again, with frames of the same numbers.
  expect(() => capture.load(first!)).toThrow("has another page at frame");
  expect(() => capture.take(true)).toThrow("was begun again before a large commit was read");
  capture.close();
  db.close();
});
