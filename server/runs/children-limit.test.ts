import { describe, expect, test } from "bun:test";
import type { AgentSnapshot } from "../domain/agent-snapshot.ts";
import type { ScriptEntry } from "../domain/model-call.ts";
import type { JournalEntry } from "../domain/run-event.ts";
import { isOver } from "../domain/run-state.ts";
import { copyDatabase } from "../testing/copy-database.ts";
import { agentTool, runFixture } from "../testing/run-fixture.ts";

type Fixture = ReturnType<typeof runFixture>;

/** Returns an answer that calls a tool `count` times, and then a final one. */
const calling = (name: string, count: number): ScriptEntry[] => [
  { tool_calls: Array.from({ length: count }, () => ({ name, arguments: { input: "Do it." } })) },
  { text: "Done." },
];
const again = agentTool("again", "agt_again");
/** An agent that calls itself several times in every turn, without end. */
const bomb = (count: number): Record<string, Partial<AgentSnapshot>> => ({
  agt_again: { settings: { script: calling("again", count) }, tools: [again] },
});
const silent: Partial<AgentSnapshot> = { model: "test/timeout" };
const quick: Partial<AgentSnapshot> = { settings: { script: [{ text: "Quick." }] } };

const treeOf = (fixture: Fixture, id: string) =>
  fixture.runs.below(id).map((below) => fixture.runs.get(fixture.scope, below));
const refused = (fixture: Fixture, id: string) =>
  [fixture.runs.get(fixture.scope, id), ...treeOf(fixture, id)].flatMap(({ tool_calls }) =>
    tool_calls.flatMap(({ error }) => (error ? [error.code] : [])),
  );
/** Resolves when a run waits for this number of started children. */
function begun(fixture: Fixture, id: string, count: number) {
  let noted = 0;
  return fixture.until(id, ({ seq, event }) => {
    if (seq === 1) noted = 0; // The run is read from the beginning again.
    return event.type === "subagent.started" && ++noted >= count;
  });
}

describe("a root run has a limited number of descendants", () => {
  test("counted over all depths, and a call beyond the limit is an error that the model reads", async () => {
    using fixture = runFixture({ agents: bomb(3), childrenMax: 7 });
    const { id } = await fixture.start(calling("again", 3), { tools: [again] });
    expect(await fixture.settled(id)).toMatchObject({ status: "completed", output: "Done." });
    const tree = treeOf(fixture, id);
    expect(tree.map(({ status }) => status)).toEqual(Array(7).fill("completed"));
    expect(refused(fixture, id)).toEqual(Array(3 * 8 - 7).fill("too_many_children"));
    expect(new Set(tree.map(({ parent_run_id }) => parent_run_id)).size).toBeGreaterThan(1);
  });

  test("even if several calls compete for the last place", async () => {
    using fixture = runFixture({ agents: { agt_again: quick }, childrenMax: 5 });
    const { id } = await fixture.start(calling("again", 20), { tools: [again] });
    await fixture.settled(id);
    expect([treeOf(fixture, id).length, refused(fixture, id).length]).toEqual([5, 15]);
  });

  test("including those that began before a crash, however early", async () => {
    const cuts: ReturnType<typeof copyDatabase>[] = [];
    let id = "";
    {
      using fixture = runFixture({ agents: bomb(2), childrenMax: 4 });
      fixture.watches.listen(() => void cuts.push(copyDatabase(fixture.db)));
      ({ id } = await fixture.start(calling("again", 2), { tools: [again] }));
      await fixture.settled(id);
    }
    expect(cuts.length).toBeGreaterThan(10);
    for (const db of cuts) {
      using fixture = runFixture({ db, agents: bomb(2), childrenMax: 4 });
      await fixture.service.recover();
      expect(await fixture.settled(id)).toMatchObject({ status: "completed" });
      expect([treeOf(fixture, id).length, refused(fixture, id).length]).toEqual([4, 6]);
    }
  });

  test("and a fork has its own limit, because it is a separate run", async () => {
    using fixture = runFixture({ agents: { agt_again: quick }, childrenMax: 3 });
    const { id } = await fixture.start(calling("again", 5), { tools: [again] });
    await fixture.settled(id);
    const body = { step_index: -1, edits: { input: "Once more." } };
    const fork = await fixture.service.fork(fixture.author, id, body, "req_fork");
    await fixture.settled(fork.id);
    for (const run of [id, fork.id])
      expect([treeOf(fixture, run).length, refused(fixture, run).length]).toEqual([3, 2]);
  });
});

/** Number of runs that began in each write, if any did. */
function beginningsOf(fixture: Fixture): Map<number, number> {
  const beginnings = new Map<number, number>();
  fixture.watches.listen((_: string, entries: readonly JournalEntry[]) => {
    const commit = fixture.db.write.commits();
    if (entries[0]?.event.type === "run.created") beginnings.set(commit, (beginnings.get(commit) ?? 0) + 1);
  });
  return beginnings;
}

