import { expect, test } from "bun:test";
import { answer, completed, created, started, text } from "../../domain/__fixtures__/events.ts";
import { newId } from "../../domain/ids.ts";
import type { JournalEntry, RunEvent } from "../../domain/run-event.ts";
import { noUsage } from "../../domain/usage.ts";
import { runFixture } from "../../testing/run-fixture.ts";
import { testActor } from "../../testing/test-actor.ts";
import { AppendRefused } from "./journal.ts";

const resumed: RunEvent = { type: "run.resumed" };
const recovered = (attempt: number): RunEvent => ({ type: "run.recovered", attempt, step_index: null });

async function begun() {
  const fixture = runFixture();
  const run_id = newId("run");
  await fixture.journal.append(run_id, [created({ run_id, ...fixture.scope })]);
  return Object.assign(fixture, { run_id, types: () => fixture.journal.read(run_id).map(({ event }) => event.type) });
}

test("entries count from 1 without gaps, over any number of appends", async () => {
  using fixture = await begun();
  await Promise.all([1, 2, 3].map(() => fixture.journal.append(fixture.run_id, [resumed, resumed])));
  expect(fixture.journal.read(fixture.run_id).map(({ seq }) => seq)).toEqual([1, 2, 3, 4, 5, 6, 7]);
  expect(fixture.journal.head(fixture.run_id)).toMatchObject({ seq: 7, status: "in_progress", attempt: 1 });
  expect(fixture.journal.read(fixture.run_id, 5, 1).map(({ seq }) => seq)).toEqual([6]);
});

test("long entries are read a megabyte at a time, and short ones up to the requested number", async () => {
  using fixture = await begun();
  const { journal, run_id } = fixture;
  const said = (length: number) => completed(0, { answer: answer([text("x".repeat(length))]) });
  await journal.append(run_id, [...Array(5).fill(said(400_000)), ...Array(50).fill(said(10)), said(3_000_000)]);
  const sizes: number[] = [];
  const all: JournalEntry[] = [];
  for (let some = journal.readSome(run_id, 0, 20); some.entries.length > 0; ) {
    sizes.push(some.entries.length);
    all.push(...some.entries);
    some = journal.readSome(run_id, all.at(-1)!.seq, 20);
  }
  expect(sizes).toEqual([4, 20, 20, 13]);
  expect(all).toEqual(journal.read(run_id));
  expect([journal.isLarge(run_id), journal.isAtHand(run_id)]).toEqual([true, false]);
});

test("an append to a run that is over is refused and leaves no trace", async () => {
  using fixture = await begun();
  await fixture.service.cancel(fixture.scope, fixture.run_id, null);
  const before = fixture.types();
  await expect(fixture.journal.append(fixture.run_id, [resumed])).rejects.toBeInstanceOf(AppendRefused);
  expect(fixture.types()).toEqual(before);
});

test("a loop that was given up cannot append: its attempt is outdated", async () => {
  using fixture = await begun();
  await fixture.journal.append(fixture.run_id, [recovered(2)]);
  await expect(fixture.journal.append(fixture.run_id, [started(0)], 1)).rejects.toBeInstanceOf(AppendRefused);
  await fixture.journal.append(fixture.run_id, [started(0)], 2);
  expect(fixture.types()).toEqual(["run.created", "run.recovered", "step.started"]);
});

test("a refused append does not affect other runs of its commit", async () => {
  using fixture = await begun();
  const other = newId("run");
  await fixture.journal.append(other, [created({ run_id: other, ...fixture.scope })]);
  const [kept, refused] = await Promise.allSettled([
    fixture.journal.append(fixture.run_id, [resumed]),
    fixture.journal.append(other, [resumed], 7),
  ]);
  expect([kept.status, refused.status]).toEqual(["fulfilled", "rejected"]);
  expect([fixture.types().length, fixture.journal.read(other).length]).toEqual([2, 1]);
});

test("a run begins with its creation: an append to a missing run is refused", async () => {
  using fixture = runFixture();
  await expect(fixture.journal.append(newId("run"), [resumed])).rejects.toBeInstanceOf(AppendRefused);
  expect(fixture.db.sqlite.query("SELECT * FROM run_events").all()).toEqual([]);
});

