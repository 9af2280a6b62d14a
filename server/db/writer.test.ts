import { expect, test } from "bun:test";
import { openDatabase } from "./open.ts";

function tinyDatabase() {
  const db = openDatabase(":memory:");
  db.sqlite.run("CREATE TABLE t (n INTEGER PRIMARY KEY) STRICT");
  return { ...db, insert: (n: number) => db.write(() => db.sqlite.query("INSERT INTO t VALUES (?)").run(n).changes) };
}

test("everything that arrives in one tick is one commit", async () => {
  const db = tinyDatabase();
  await Promise.all(Array.from({ length: 100 }, (_, n) => db.insert(n)));
  expect(db.write.commits()).toBe(1);
  expect(db.sqlite.query("SELECT count(*) AS n FROM t").get()).toEqual({ n: 100 });
});

test("a job that fails takes no other job along", async () => {
  const db = tinyDatabase();
  const results = await Promise.allSettled([db.insert(1), db.insert(1), db.insert(2)]);
  expect(results.map((result) => result.status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
  expect(db.sqlite.query("SELECT n FROM t ORDER BY n").all()).toEqual([{ n: 1 }, { n: 2 }]);
});

test("a job that throws half way leaves nothing behind", async () => {
  const db = tinyDatabase();
  const half = db.write(() => {
    db.sqlite.query("INSERT INTO t VALUES (7)").run();
    throw new Error("half way");
  });
  expect(half).rejects.toThrow("half way");
  await db.insert(8);
  expect(db.sqlite.query("SELECT n FROM t").all()).toEqual([{ n: 8 }]);
});
