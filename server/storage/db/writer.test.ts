import { Database } from "bun:sqlite";
import { describe, expect, spyOn, test } from "bun:test";
import { temporaryFolder } from "../../testing/temporary.ts";
import { openDatabase } from "./open.ts";
import { createWriter } from "./writer.ts";

/** Opens a database whose ticks are one slice each, however long they take; with 0 every job is a slice. */
function tinyDatabase(slice_ms = Number.POSITIVE_INFINITY) {
  const { sqlite, snapshot } = openDatabase(":memory:");
  sqlite.run("CREATE TABLE t (n INTEGER PRIMARY KEY) STRICT");
  const insert = sqlite.query("INSERT INTO t (n) VALUES (?)");
  const write = createWriter(sqlite, { endRead: snapshot.end, slice_ms });
  return {
    sqlite,
    write,
    insert: (n: number) => write(() => insert.run(n).changes),
    insertNow: (n: number) => insert.run(n),
    stored: () => sqlite.query<{ n: number }, []>("SELECT n FROM t").values().flat(),
  };
}

const statusesOf = async (jobs: Promise<unknown>[]) => (await Promise.allSettled(jobs)).map(({ status }) => status);
const upTo = (count: number) => Array.from({ length: count }, (_, n) => n);

test("all jobs of one tick are one commit", async () => {
  const db = tinyDatabase();
  await Promise.all(upTo(100).map(db.insert));
  expect(db.write.commits()).toBe(1);
  expect(db.stored()).toEqual(upTo(100));
});

describe("entries of one project's runs", () => {
  const turn = () => new Promise(setImmediate);
  const entry = ({ write, insertNow }: ReturnType<typeof tinyDatabase>, n: number, owner: string) =>
    write(() => insertNow(n), owner, "runs");

  test("that arrive in consecutive turns are one commit, and a single one does not wait", async () => {
    const db = tinyDatabase();
    using _ = spyOn(performance, "now").mockReturnValue(0); // They wait for a short time only.
    const jobs = [0, 1].map((n) => entry(db, n, "one"));
    await turn();
    jobs.push(entry(db, 2, "one"));
    await Promise.all(jobs);
    expect(db.write.commits()).toBe(1);
    void entry(db, 3, "one");
    await turn();
    expect(db.write.commits()).toBe(2);
  });

  test.each<[string, (db: ReturnType<typeof tinyDatabase>) => unknown]>([
    ["another project's", (db) => entry(db, 9, "another")],
    ["another job", (db) => db.insert(9)],
  ])("stop waiting once %s waits too", async (_, bring) => {
    const db = tinyDatabase();
    void entry(db, 0, "one");
    void bring(db);
    void entry(db, 1, "one");
    await turn();
    expect(db.stored()).toEqual([0, 1, 9]);
  });
});

describe("jobs that take longer than a slice", () => {
  test("are committed in several slices, in their order, and other work runs between", async () => {
    const db = tinyDatabase(0);
    const heard: string[] = [];
    const all = upTo(3).map((n) => db.insert(n).then(() => heard.push(`${n}`)));
    void all[0]!.then(() =>
      setImmediate(() => {
        heard.push("beside");
        void db.insert(3).then(() => heard.push("later")); // Behind the jobs that waited before.
        setImmediate(() => heard.push("between"));
      }),
    );
    await Promise.all(all);
    await db.insert(4);
    expect(heard).toEqual(["0", "1", "beside", "2", "between", "later"]);
    expect(db.write.commits()).toBe(5);
  });

  test("become durable round robin over owners, and those of one owner in their order", async () => {
    const { write } = openDatabase(":memory:");
    const order: string[] = [];
    const names = ["a1", "a2", "a3", "b1", "a4", "b2", "c1"];
    await Promise.all(names.map((name) => write(() => order.push(name), name[0])));
    expect(order).toEqual(["a1", "b1", "c1", "a2", "b2", "a3", "a4"]);
  });

  test("do not delay the single job of another owner, however many there are", async () => {
    const db = tinyDatabase(0);
    let commits = 0;
    const many = upTo(20).map((n) => db.write(() => void n, "loud"));
    const one = db
      .write(() => {}, "quiet")
      .then(() => {
        commits = db.write.commits();
      });
    await Promise.all([...many, one]);
    expect(commits).toBe(2);
  });

  test("are recognized by their duration", async () => {
    const { write } = openDatabase(":memory:");
    const longer = () => {
      const until = performance.now() + 3;
      while (performance.now() < until);
    };
    await Promise.all(upTo(20).map(() => write(longer)));
    expect(write.commits()).toBeGreaterThanOrEqual(5);
  });

  test("fail alone, at any position", async () => {
    const ids = [1, 2, 3, 4, 4, 5, 6, 7, 7, 8];
    for (const slice_ms of [0, 0.02, Number.POSITIVE_INFINITY]) {
      const db = tinyDatabase(slice_ms);
      const statuses = await statusesOf(ids.map(db.insert));
      expect(statuses.map((status) => status === "rejected")).toEqual(ids.map((n, at) => n === ids[at - 1]));
      expect(db.stored()).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
    }
  });

  test("are all written at once by a flush at the end", async () => {
    const db = tinyDatabase(0);
    const all = upTo(9).map(db.insert);
    db.write.flush();
    expect(db.stored()).toEqual(upTo(9));
    expect(await statusesOf(all)).toEqual(Array(9).fill("fulfilled"));
    expect(db.write.commits()).toBe(9);
  });

  test("fail all at once while another process holds the write lock", async () => {
    using folder = temporaryFolder();
    const { sqlite } = openDatabase(folder.file("runnel.db"));
    using other = new Database(folder.file("runnel.db"));
    other.run("BEGIN IMMEDIATE");
    sqlite.run("PRAGMA busy_timeout = 0");
    const write = createWriter(sqlite, { slice_ms: 0 });
    let heard = 0;
    const [first] = upTo(9).map((n) => write(() => n).catch(() => heard++));
    await first;
    expect(heard).toBe(9);
  });
});

