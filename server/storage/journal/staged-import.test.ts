import { expect, test } from "bun:test";
import { created } from "../../domain/__fixtures__/events.ts";
import { newId } from "../../domain/ids.ts";
import type { RunEvent } from "../../domain/run-event.ts";
import { fold } from "../../domain/run-state.ts";
import { noUsage } from "../../domain/usage.ts";
import { runFixture } from "../../testing/run-fixture.ts";
import { type Db, openDatabase } from "../db/open.ts";
import type { Inserted } from "./journal.ts";
import { longestPiece, type Recorded } from "./staged-import.ts";

const listed = { limit: 100, starting_after: null, ending_before: null, order: "desc" } as const;
const everything = { ...listed, created_at: [], metadata: [], filters: {} };
const large = "large ".repeat(1000);

type Write = Db["write"];

/** Opens a journal; `after` is called after each of its writes. */
function fixture(after: (done: Promise<unknown>) => Promise<void> = async () => {}) {
  const real = openDatabase(":memory:");
  const write = Object.assign(async (...given: Parameters<Write>) => {
    const done = real.write(...given);
    await after(done);
    return done;
  }, real.write) as Write;
  const own = runFixture({ db: { ...real, write } });
  const { db, journal, runs, scope } = own;
  const count = (sql: string) => db.sqlite.query<{ n: number }, []>(`SELECT count(*) AS n FROM ${sql}`).get()!.n;
  /** Returns a record that is over, with this number of entries. */
  const recordOf = (run_id: string, entries: number, input = "Hello"): Recorded[] => {
    const resumed: RunEvent[] = Array.from({ length: entries - 2 }, () => ({ type: "run.resumed" }));
    const first = created({
      run_id,
      ...scope,
      input,
      replay_of: "run_0000000000000000000000000b",
      recorded_to: entries,
    });
    const end: RunEvent = { type: "run.completed", output: "Done.", output_json: null, usage: noUsage };
    return [first, ...resumed, end].map((event, index) => ({ at: index, event }));
  };
  return Object.assign(own, {
    recordOf,
    /** Returns all stored parts of runs: rows, visible ones, entries, blobs, and the notes of incomplete records. */
    stored: async () => ({
      rows: count("runs"),
      shown: (await runs.list(scope, everything)).data.length,
      entries: count("run_events"),
      blobs: count("blobs"),
      partial: count("partial_records"),
    }),
    commit: (
      run_id: string,
      record: Recorded[],
      insert = (): Inserted[] => [[run_id, journal.insertRecord(run_id, record)]],
    ) => journal.commitRecords([[run_id, record]], insert, scope),
  });
}

const nothing = { rows: 0, shown: 0, entries: 0, blobs: 0, partial: 0 };

test("a long record is written in batches of entries, and visible with the last one", async () => {
  const run_id = newId("run");
  const sizes: number[] = [];
  const seen: unknown[] = [];
  using bench = fixture(async (done) => {
    const { journal, runs, scope } = bench;
    const before = entries();
    await done;
    sizes.push(entries() - before);
    const { data } = await runs.list(scope, everything);
    seen.push([data.length, journal.head(run_id)?.status ?? null]);
  });
  const { journal } = bench;
  const record = bench.recordOf(run_id, 5 * longestPiece, large);
  const entries = () => bench.db.sqlite.query<{ n: number }, []>("SELECT count(*) AS n FROM run_events").get()!.n;
  await bench.commit(run_id, record);
  expect(sizes).toEqual([...Array(4).fill(longestPiece), longestPiece - 1, 1]);
  expect(seen).toEqual([...Array(5).fill([0, null]), [1, "completed"]]);
  expect(journal.read(run_id)).toEqual(record.map((entry, index) => ({ seq: index + 1, ...entry })));
  expect(fold(journal.read(run_id))).toMatchObject({ status: "completed", output: "Done." });
  expect(await bench.stored()).toEqual({ rows: 1, shown: 1, entries: record.length, blobs: 1, partial: 0 });
});

test("a long record gives the same run as one written at once", async () => {
  using bench = fixture();
  const [a, b] = [newId("run"), newId("run")];
  await bench.commit(a, bench.recordOf(a, 3 * longestPiece));
  await bench.journal.commit(b, () => bench.journal.insertRecord(b, bench.recordOf(b, 3 * longestPiece)));
  const rowOf = (id: string) => {
    const { id: _, ...row } = bench.db.sqlite
      .query<{ id: string }, [string]>("SELECT * FROM runs WHERE id = ?")
      .get(id)!;
    return row;
  };
  expect(rowOf(a)).toEqual(rowOf(b));
});

