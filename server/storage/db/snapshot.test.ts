import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { temporaryFolder } from "../../testing/temporary.ts";
import { openDatabase } from "./open.ts";

const nextTick = () => new Promise<void>((resolve) => setImmediate(resolve));

/** Opens a database, and starts another process that writes into it. */
function opened() {
  const folder = temporaryFolder();
  const path = folder.file("runnel.db");
  const db = openDatabase(path);
  const other = new Database(path);
  const count = () => db.sqlite.query<{ n: number }, []>("SELECT count(*) AS n FROM facts").get()!.n;
  const fact = (name: string) => `INSERT INTO facts (name, value) VALUES ('${name}', '')`;
  const before = count();
  return {
    db,
    count: () => count() - before,
    write: (name: string) => other.run(fact(name)),
    fact,
    [Symbol.dispose]() {
      other.close();
      db.close();
      folder[Symbol.dispose]();
    },
  };
}

test("all reads of one tick are consistent, and the next tick sees what others wrote meanwhile", async () => {
  using fixture = opened();
  const { db, count, write } = fixture;
  db.snapshot.begin();
  expect(count()).toBe(0);
  write("theirs");
  db.snapshot.begin();
  expect(count()).toBe(0);
  await nextTick();
  expect(count()).toBe(1);
  db.snapshot.begin();
  expect(count()).toBe(1);
});

test("a request sees what was committed before it, also if the tick's reads have already begun", () => {
  using fixture = opened();
  const { db, count, write } = fixture;
  db.snapshot.begin();
  expect(count()).toBe(0);
  write("theirs");
  db.snapshot.renew();
  expect(count()).toBe(1);
});

test("requests that arrive in one tick share a snapshot", () => {
  using fixture = opened();
  const { db, count, write } = fixture;
  db.snapshot.renew();
  expect(count()).toBe(0);
  write("theirs");
  db.snapshot.renew();
  expect(count()).toBe(0);
});

test("a write later in the same tick sees the latest commits", async () => {
  using fixture = opened();
  const { db, count, write, fact } = fixture;
  db.snapshot.begin();
  expect(count()).toBe(0);
  write("theirs");
  await db.write(() => db.sqlite.run(fact("ours")));
  expect(count()).toBe(2);
});

test("no transaction stays open: one that the storage ended is not ended again", async () => {
  using fixture = opened();
  const { db, count } = fixture;
  db.snapshot.begin();
  count();
  db.sqlite.run("ROLLBACK");
  await nextTick();
  db.snapshot.begin();
  db.snapshot.end();
  db.snapshot.end();
  expect(db.sqlite.inTransaction).toBe(false);
});
