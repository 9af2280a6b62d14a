import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { closeSync, openSync, writeSync } from "node:fs";
import { join } from "node:path";
import { vecLibrary } from "../../lib/assets.ts";
import { temporaryFolder } from "../../testing/temporary.ts";
import { openDatabase } from "./open.ts";
import { CorruptionError, scrub } from "./scrub.ts";

/**
 * Makes a database with tables of every kind: with and without row ids, virtual ones, partial and expression indexes.
 */
function make(path: string, rows: number): void {
  const { sqlite, close } = openDatabase(path, { vecLibrary: vecLibrary("") });
  sqlite.run("CREATE TABLE t (id TEXT PRIMARY KEY, body TEXT, n INTEGER)");
  sqlite.run("CREATE INDEX t_part ON t (n) WHERE n > 10");
  sqlite.run("CREATE INDEX t_expression ON t (length(body))");
  sqlite.run("CREATE TABLE w (a TEXT, b INTEGER, c TEXT, PRIMARY KEY (a, b)) WITHOUT ROWID");
  sqlite.run("CREATE VIRTUAL TABLE words USING fts5(text)");
  const add = sqlite.prepare("INSERT INTO t (id, body, n) VALUES (?, ?, ?)");
  const addWithout = sqlite.prepare("INSERT INTO w (a, b, c) VALUES (?, ?, ?)");
  sqlite.transaction(() => {
    for (let n = 0; n < rows; n++) {
      add.run(`id-${n}`, `body ${n} `.repeat(n % 50 === 0 ? 2000 : 20), n);
      addWithout.run(`a${n % 7}`, n, "c".repeat(100));
    }
    sqlite.run("INSERT INTO words (text) VALUES ('one two three')");
  })();
  close();
}

const open = (path: string) => new Database(path, { readonly: true });

test("every row is read once, in slices that are transactions of their own", () => {
  using folder = temporaryFolder();
  const path = join(folder.path, "a.db");
  make(path, 2000);
  const reader = open(path);
  let clock = 0;
  const seen: number[] = [];
  for (const rows of scrub(reader, () => (clock += 1))) {
    seen.push(rows);
    expect(reader.inTransaction).toBe(false);
  }
  reader.close();
  expect(seen.at(-1)).toBeGreaterThanOrEqual(4000);
  expect(seen.length).toBeGreaterThan(4000 / 20); // As many slices as the clock made, and not a single one.
  const whole = open(path);
  expect([...scrub(whole)].at(-1)).toBe(seen.at(-1)!);
  whole.close();
});

test("the WAL of a server that writes meanwhile can be checkpointed between any two slices", () => {
  using folder = temporaryFolder();
  const path = join(folder.path, "a.db");
  make(path, 500);
  const writer = new Database(path);
  writer.run("PRAGMA wal_autocheckpoint = 0");
  const reader = open(path);
  let clock = 0;
  let slices = 0;
  for (const _ of scrub(reader, () => (clock += 1))) {
    if (slices++ > 40) break;
    writer.run("UPDATE t SET n = n + 1 WHERE id = 'id-3'");
    const taken = writer.query<{ busy: number; log: number }, []>("PRAGMA wal_checkpoint(TRUNCATE)").get()!;
    expect(taken).toMatchObject({ busy: 0, log: 0 });
  }
  expect(slices).toBeGreaterThan(40);
  reader.close();
  writer.close();
});

/** Overwrites the pages of a table or an index with garbage, except the first one. */
function damage(path: string, name: string): void {
  const db = open(path);
  const size = db.query<{ page_size: number }, []>("PRAGMA page_size").get()!.page_size;
  const pages = db
    .query<{ rootpage: number }, [string]>("SELECT rootpage FROM sqlite_schema WHERE name = ?")
    .get(name)!;
  db.close();
  const file = openSync(path, "r+");
  writeSync(file, Buffer.alloc(size, 0x5a), 0, size, (pages.rootpage - 1) * size);
  closeSync(file);
}

test.each(["t", "w", "t_part", "t_expression", "sqlite_autoindex_t_1", "words_data"])(
  "a damaged page of %s is found, and its table is named",
  (name) => {
    using folder = temporaryFolder();
    const path = join(folder.path, "a.db");
    make(path, 500);
    damage(path, name);
    const reader = open(path);
    expect(() => [...scrub(reader)]).toThrow(CorruptionError);
    expect(() => [...scrub(reader)]).toThrow(name === "w" ? "(w)" : name === "words_data" ? "(words_data)" : "(t)");
    reader.close();
  },
);