test("large entries make the batches smaller", async () => {
  using bench = fixture();
  const run_id = newId("run");
  const record = bench.recordOf(run_id, longestPiece + 10);
  const heavy = record.map(
    ({ at, event }, index): Recorded =>
      event.type === "run.resumed"
        ? { at, event: { type: "run.failed", error: faultOf(`${index} ${large}`), output: null, usage: noUsage } }
        : { at, event },
  );
  const before = bench.db.write.commits();
  await bench.commit(run_id, heavy);
  const bytes = JSON.stringify(heavy).length;
  expect(bench.db.write.commits() - before).toBeGreaterThanOrEqual(Math.floor(bytes / (256 * 1024)));
});

const faultOf = (message: string) =>
  ({ type: "run_error", code: "internal_error", message, step_index: null, retryable: false }) as const;

test("a long record whose last write is refused is removed completely", async () => {
  using bench = fixture();
  const run_id = newId("run");
  const refused = bench.commit(run_id, bench.recordOf(run_id, 3 * longestPiece, large), () => {
    throw new Error("refused");
  });
  await expect(refused).rejects.toThrow("refused");
  expect(await bench.stored()).toEqual(nothing);
});

test("the rest of a long record after a crash is invisible, and the next start deletes it", async () => {
  using bench = fixture();
  const run_id = newId("run");
  const { partial } = bench.journal;
  await partial.arrive(run_id, bench.recordOf(run_id, 3 * longestPiece, large));
  await partial.clear(); // A record that is being imported is not a leftover.
  expect(await bench.stored()).toEqual({ rows: 1, shown: 0, entries: 3 * longestPiece - 1, blobs: 0, partial: 1 });
  expect(() => bench.runs.get(bench.scope, run_id)).toThrow("There is nothing with this id.");
  partial.forget(run_id); // Another process does not know it.
  await partial.clear();
  expect(await bench.stored()).toEqual(nothing);
});

test("a record whose project is deleted during the import becomes no run", async () => {
  using bench = fixture();
  const run_id = newId("run");
  const record = bench.recordOf(run_id, 3 * longestPiece);
  await bench.journal.partial.arrive(run_id, record);
  await bench.db.write(() => bench.db.sqlite.run("DELETE FROM runs"));
  const late = bench.journal.commit(run_id, () => bench.journal.insertRecord(run_id, record));
  await expect(late).rejects.toThrow("is gone");
  expect(await bench.stored()).toEqual(nothing);
});

test("a deleted long run is invisible at once, and is deleted in batches", async () => {
  using bench = fixture();
  const run_id = newId("run");
  await bench.commit(run_id, bench.recordOf(run_id, 5 * longestPiece, large));
  const before = bench.db.write.commits();
  const removing = bench.runs.remove(bench.author, run_id);
  await bench.db.write(() => {}); // In the same commit as its first write, or later.
  expect(() => bench.runs.get(bench.scope, run_id)).toThrow("There is nothing with this id.");
  expect(bench.journal.head(run_id)).toBeNull();
  expect((await bench.stored()).shown).toBe(0);
  await removing;
  expect(bench.db.write.commits() - before).toBeGreaterThanOrEqual(7);
  expect(await bench.stored()).toEqual(nothing);
  await expect(bench.runs.remove(bench.author, run_id)).rejects.toThrow("There is nothing with this id.");
});

test("while the trace of a long run is deleted, the run is readable without it", async () => {
  const run_id = newId("run");
  const seen: unknown[] = [];
  using bench = fixture(async (done) => {
    await done;
    if (bench.journal.head(run_id)) seen.push(bench.runs.get(bench.scope, run_id).trace_id);
  });
  await bench.commit(run_id, bench.recordOf(run_id, 3 * longestPiece));
  seen.length = 0;
  await bench.runs.forgetTrace(bench.author, run_id);
  expect(seen.length).toBeGreaterThanOrEqual(4);
  expect(new Set(seen)).toEqual(new Set([null]));
});

test("a long run whose trace is deleted keeps its row, and its entries are deleted in batches", async () => {
  using bench = fixture();
  const [run_id, other] = [newId("run"), newId("run")];
  for (const id of [run_id, other]) await bench.commit(id, bench.recordOf(id, 5 * longestPiece, large));
  const before = bench.db.write.commits();
  await bench.runs.forgetTrace(bench.author, run_id);
  expect(bench.db.write.commits() - before).toBeGreaterThanOrEqual(7);
  expect(bench.runs.get(bench.scope, run_id)).toMatchObject({ status: "completed", trace_id: null });
  const left = { rows: 2, shown: 2, entries: 5 * longestPiece, blobs: 1, partial: 0 };
  expect(await bench.stored()).toEqual(left); // The blob that the other run shares.
  await bench.runs.remove(bench.author, run_id);
  expect(await bench.stored()).toEqual({ ...left, rows: 1, shown: 1 });
});