test("a job that is still queued when the database closes is rejected, and no other caller is notified", async () => {
  const sqlite = new Database(":memory:");
  const write = createWriter(sqlite);
  const late = write(() => "never");
  sqlite.close();
  await expect(late).rejects.toThrow();
});

test("deferred work of jobs is done once for all of them, and not for those that fail", async () => {
  const db = tinyDatabase();
  const [sums, done]: [number[], number[][]] = [[], []];
  db.write.defer({
    finish() {
      if (sums.length > 0) db.insertNow(sums.reduce((sum, n) => sum + n));
      done.push(sums.splice(0));
    },
    forget: () => void sums.splice(0),
  });
  const put = (n: number) =>
    db.write(() => {
      sums.push(n);
      if (n === 0) throw new Error("refused");
    });
  await Promise.all([1, 2].map(put));
  expect([db.stored(), done]).toEqual([[3], [[1, 2]]]);
  expect(await statusesOf([5, 0, 7].map(put))).toEqual(["fulfilled", "rejected", "fulfilled"]);
  expect(db.stored()).toEqual([3, 5, 7]);
});

test("a job that fails does not affect other jobs", async () => {
  const db = tinyDatabase();
  expect(await statusesOf([1, 1, 2].map(db.insert))).toEqual(["fulfilled", "rejected", "fulfilled"]);
  expect(db.stored()).toEqual([1, 2]);
});

test("a job that throws half way leaves no changes", async () => {
  const db = tinyDatabase();
  const half = db.write(() => {
    db.sqlite.query("INSERT INTO t (n) VALUES (7)").run();
    throw new Error("half way");
  });
  expect(half).rejects.toThrow("half way");
  await db.insert(8);
  expect(db.stored()).toEqual([8]);
});

describe("on a full disk", () => {
  /** Opens a database that may not grow, as on a full disk; `relieve` gives it room again. */
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
    const add = db.sqlite.query("INSERT INTO t (n, text) VALUES (?, ?)");
    db.sqlite.run("VACUUM"); // Migrations leave free pages.
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

  test("a refused job is written with the reserved room, each job once", async () => {
    const db = fullDatabase();
    await Promise.all([db.insert(1, 10), db.insert(2), db.insert(3)]);
    expect(db.given).toEqual(["room"]);
    expect(db.stored()).toEqual([1, 2, 3]);
  });

  test("a job that fails for another reason is not repeated", async () => {
    const db = fullDatabase();
    const results = await Promise.allSettled([db.insert(1, 10), db.insert(1, 10), db.insert(2)]);
    expect(results.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
    expect(db.stored()).toEqual([1, 2]);
  });

  test("without reserved room the callers get the error, no partial write remains, and later writes succeed", async () => {
    const db = fullDatabase();
    db.giveNothing();
    const [result] = await Promise.allSettled([db.insert(1)]);
    expect(result).toMatchObject({ status: "rejected", reason: { code: "SQLITE_FULL" } });
    expect(db.stored()).toEqual([]);
    await db.insert(2, 10);
    expect(db.stored()).toEqual([2]);
  });
});

describe("what goes ahead of a commit", () => {
  function withAhead() {
    const db = tinyDatabase();
    db.sqlite.run("CREATE TABLE child (n INTEGER REFERENCES t (n) DEFERRABLE INITIALLY DEFERRED) STRICT");
    const said: string[] = [];
    const insert = (n: number) =>
      db.write(
        () => db.insertNow(n),
        "",
        "runs",
        () => {
          said.push(`ahead ${n}${db.sqlite.inTransaction ? "" : " too late"}`);
          return () => said.push(`back ${n}`);
        },
      );
    db.write.leaving(() => said.push("sent"));
    return { ...db, said, insert };
  }

  test("is sent once for all jobs of the commit, before it", async () => {
    const { insert, said, write } = withAhead();
    await Promise.all([insert(1).then(() => said.push("durable")), insert(2)]);
    expect(said).toEqual(["ahead 1", "ahead 2", "sent", "durable"]);
    expect(write.commits()).toBe(1);
  });

  test("is withdrawn if the commit fails, and sent again with the next attempt", async () => {
    const { insert, said, sqlite, stored, write } = withAhead();
    const bad = write(() => sqlite.run("INSERT INTO child (n) VALUES (9)"), "", "runs");
    const good = insert(1);
    expect(await statusesOf([bad, good])).toEqual(["rejected", "rejected"]);
    const once = ["ahead 1", "sent", "back 1"];
    expect(said).toEqual([...once, ...once]);
    expect(stored()).toEqual([]);
  });
});