test("an empty append changes nothing and notifies no reader, also after the end", async () => {
  using fixture = await begun();
  await fixture.service.cancel(fixture.scope, fixture.run_id, null);
  const watch = fixture.watches.join(fixture.run_id);
  const [types, commits] = [fixture.types(), watch.commits()];
  expect(await fixture.journal.append(fixture.run_id, [])).toEqual([]);
  expect(await fixture.journal.append(newId("run"), [])).toEqual([]);
  expect([fixture.types(), watch.commits()]).toEqual([types, commits]);
  watch.leave();
});

test("readers are notified after the entries are durable, never before", async () => {
  using fixture = await begun();
  const before = fixture.db.write.commits();
  const heard: [commits: number, entries: number][] = [];
  fixture.watches.listen((id) => heard.push([fixture.db.write.commits() - before, fixture.journal.read(id).length]));
  const appended = fixture.journal.append(fixture.run_id, [resumed]);
  expect(heard).toEqual([]);
  await appended;
  expect(heard).toEqual([[1, 2]]);
});

test("an agent is found by the hash that a run pinned", async () => {
  using fixture = runFixture();
  const { id } = await fixture.start([{ text: "Hi." }], { agent: { instructions: "Pinned. ".repeat(1000) } });
  await fixture.settled(id);
  const [first] = fixture.journal.read(id);
  const { agent_hash } = first!.event as { agent_hash: string };
  const agent = fixture.journal.snapshot(fixture.scope, agent_hash);
  expect(agent.instructions).toBe("Pinned. ".repeat(1000));
  expect(fixture.journal.hashOf(agent)).toBe(agent_hash);
  expect(() => fixture.journal.snapshot({ ...fixture.scope, environment: "live" }, agent_hash)).toThrow("is missing");
});

test("the cached head of a run equals its row after every append, and is dropped when the run is deleted", async () => {
  using fixture = await begun();
  const { journal, db, run_id, runs, scope } = fixture;
  const inRow = () =>
    db.sqlite
      .query("SELECT status, seq, attempt, worked_ms, status_since_ms, expires_at_ms FROM runs WHERE id = ?")
      .get(run_id);
  const steps: RunEvent[][] = [
    [started(0)],
    [resumed],
    [recovered(2)],
    [{ type: "run.cancelled", reason: null, output: null, usage: noUsage }],
  ];
  for (const events of steps) {
    await journal.append(run_id, events);
    expect(journal.head(run_id)).toMatchObject(inRow() as object);
  }
  await runs.remove({ ...scope, actor: testActor }, run_id);
  expect([inRow(), journal.head(run_id)]).toEqual([null, null]);
});

test("the cached head of a run is unchanged after an append that was rolled back", async () => {
  using fixture = await begun();
  const { journal, run_id } = fixture;
  const before = journal.head(run_id);
  const broken = journal.commit(run_id, () => {
    journal.insert(run_id, [recovered(2)]);
    throw new Error("broken");
  });
  await expect(broken).rejects.toThrow("broken");
  expect(journal.head(run_id)).toEqual(before);
  expect(fixture.types()).toEqual(["run.created"]);
});

test("the cached entries of a run equal its journal, and a long run is not cached", async () => {
  using fixture = runFixture();
  const { journal, db } = fixture;
  const call = { id: "call_1", name: "lookup", arguments: {} };
  const { id } = await fixture.start([{ tool_calls: [call] }, { text: "Hi." }]);
  await fixture.settled(id);
  const kept = journal.read(id);
  const some = journal.read(id, 2, 1);
  const hide = "UPDATE run_events SET data = '{}' WHERE run_id = ?";
  const data = db.sqlite.query("SELECT data FROM run_events WHERE run_id = ? ORDER BY seq").values(id).flat();
  db.sqlite.query(hide).run(id);
  expect(journal.read(id)).toEqual(kept);
  expect(kept.map(({ event }) => JSON.stringify(event))).toEqual(data as string[]);
  expect(some).toEqual([kept[2]!]);
  db.kept.forget();
  expect(journal.read(id)).not.toEqual(kept);
  const long = newId("run");
  await journal.append(long, [created({ run_id: long, ...fixture.scope }), ...Array<RunEvent>(1000).fill(resumed)]);
  db.sqlite.query(hide).run(long);
  expect(journal.read(long)[0]!.event).toEqual({} as never);
});