describe("a hundred child runs of one answer", () => {
  // Long enough that a hundred of them take far longer than one slice.
  const long: Partial<AgentSnapshot> = { ...silent, instructions: "Be quiet. ".repeat(20_000) };

  test("begin in several writes, so that other work runs in between", async () => {
    using fixture = runFixture({ agents: { agt_again: long } });
    const beginnings = beginningsOf(fixture);
    const { id } = await fixture.start(calling("again", 100), { tools: [again] });
    await begun(fixture, id, 100);
    expect(Math.max(...beginnings.values())).toBeLessThan(50);
  });

  test("end in one write and are aborted after it", async () => {
    using fixture = runFixture({ agents: { agt_again: silent } });
    const { id } = await fixture.start(calling("again", 100), { tools: [again] });
    await begun(fixture, id, 100);
    await fixture.db.write(() => {}); // Wait for pending writes.
    const before = fixture.db.write.commits();
    await fixture.service.cancel(fixture.scope, id, null);
    expect(fixture.db.write.commits() - before).toBe(1);
    expect(treeOf(fixture, id).map(({ status }) => status)).toEqual(Array(100).fill("cancelled"));
    expect([fixture.pool.driving(), fixture.slots.takenBelow(fixture.scope)]).toEqual([0, []]);
  });

  test("stop beginning once the parent is over", async () => {
    using fixture = runFixture({ agents: { agt_again: long } });
    const began = Promise.withResolvers<void>();
    fixture.watches.listen((_: string, [first]: readonly JournalEntry[]) => {
      if (first?.event.type === "run.created" && first.event.parent_run_id) began.resolve();
    });
    const { id } = await fixture.start(calling("again", 100), { tools: [again] });
    await began.promise;
    await fixture.service.cancel(fixture.scope, id, null);
    const { length } = treeOf(fixture, id);
    expect(length).toBeLessThan(100);
    const other = await fixture.start(calling("again", 1), { tools: [again] });
    await begun(fixture, other.id, 1); // Begins after all that were in line.
    expect(treeOf(fixture, id)).toHaveLength(length);
  });
});

describe("the slots of child runs", () => {
  test("are shared by all depths, and a run that waits for its child takes none", async () => {
    using fixture = runFixture({ agents: bomb(2), slots: 1, childrenMax: 30 });
    const most = { below: 0, lent: 0 };
    fixture.watches.listen(() => {
      const [below = 0] = fixture.slots.takenBelow(fixture.scope);
      most.below = Math.max(most.below, below);
      most.lent = Math.max(most.lent, fixture.slots.lent());
    });
    const { id } = await fixture.start(calling("again", 2), { tools: [again] });
    expect(await fixture.settled(id)).toMatchObject({ status: "completed" });
    expect(treeOf(fixture, id)).toHaveLength(30);
    expect(most.lent).toBeGreaterThanOrEqual(1);
    expect(fixture.slots.takenBelow(fixture.scope)).toEqual([]);
  });

  test("all go to one tree only while no other tree wants any", async () => {
    const other = agentTool("other", "agt_quick");
    using fixture = runFixture({ agents: { agt_again: silent, agt_quick: quick }, slots: 4 });
    const greedy = await fixture.start(calling("again", 12), { tools: [again] });
    await begun(fixture, greedy.id, 12);
    expect(fixture.slots.takenBelow(fixture.scope)).toEqual([4]);
    const late = await fixture.start(calling("other", 12), { tools: [other] });
    expect(await fixture.settled(late.id)).toMatchObject({ status: "completed" });
    expect(fixture.slots.takenBelow(fixture.scope)).toEqual([4]);
  });

  test("are divided evenly among trees that want more", async () => {
    using fixture = runFixture({ agents: { agt_again: silent }, slots: 6 });
    const trees = await Promise.all(
      Array.from({ length: 3 }, () => fixture.start(calling("again", 8), { tools: [again] })),
    );
    await Promise.all(trees.map(({ id }) => begun(fixture, id, 8)));
    for (const { id } of trees) {
      const [child] = treeOf(fixture, id).filter((run) => fixture.pool.drives(run.id));
      if (child) await fixture.service.cancel(fixture.scope, child.id, null);
    }
    const taken = fixture.slots.takenBelow(fixture.scope);
    expect(taken.reduce((a, b) => a + b)).toBeGreaterThanOrEqual(6);
    expect(taken.every((own) => own >= 1)).toBe(true);
    for (const { id } of trees) await fixture.service.cancel(fixture.scope, id, null);
    expect(treeOf(fixture, trees[0]!.id).every(({ status }) => isOver(status))).toBe(true);
    expect(fixture.pool.driving()).toBe(0);
  });
});
