import { describe, expect, test } from "bun:test";
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

describe("jobs that take long together", () => {
  /** Takes longer than a third of a slice. */
  const slowly =
    <T>(job: () => T) =>
    () => {
      const until = performance.now() + 3;
      while (performance.now() < until);
      return job();
    };

  test("are committed in several slices, in their order, and others are heard between", async () => {
    const db = tinyDatabase();
    const order: number[] = [];
    let heard = 0;
    const hear = () => {
      heard++;
      if (order.length < 20) setImmediate(hear);
    };
    const all = Array.from({ length: 20 }, (_, n) => db.write(slowly(() => order.push(n))));
    setImmediate(hear);
    await Promise.all(all);
    expect(order).toEqual(Array.from({ length: 20 }, (_, n) => n));
    expect(db.write.commits()).toBeGreaterThanOrEqual(5);
    expect(heard).toBeGreaterThanOrEqual(4);
  });

  test("fail alone, wherever they stand", async () => {
    const db = tinyDatabase();
    const ids = [1, 2, 3, 4, 4, 5, 6, 7, 7, 8];
    const insert = db.sqlite.query("INSERT INTO t VALUES (?)");
    const results = await Promise.allSettled(ids.map((n) => db.write(slowly(() => insert.run(n).changes))));
    expect(results.map(({ status }) => status === "rejected")).toEqual(ids.map((n, at) => n === ids[at - 1]));
    expect(db.sqlite.query("SELECT count(*) AS n FROM t").get()).toEqual({ n: 8 });
  });

  test("are all written at once where somebody says that it is the end", async () => {
    const db = tinyDatabase();
    const all = Array.from({ length: 9 }, (_, n) => db.write(slowly(() => n)));
    db.write.flush();
    const commits = db.write.commits();
    expect(await Promise.all(all)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8]);
    expect(db.write.commits()).toBe(commits);
  });
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

describe("on a full disk", () => {
  /** A database that may not grow, as on a disk that is full; `relieve` gives it room again. */
  function fullDatabase() {
    let spare = 100;
    const given: string[] = [];
    const db = openDatabase(":memory:", {
      relieve() {
        given.push("room");
        db.sqlite.run(`PRAGMA max_page_count = ${pages() + spare}`);
        return spare > 0;
      },
    });
    const pages = () => db.sqlite.query<{ page_count: number }, []>("PRAGMA page_count").get()!.page_count;
    db.sqlite.run("CREATE TABLE t (n INTEGER PRIMARY KEY, text TEXT) STRICT");
    const add = db.sqlite.query("INSERT INTO t VALUES (?, ?)");
    db.sqlite.run("VACUUM"); // Migrations leave pages that are free.
    db.sqlite.run(`PRAGMA max_page_count = ${pages() + 2}`);
    return {
      given,
      insert: (n: number, size = 20_000) => db.write(() => add.run(n, "x".repeat(size)).changes),
      stored: () =>
        db.sqlite
          .query<{ n: number }, []>("SELECT n FROM t ORDER BY n")
          .all()
          .map(({ n }) => n),
      giveNothing: () => {
        spare = 0;
      },
    };
  }

  test("what was refused is written with the room that was kept for it, each job once", async () => {
    const db = fullDatabase();
    await Promise.all([db.insert(1, 10), db.insert(2), db.insert(3)]);
    expect(db.given).toEqual(["room"]);
    expect(db.stored()).toEqual([1, 2, 3]);
  });

  test("a job that fails for another reason is not asked twice", async () => {
    const db = fullDatabase();
    const results = await Promise.allSettled([db.insert(1, 10), db.insert(1, 10), db.insert(2)]);
    expect(results.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
    expect(db.stored()).toEqual([1, 2]);
  });

  test("without such room the writers hear of it, nothing half is left, and later writes go on", async () => {
    const db = fullDatabase();
    db.giveNothing();
    const [result] = await Promise.allSettled([db.insert(1)]);
    expect(result).toMatchObject({ status: "rejected", reason: { code: "SQLITE_FULL" } });
    expect(db.stored()).toEqual([]);
    await db.insert(2, 10);
    expect(db.stored()).toEqual([2]);
  });
});
