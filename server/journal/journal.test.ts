import { expect, test } from "bun:test";
import { created, started } from "../core/__fixtures__/events.ts";
import { newId } from "../core/ids.ts";
import type { RunEvent } from "../core/run-event.ts";
import { runBench } from "../testing/run-bench.ts";
import { AppendRefused } from "./journal.ts";

const resumed: RunEvent = { type: "run.resumed" };
const recovered = (attempt: number): RunEvent => ({ type: "run.recovered", attempt, step_index: null });

async function begun() {
  const bench = runBench();
  const run_id = newId("run");
  await bench.journal.append(run_id, [created({ run_id, ...bench.scope })]);
  return Object.assign(bench, { run_id, types: () => bench.journal.read(run_id).map(({ event }) => event.type) });
}

test("entries count from 1 without gaps, over any number of appends", async () => {
  using bench = await begun();
  await Promise.all([1, 2, 3].map(() => bench.journal.append(bench.run_id, [resumed, resumed])));
  expect(bench.journal.read(bench.run_id).map(({ seq }) => seq)).toEqual([1, 2, 3, 4, 5, 6, 7]);
  expect(bench.journal.head(bench.run_id)).toMatchObject({ seq: 7, status: "in_progress", attempt: 1 });
  expect(bench.journal.read(bench.run_id, 5, 1).map(({ seq }) => seq)).toEqual([6]);
});

test("nothing is appended to a run that is over, and what is refused leaves no trace", async () => {
  using bench = await begun();
  await bench.service.cancel(bench.scope, bench.run_id, null);
  const before = bench.types();
  await expect(bench.journal.append(bench.run_id, [resumed])).rejects.toBeInstanceOf(AppendRefused);
  expect(bench.types()).toEqual(before);
});

test("a loop that was given up appends nothing: its attempt is past", async () => {
  using bench = await begun();
  await bench.journal.append(bench.run_id, [recovered(2)]);
  await expect(bench.journal.append(bench.run_id, [started(0)], 1)).rejects.toBeInstanceOf(AppendRefused);
  await bench.journal.append(bench.run_id, [started(0)], 2);
  expect(bench.types()).toEqual(["run.created", "run.recovered", "step.started"]);
});

test("a refused append takes no other run of its commit along", async () => {
  using bench = await begun();
  const other = newId("run");
  await bench.journal.append(other, [created({ run_id: other, ...bench.scope })]);
  const [kept, refused] = await Promise.allSettled([
    bench.journal.append(bench.run_id, [resumed]),
    bench.journal.append(other, [resumed], 7),
  ]);
  expect([kept.status, refused.status]).toEqual(["fulfilled", "rejected"]);
  expect([bench.types().length, bench.journal.read(other).length]).toEqual([2, 1]);
});

test("a run begins with its creation: there is no appending to one that never was", async () => {
  using bench = runBench();
  await expect(bench.journal.append(newId("run"), [resumed])).rejects.toBeInstanceOf(AppendRefused);
  expect(bench.db.sqlite.query("SELECT * FROM run_events").all()).toEqual([]);
});

test("nothing to append changes nothing and wakes nobody, also after the end", async () => {
  using bench = await begun();
  await bench.service.cancel(bench.scope, bench.run_id, null);
  const watch = bench.watches.join(bench.run_id);
  const [types, commits] = [bench.types(), watch.commits()];
  expect(await bench.journal.append(bench.run_id, [])).toEqual([]);
  expect(await bench.journal.append(newId("run"), [])).toEqual([]);
  expect([bench.types(), watch.commits()]).toEqual([types, commits]);
  watch.leave();
});

test("readers are woken after the entries are durable, never before", async () => {
  using bench = await begun();
  const before = bench.db.write.commits();
  const heard: [commits: number, entries: number][] = [];
  bench.watches.listen((id) => heard.push([bench.db.write.commits() - before, bench.journal.read(id).length]));
  const appended = bench.journal.append(bench.run_id, [resumed]);
  expect(heard).toEqual([]);
  await appended;
  expect(heard).toEqual([[1, 2]]);
});

test("an agent is found by the hash of what a run pinned", async () => {
  using bench = runBench();
  const { id } = await bench.start([{ text: "Hi." }], { agent: { instructions: "Pinned. ".repeat(1000) } });
  await bench.settled(id);
  const [first] = bench.journal.read(id);
  const { agent_hash } = first!.event as { agent_hash: string };
  const agent = bench.journal.snapshot(bench.scope, agent_hash);
  expect(agent.instructions).toBe("Pinned. ".repeat(1000));
  expect(bench.journal.hashOf(agent)).toBe(agent_hash);
  expect(() => bench.journal.snapshot({ ...bench.scope, environment: "live" }, agent_hash)).toThrow("is missing");
});
