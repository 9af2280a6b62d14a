import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { temporaryFolder } from "../../testing/temporary.ts";
import { openDatabase } from "./open.ts";

const nextTick = () => new Promise<void>((resolve) => setImmediate(resolve));

/** Opens a database with a cached fact, a counter of its reads, and another process that writes it. */
function opened() {
  const folder = temporaryFolder();
  const path = folder.file("runnel.db");
  const db = openDatabase(path);
  const other = new Database(path);
  const put = (value: string) => `INSERT OR REPLACE INTO facts (name, value) VALUES ('it', '${value}')`;
  const select = db.sqlite.query<{ value: string }, [string]>("SELECT value FROM facts WHERE name = ?");
  let reads = 0;
  const fact = db.kept.rows((name: string): string => {
    reads++;
    return select.get(name)?.value ?? "none";
  });
  return {
    db,
    fact,
    reads: () => reads,
    put: (value: string): void => void db.sqlite.run(put(value)),
    byOther: (value: string): void => void other.run(put(value)),
    [Symbol.dispose]() {
      other.close();
      db.close();
      folder[Symbol.dispose]();
    },
  };
}

test("a row, also a missing one, is read once until a write may have changed it", async () => {
  using fixture = opened();
  const { db, fact, reads, put } = fixture;
  expect([fact.of("it"), fact.of("it"), reads()]).toEqual(["none", "none", 1]);
  await db.write(() => put("new"));
  expect([fact.of("it"), fact.of("it"), reads()]).toEqual(["new", "new", 2]);
});

test("commits of another process are seen from the next tick on", async () => {
  using fixture = opened();
  const { fact, byOther } = fixture;
  expect(fact.of("it")).toBe("none");
  byOther("theirs");
  await nextTick();
  expect(fact.of("it")).toBe("theirs");
});

test("a write sees what another process committed just before it", async () => {
  using fixture = opened();
  const { db, fact, byOther } = fixture;
  expect(fact.of("it")).toBe("none");
  byOther("theirs");
  expect(await db.write(() => fact.of("it"), "", "runs")).toBe("theirs");
});

test("a write that touches only runs leaves cached rows valid, and caches the rows that it notes", async () => {
  using fixture = opened();
  const { db, fact, reads, put } = fixture;
  fact.of("it");
  await db.write(() => {}, "", "runs");
  expect([fact.of("it"), reads()]).toEqual(["none", 1]);
  await db.write(
    () => {
      put("new");
      fact.note("new", "it");
    },
    "",
    "runs",
  );
  expect([fact.of("it"), reads()]).toEqual(["new", 1]);
});

test("within a write that may change a row, and after it in the same transaction, reads return the row as written", async () => {
  using fixture = opened();
  const { db, fact, put } = fixture;
  fact.of("it");
  const first = db.write(() => {
    const before = fact.of("it");
    put("new");
    return [before, fact.of("it")];
  });
  const second = db.write(() => fact.of("it"), "", "runs");
  expect([await first, await second]).toEqual([["none", "new"], "new"]);
});

test("after a failed write the cache equals the database, alone or among others", async () => {
  using fixture = opened();
  const { db, fact, put } = fixture;
  const failing = (touches?: "runs") =>
    db.write(
      () => {
        put("never");
        fact.note("never", "it");
        throw new Error("refused");
      },
      "",
      touches,
    );
  fact.of("it");
  const results = await Promise.allSettled([failing("runs"), db.write(() => fact.of("it"), "", "runs"), failing()]);
  expect(results.map(({ status }) => status)).toEqual(["rejected", "fulfilled", "rejected"]);
  expect((results[1] as PromiseFulfilledResult<string>).value).toBe("none");
  expect(fact.of("it")).toBe("none");
});

test("after a failed commit the cache equals the database", async () => {
  using fixture = opened();
  const { db, fact, put } = fixture;
  db.sqlite.run("PRAGMA defer_foreign_keys = ON");
  const refused = db.write(
    () => {
      db.sqlite.run("PRAGMA defer_foreign_keys = ON");
      put("never");
      fact.note("never", "it");
      db.sqlite.run("INSERT INTO run_events (run_id, seq, at_ms, type, data) VALUES ('run_none', 1, 0, 'x', '{}')");
    },
    "",
    "runs",
  );
  await expect(refused).rejects.toThrow("FOREIGN KEY");
  expect(fact.of("it")).toBe("none");
});

test("long rows take no more memory than short ones: the oldest are dropped, and one that is too long is not cached", () => {
  using fixture = opened();
  const reads: string[] = [];
  const MiB = 1024 * 1024;
  const bytesOf = (name: string) => Number(name.split(" ")[1]) * MiB;
  const rows = fixture.db.kept.rows(
    (name: string) => {
      reads.push(name);
      return name;
    },
    { bytesOf },
  );
  for (const name of ["a 7", "b 7", "a 7", "c 7", "b 7", "c 7", "a 7"]) rows.of(name);
  expect(reads).toEqual(["a 7", "b 7", "c 7", "a 7"]);
  rows.drop("c 7");
  rows.note("d 7", "d 7");
  expect([rows.known("a 7"), rows.known("d 7")]).toEqual(["a 7", "d 7"]);
  rows.of("e 17");
  expect(["a 7", "d 7", "e 17"].map((name) => rows.known(name))).toEqual(["a 7", "d 7", undefined]);
});

test("of many rows the newest are cached, with their last values, and a deleted one is deleted", () => {
  using fixture = opened();
  const rows = fixture.db.kept.rows((_: string): number | null => null, { most: 4 });
  rows.note(1, "a");
  rows.note(2, "b");
  rows.note(3, "c");
  rows.note(null, "a");
  expect(["a", "b", "c"].map((name) => rows.known(name))).toEqual([null, 2, 3]);
  rows.note(4, "d");
  expect(["a", "b", "c", "d"].map((name) => rows.known(name))).toEqual([null, undefined, 3, 4]);
  rows.drop("a");
  expect(rows.known("a")).toBeUndefined();
});
