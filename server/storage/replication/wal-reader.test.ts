import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { temporaryFolder } from "../../testing/temporary.ts";
import { page_bytes } from "./wal-frames.ts";
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

test("a commit larger than one read of the WAL is shipped whole", () => {
  using folder = temporaryFolder();
  const path = folder.file("runnel.db");
  using db = new Database(path);
  for (const pragma of ["journal_mode = WAL", "wal_autocheckpoint = 0"]) db.run(`PRAGMA ${pragma}`);
  const capture = createWalReader(path);
  db.run("CREATE TABLE given (data BLOB) STRICT");
  db.run("INSERT INTO given (data) VALUES (randomblob(140000000))");
  const { size_pages, pages } = capture.take()!;
  db.run("PRAGMA wal_checkpoint(TRUNCATE)");
  const image = readFileSync(path);
  expect([size_pages, pages.size]).toEqual([image.length / page_bytes, image.length / page_bytes]);
  expect(size_pages).toBeGreaterThan(2 * 16_384);
  for (const [number, page] of pages)
    if (image.compare(page, 0, page_bytes, (number - 1) * page_bytes, number * page_bytes) !== 0)
      throw new Error(`Page ${number} is another one.`);
  capture.close();
});
