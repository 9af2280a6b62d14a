import { expect, test } from "bun:test";
import { completed, created, started } from "../core/__fixtures__/events.ts";
import { newId } from "../core/ids.ts";
import type { RunEvent } from "../core/run-event.ts";
import { fold } from "../core/run-state.ts";
import { runFixture } from "../testing/run-fixture.ts";
import { turnsDuring } from "../testing/turns.ts";
import { createFolds, longFrom } from "./folds.ts";

const steps = (count: number, from = 0): RunEvent[] =>
  Array.from({ length: count }, (_, index) => [started(from + index), completed(from + index)]).flat();

async function withLongRun() {
  const fixture = runFixture();
  const id = newId("run");
  await fixture.journal.append(id, [created({ run_id: id, ...fixture.scope }), ...steps(longFrom)]);
  const reads: number[] = [];
  const folds = createFolds({
    read(runId, after, limit) {
      const entries = fixture.journal.read(runId, after, limit);
      reads.push(entries.length);
      return entries;
    },
    head: fixture.journal.head,
  });
  return Object.assign(fixture, { id, folds, reads, whole: () => fold(fixture.journal.read(id)) });
}

test("a long run is read once: after that only what came since", async () => {
  using fixture = await withLongRun();
  const { folds, reads, journal, id } = fixture;
  expect(await folds.stateInSlices(id)).toEqual(fixture.whole());
  await journal.append(id, steps(1, longFrom));
  reads.length = 0;
  expect(folds.state(id)).toEqual(fixture.whole());
  expect(await folds.stateInSlices(id)).toEqual(fixture.whole());
  expect(Math.max(...reads)).toBe(2);
});

test("two who fold the same run at once both have it right, and a state that was given stays as it was", async () => {
  using fixture = await withLongRun();
  const { folds, journal, id } = fixture;
  const [a, b] = await Promise.all([folds.stateInSlices(id), folds.stateInSlices(id)]);
  const before = fixture.whole();
  expect([a, b]).toEqual([before, before]);
  await journal.append(id, steps(1, longFrom));
  await folds.stateInSlices(id);
  expect([a, b]).toEqual([before, before]);
});

test("what a write inserted and took back is in nobody's state afterwards", async () => {
  using fixture = await withLongRun();
  const { folds, journal, id } = fixture;
  await folds.stateInSlices(id);
  const broken = journal.commit(id, () => {
    journal.insert(id, steps(1, longFrom));
    expect(folds.state(id).steps).toBe(longFrom + 1); // Within the write it is there.
    throw new Error("taken back");
  });
  await expect(broken).rejects.toThrow("taken back");
  expect(folds.state(id)).toEqual(fixture.whole());
});

test("a run as it stood after an entry is that, however far it is now", async () => {
  using fixture = await withLongRun();
  const { folds, journal, id } = fixture;
  const all = journal.read(id);
  for (const seq of [1, longFrom, all.length]) expect(await folds.stateAt(id, seq)).toEqual(fold(all.slice(0, seq)));
  expect(await folds.stateAt(id, all.length + 1)).toBeNull();
});

test("others have their turn while a long run is folded", async () => {
  using fixture = await withLongRun();
  const { turns } = await turnsDuring(() => fixture.folds.stateInSlices(fixture.id));
  expect(turns).toBeGreaterThanOrEqual(Math.floor((2 * longFrom) / 100));
});

test("nothing is kept of a run that was deleted, and a short run needs no preparation", async () => {
  using fixture = await withLongRun();
  const { journal, runs, service, author, scope, id } = fixture;
  await journal.prepare(id);
  await service.cancel(scope, id, null);
  await runs.remove(author, id);
  expect(journal.state(id).run).toBeNull();
  expect(await journal.stateInSlices(id)).toBeNull();
  const short = newId("run");
  await journal.append(short, [created({ run_id: short, ...scope })]);
  expect(journal.prepare(short)).toBeUndefined();
});

test("a run whose record goes while it is folded is gone, and not half of it", async () => {
  using fixture = await withLongRun();
  const { db, journal, id } = fixture;
  let asked = 0;
  const folds = createFolds({
    head: journal.head,
    read(...which) {
      if (++asked === 3) db.sqlite.query("DELETE FROM run_events WHERE run_id = ?").run(id);
      return journal.read(...which);
    },
  });
  expect(await folds.stateInSlices(id)).toBeNull();
  expect(await folds.stateAt(id, journal.head(id)!.seq)).toBeNull();
});
