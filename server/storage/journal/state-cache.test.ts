import { expect, test } from "bun:test";
import { answer, completed, created, started, text } from "../../domain/__fixtures__/events.ts";
import { newId } from "../../domain/ids.ts";
import type { JournalEntry, RunEvent } from "../../domain/run-event.ts";
import { fold } from "../../domain/run-state.ts";
import { runFixture } from "../../testing/run-fixture.ts";
import { turnsDuring } from "../../testing/turns.ts";
import type { Journal } from "./journal.ts";
import { longRunThreshold, StateCache } from "./state-cache.ts";

const steps = (count: number, from = 0): RunEvent[] =>
  Array.from({ length: count }, (_, index) => [started(from + index), completed(from + index)]).flat();

/** Caches the states of a journal's runs apart from the journal, and calls `onRead` after each read. */
class JournalStates extends StateCache {
  constructor(
    readonly journal: Journal,
    readonly onRead: (entries: readonly JournalEntry[]) => void,
  ) {
    super();
  }

  read(...asked: Parameters<Journal["read"]>) {
    const entries = this.journal.read(...asked);
    this.onRead(entries);
    return entries;
  }
  readSome(...asked: Parameters<Journal["readSome"]>) {
    const some = this.journal.readSome(...asked);
    this.onRead(some.entries);
    return some;
  }
  has = (runId: string, seq: number) => this.journal.has(runId, seq);
  head = (runId: string) => this.journal.head(runId);
  isAtHand = (runId: string) => this.journal.isAtHand(runId);
  isLarge = (runId: string) => this.journal.isLarge(runId);
}

async function withLongRun() {
  const fixture = runFixture();
  const id = newId("run");
  await fixture.journal.append(id, [created({ run_id: id, ...fixture.scope }), ...steps(longRunThreshold)]);
  const reads: number[] = [];
  const folds = new JournalStates(fixture.journal, ({ length }) => reads.push(length));
  return Object.assign(fixture, { id, folds, reads, whole: () => fold(fixture.journal.read(id)) });
}

test("a long run is read once: after that only its new entries", async () => {
  using fixture = await withLongRun();
  const { folds, reads, journal, id } = fixture;
  expect(await folds.stateInSlices(id)).toEqual(fixture.whole());
  await journal.append(id, steps(1, longRunThreshold));
  reads.length = 0;
  expect(folds.state(id)).toEqual(fixture.whole());
  expect(await folds.stateInSlices(id)).toEqual(fixture.whole());
  expect(Math.max(...reads)).toBe(2);
});

test("two callers that fold the same run at once get the right state, and a returned state never changes", async () => {
  using fixture = await withLongRun();
  const { folds, journal, id } = fixture;
  const [a, b] = await Promise.all([folds.stateInSlices(id), folds.stateInSlices(id)]);
  const before = fixture.whole();
  expect([a, b]).toEqual([before, before]);
  await journal.append(id, steps(1, longRunThreshold));
  await folds.stateInSlices(id);
  expect([a, b]).toEqual([before, before]);
});

test("a write that is rolled back leaves no trace in any state", async () => {
  using fixture = await withLongRun();
  const { folds, journal, id } = fixture;
  await folds.stateInSlices(id);
  const broken = journal.commit(id, () => {
    journal.insert(id, steps(1, longRunThreshold));
    expect(folds.state(id).steps).toBe(longRunThreshold + 1); // Within the write the entry exists.
    throw new Error("taken back");
  });
  await expect(broken).rejects.toThrow("taken back");
  expect(folds.state(id)).toEqual(fixture.whole());
});

test("the state after an earlier entry is right, however far the run is now", async () => {
  using fixture = await withLongRun();
  const { folds, journal, id } = fixture;
  const all = journal.read(id);
  for (const seq of [1, longRunThreshold, all.length])
    expect(await folds.stateAt(id, seq)).toEqual(fold(all.slice(0, seq)));
  expect(await folds.stateAt(id, all.length + 1)).toBeNull();
});

