import { expect, test } from "bun:test";
import { fold } from "../domain/run-state.ts";
import { runFixture, textOfFrames } from "../testing/run-fixture.ts";
import type { WorkerFactory } from "./dispatch/worker-threads.ts";

/** Threads on which no work ends: it is still in progress when the process dies. */
const idleThreads: WorkerFactory = () => ({ separate: false, send() {}, end() {} });

test("a start without a writable database still serves reads: its runs are recovered once it is writable", async () => {
  using fixture = runFixture();
  const run = await fixture.start([{ text: "word ".repeat(50), delta_ms: 5 }]);
  fixture.pool.abort(run.id); // As if the process had died.
  fixture.db.sqlite.run("PRAGMA query_only = ON");
  expect(await fixture.service.recover()).toBe(1);
  expect(fixture.runs.get(fixture.scope, run.id).status).toBe("in_progress");
  fixture.db.sqlite.run("PRAGMA query_only = OFF");
  expect(await fixture.settled(run.id)).toMatchObject({ status: "completed", attempt: 2 });
});

test.each([
  ["nothing", "PRAGMA query_only = ON", "PRAGMA query_only = OFF"],
  [
    "no entry",
    "CREATE TRIGGER full BEFORE INSERT ON run_events BEGIN SELECT RAISE(ABORT, 'full'); END",
    "DROP TRIGGER full",
  ],
])("suspects continue once they are recovered, if the disk takes %s at the start", async (_, fill, clear) => {
  const first = runFixture({ threads: idleThreads });
  const ids = [(await first.start([{ text: "One." }])).id, (await first.start([{ text: "Two." }])).id];
  for (let crash = 0; crash < 2; crash++) await first.service.recover();
  expect(ids.map((id) => fold(first.journal.read(id)).stalls)).toEqual([2, 2]);
  first.service.stop();
  first.pool.stop();

  using fixture = runFixture({ db: first.db, quarantine_ms: 50 });
  fixture.db.sqlite.run(fill);
  await fixture.service.recover();
  expect(ids.every((id) => fixture.goesOn(id))).toBe(true);
  fixture.db.sqlite.run(clear);
  for (const id of ids) expect(await fixture.settled(id)).toMatchObject({ status: "completed", attempt: 4 });
});

test.each([
  ["is cancelled", { cancelled: true, full: true }],
  ["is cancelled by the start itself", { cancelled: true, full: false }],
  ["runs out of time", { cancelled: false, full: true }],
])("a run that %s before its recovery is recorded voids the text of the earlier process", async (_, way) => {
  const first = runFixture();
  const { id } = await first.start([{ text: "word ".repeat(20_000), delta_ms: 2 }]);
  const frames = await first.stream(id, undefined, ({ event }) => event === "token");
  first.service.stop();
  first.pool.stop();
  expect(textOfFrames(frames)).not.toBe("");

  using fixture = runFixture({ db: first.db, threads: idleThreads });
  if (way.full) {
    fixture.db.sqlite.run("PRAGMA query_only = ON");
    await fixture.service.recover();
    fixture.db.sqlite.run("PRAGMA query_only = OFF");
  }
  if (way.cancelled) await fixture.service.cancel(fixture.scope, id, null);
  else {
    fixture.bringForward(id);
    await fixture.settled(id);
  }
  const seq = Number(frames.at(-1)!.id.split(".")[0]);
  const rest = await fixture.stream(id, { seq, anchor: null, offset: 0 });
  expect(rest.map(({ event }) => event)).toContain("step.restarted");
  expect(textOfFrames([...frames, ...rest])).toBe("");
});
