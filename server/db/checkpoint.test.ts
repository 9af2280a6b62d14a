import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { statSync } from "node:fs";
import { temporaryFolder } from "../testing/temporary.ts";
import { keepLogShort, truncateLog } from "./checkpoint.ts";
import { openDatabase } from "./open.ts";

const megabyte = 1024 * 1024;

function storm(path: string) {
  const db = openDatabase(path);
  db.sqlite.run("CREATE TABLE storm (text TEXT NOT NULL) STRICT");
  const insert = db.sqlite.query("INSERT INTO storm (text) VALUES (?)");
  const text = "x".repeat(100_000);
  return {
    db,
    logSize: () => statSync(`${path}-wal`).size,
    /** Writes so many megabytes, a commit for each tenth of one. */
    async write(megabytes: number): Promise<void> {
      for (let n = 0; n < megabytes * 10; n++) await db.write(() => insert.run(text));
    },
  };
}

test("a storm of writes among short readers keeps the log at a few megabytes", async () => {
  using folder = temporaryFolder();
  const { db, write, logSize } = storm(folder.file("runnel.db"));
  let largest = 0;
  for (let round = 0; round < 12; round++) {
    const reader = new Database(folder.file("runnel.db"), { readonly: true });
    reader.run("BEGIN");
    reader.query("SELECT count(*) FROM storm").get();
    await write(1);
    reader.close();
    await write(4);
    largest = Math.max(largest, logSize());
  }
  expect(largest).toBeLessThan(16 * megabyte);
  db.close();
});

test("a log that grew under a long reader is given back once nobody reads or writes", async () => {
  using folder = temporaryFolder();
  const { db, write, logSize } = storm(folder.file("runnel.db"));
  const keeper = keepLogShort(db, folder.file("runnel.db"), 20);
  const reader = new Database(folder.file("runnel.db"), { readonly: true });
  reader.run("BEGIN");
  reader.query("SELECT count(*) FROM storm").get();
  await write(20);
  expect(logSize()).toBeGreaterThan(16 * megabyte);
  reader.close();
  const end = performance.now() + 5000;
  while (logSize() > 0 && performance.now() < end) await Bun.sleep(5);
  expect(logSize()).toBe(0);
  keeper.stop();
  db.close();
});

test("a log that somebody reads is left, and nobody waits for that reader", async () => {
  using folder = temporaryFolder();
  const { db, write, logSize } = storm(folder.file("runnel.db"));
  await write(1);
  const reader = new Database(folder.file("runnel.db"), { readonly: true });
  reader.run("BEGIN");
  reader.query("SELECT count(*) FROM storm").get();
  await write(1);
  truncateLog(db.sqlite);
  expect(logSize()).toBeGreaterThan(0);
  reader.close();
  db.close();
}, 4500); // The patience of a connection is five seconds.