test("other work runs while a long run is folded", async () => {
  using fixture = await withLongRun();
  const { turns } = await turnsDuring(() => fixture.folds.stateInSlices(fixture.id));
  expect(turns).toBeGreaterThanOrEqual(Math.floor((2 * longRunThreshold) / 100));
});

test("a deleted run has no cached state, and a short run needs no preparation", async () => {
  using fixture = await withLongRun();
  const { journal, runs, service, author, scope, id } = fixture;
  await journal.prepared([id], async () => {});
  await service.cancel(scope, id, null);
  await runs.remove(author, id);
  expect(() => journal.state(id)).toThrow("A journal begins with run.created.");
  expect(await journal.stateInSlices(id)).toBeNull();
  const short = newId("run");
  await journal.append(short, [created({ run_id: short, ...scope })]);
  let isDone = false;
  const written = journal.prepared([short], async () => {
    isDone = true;
  });
  expect(isDone).toBe(true);
  await written;
});

/** Creates runs with this number of entries each; every second entry is an answer of `length` characters. */
async function withRuns(count: number, entries: number, length: number) {
  const fixture = await withLongRun();
  const said = (index: number) => completed(index, { answer: answer([text("x".repeat(length))]) });
  const ids = Array.from({ length: count }, () => newId("run"));
  for (const id of ids) {
    const events = Array.from({ length: entries / 2 }, (_, index) => [started(index), said(index)]).flat();
    await fixture.journal.append(id, [created({ run_id: id, ...fixture.scope }), ...events]);
  }
  return Object.assign(fixture, { ids });
}

test("a write about many runs folds none of them: they were folded before, and stay cached until the write is done", async () => {
  using fixture = await withRuns(10, 100, 1000);
  const { folds, reads, journal, ids } = fixture;
  await folds
    .prepared(ids, async () => {
      reads.length = 0;
      for (const id of ids) expect(folds.state(id)).toEqual(fold(journal.read(id)));
      expect(Math.max(...reads)).toBe(0);
      expect(folds.bytes().held).toBeGreaterThan(10 * 50 * 1000);
      // Another write about the same runs ends first.
      await folds.prepared(ids, async () => {});
      expect(folds.bytes().held).toBeGreaterThan(0);
      throw new Error("taken back");
    })
    .catch(({ message }: Error) => expect(message).toBe("taken back"));
  expect(folds.bytes().held).toBe(0);
});

test("other work runs while a run of few and large entries is folded for a write", async () => {
  using fixture = await withRuns(1, 20, 200_000);
  const { folds, ids, journal } = fixture;
  expect([journal.isLong(ids[0]!, 21), journal.isLong(ids[0]!, 1)]).toEqual([true, true]);
  const { turns } = await turnsDuring(() => folds.prepared(ids, async () => {}));
  expect(turns).toBeGreaterThanOrEqual(3);
});

test("the cached states of long runs have a limit in bytes, however few they are", async () => {
  using fixture = await withRuns(4, 200, 100_000); // 10 MB per run.
  const { folds, ids } = fixture;
  for (const id of ids) {
    await folds.stateInSlices(id);
    expect(folds.bytes().kept).toBeWithin(1, 16 * 1024 * 1024);
  }
  using many = await withRuns(8, 200, 100_000);
  await many.folds.prepared(many.ids, async () => {
    expect(many.folds.bytes().held).toBeWithin(1, 64 * 1024 * 1024);
    for (const id of many.ids) expect(many.folds.state(id).messages).toHaveLength(101);
  });
});

test("a run whose record is deleted during its fold is missing, and not partly folded", async () => {
  using fixture = await withLongRun();
  const { db, journal, id } = fixture;
  let asked = 0;
  const folds = new JournalStates(journal, () => {
    if (++asked === 2) db.sqlite.query("DELETE FROM run_events WHERE run_id = ?").run(id);
  });
  expect(await folds.stateInSlices(id)).toBeNull();
  expect(await folds.stateAt(id, journal.head(id)!.seq)).toBeNull();
});
