import { expect, test } from "bun:test";
import type { AppError } from "../../domain/errors.ts";
import { newId } from "../../domain/ids.ts";
import { openDatabase } from "../../storage/db/open.ts";
import { agentTool, runFixture, tool } from "../../testing/run-fixture.ts";
import type { CreateRun } from "../schema.ts";

type Fixture = ReturnType<typeof runFixture>;

const endless = [{ delay_ms: 3_600_000 }];
const never_ms = 2 ** 31 - 1;
const thread_id = newId("thread");

const begin = (fixture: Fixture, run: Partial<CreateRun> = {}, script: Parameters<Fixture["start"]>[0] = endless) =>
  fixture.start(script, { run: { thread_id, ...run } });
const queue = (fixture: Fixture, script?: Parameters<Fixture["start"]>[0], run: Partial<CreateRun> = {}) =>
  begin(fixture, { if_thread_busy: "queue", ...run }, script);
const replace = (fixture: Fixture, run: Partial<CreateRun> = {}) =>
  begin(fixture, { if_thread_busy: "cancel_previous", ...run });
const cancel = (fixture: Fixture, id: string) => fixture.service.cancel(fixture.scope, id, null);
const get = (fixture: Fixture, id: string) => fixture.runs.get(fixture.scope, id);
const statusOf = (fixture: Fixture, id: string) => get(fixture, id).status;
const startOf = (fixture: Fixture, id: string) => fixture.until(id, ({ event }) => event.type === "run.started");
const refusalOf = (work: Promise<unknown>): Promise<AppError> =>
  work.then(
    () => Promise.reject(new Error("It was not refused.")),
    (error) => error,
  );

test("of 20 runs created in a thread at once one begins, and the others are refused with its id", async () => {
  using fixture = runFixture();
  const all = await Promise.allSettled(Array.from({ length: 20 }, () => begin(fixture)));
  const [won, ...more] = all.flatMap((one) => (one.status === "fulfilled" ? [one.value] : []));
  expect(more).toEqual([]);
  const refusals = all.flatMap((one) => (one.status === "rejected" ? [one.reason as AppError] : []));
  expect(refusals).toHaveLength(19);
  for (const { code, details } of refusals) expect([code, details]).toEqual(["thread_busy", { run_id: won!.id }]);
  expect((await begin(fixture, { thread_id: newId("thread") })).status).toBe("in_progress");
});

test("a run that requires action keeps its thread busy, and a finished one does not", async () => {
  using fixture = runFixture();
  const call = [{ tool_calls: [{ name: "look", arguments: {} }] }, { text: "Done." }];
  const { id } = await fixture.start(call, { tools: [tool("look")], run: { thread_id } });
  const [asked] = (await fixture.settled(id)).required_action!.submit_tool_outputs.tool_calls;
  expect((await refusalOf(begin(fixture))).code).toBe("thread_busy");
  await fixture.service.submit(fixture.scope, id, [{ tool_call_id: asked!.tool_call_id, output: 1 }]);
  expect((await fixture.settled(id)).status).toBe("completed");
  expect((await begin(fixture)).status).toBe("in_progress");
});

test("runs queued in a thread begin one by one, in order, and show how many are before them", async () => {
  using fixture = runFixture({ look_ms: never_ms });
  const done = [{ delay_ms: 2, text: "Done." }];
  const first = await begin(fixture);
  const all = await Promise.all(Array.from({ length: 6 }, () => queue(fixture, done)));
  expect(all.map(({ status, queue_position }) => [status, queue_position])).toEqual(
    all.map((_, index) => ["queued", index + 1]),
  );
  expect(all.map(({ id }) => get(fixture, id).queue_position)).toEqual([1, 2, 3, 4, 5, 6]);
  await cancel(fixture, all[0]!.id);
  expect(get(fixture, all[1]!.id).queue_position).toBe(1);
  const begun: string[] = [];
  const unlisten = fixture.watches.listen((id) => {
    expect(fixture.runs.inProgress(fixture.scope)).toBeLessThanOrEqual(1);
    if (fixture.journal.read(id).at(-2)?.event.type === "run.started") begun.push(id);
  });
  await cancel(fixture, first.id);
  for (const { id } of all.slice(1)) expect((await fixture.settled(id)).output).toBe("Done.");
  unlisten();
  expect(begun).toEqual(all.slice(1).map(({ id }) => id));
});

test("a run that waits for its thread takes no slot, and no place in the queue for slots", async () => {
  using fixture = runFixture({ slots: 2, look_ms: never_ms });
  const first = await begin(fixture);
  const waiting = [await queue(fixture), await queue(fixture), await queue(fixture)];
  const other = await fixture.start(endless); // The second slot is free, whatever waits in the thread.
  expect(other.status).toBe("in_progress");
  const next = await fixture.start(endless, { run: { on_concurrency_limit: "queue" } });
  expect([next.status, next.queue_position, get(fixture, next.id).queue_position]).toEqual(["queued", 1, 1]);
  await cancel(fixture, other.id);
  await startOf(fixture, next.id);
  expect(waiting.map(({ id }) => get(fixture, id).queue_position)).toEqual([1, 2, 3]);
  // Both slots are taken by other runs: the next run of the thread waits for a slot too.
  const late = await fixture.start(endless, { run: { on_concurrency_limit: "queue" } });
  await cancel(fixture, first.id);
  await startOf(fixture, waiting[0]!.id);
  expect(statusOf(fixture, late.id)).toBe("queued");
  await cancel(fixture, next.id);
  await startOf(fixture, late.id);
  expect(waiting.map(({ id }) => statusOf(fixture, id))).toEqual(["in_progress", "queued", "queued"]);
});

test("the queue of a thread is limited like that of its project", async () => {
  using fixture = runFixture({ slots: Number.POSITIVE_INFINITY });
  await begin(fixture);
  const { status, queue_position } = await queue(fixture);
  expect([status, queue_position]).toEqual(["queued", 1]);
});

test("a run that replaces others ends them all, with their descendants, in the write that begins it", async () => {
  using fixture = runFixture({ agents: { agt_child: { settings: { script: endless } } } });
  const ask = [{ tool_calls: [{ name: "ask", arguments: { input: "Go." } }] }, ...endless];
  const { id } = await fixture.start(ask, { tools: [agentTool("ask", "agt_child")], run: { thread_id } });
  const { event } = await fixture.until(id, ({ event }) => event.type === "subagent.started");
  const child = event.type === "subagent.started" ? event.run_id : "";
  const waiting = [await queue(fixture), await queue(fixture)];
  const before = fixture.db.write.commits();
  const run = await replace(fixture);
  expect(fixture.db.write.commits()).toBe(before + 1);
  expect(run.status).toBe("in_progress");
  for (const one of [id, child, ...waiting.map((run) => run.id)]) {
    expect(statusOf(fixture, one)).toBe("cancelled");
    expect(fixture.pool.drives(one)).toBe(false);
  }
  expect(get(fixture, id).error!.message).toContain("has taken its place");
});

test("of 20 runs that replace each other at once the last one remains", async () => {
  using fixture = runFixture();
  const all = await Promise.all(Array.from({ length: 20 }, () => replace(fixture)));
  const left = all.filter(({ id }) => statusOf(fixture, id) !== "cancelled");
  expect(left.map(({ id }) => id)).toEqual([all.at(-1)!.id]);
});

test("a run that is refused for lack of a slot ends no other run", async () => {
  using fixture = runFixture({ slots: 1, look_ms: never_ms });
  const first = await begin(fixture);
  await fixture.start(endless, { run: { on_concurrency_limit: "queue" } });
  // The freed slot belongs to a run that waits for one.
  expect((await refusalOf(replace(fixture))).code).toBe("concurrency_limit_exceeded");
  expect(statusOf(fixture, first.id)).toBe("in_progress");
});

test("the next process continues the thread queue of a crashed one in its order", async () => {
  const db = openDatabase(":memory:");
  const before = runFixture({ db });
  const all = [await begin(before), await queue(before), await queue(before), await queue(before)];
  before.service.stop();
  before.pool.stop();
  using fixture = runFixture({ db, look_ms: never_ms });
  expect(await fixture.service.recover()).toBe(1);
  expect(all.map(({ id }) => get(fixture, id).queue_position)).toEqual([null, 1, 2, 3]);
  for (const [index, { id }] of all.entries()) {
    expect(all.slice(index).map((run) => statusOf(fixture, run.id))).toEqual(
      all.slice(index).map((_, at) => (at === 0 ? "in_progress" : "queued")),
    );
    await cancel(fixture, id);
    if (all[index + 1]) await startOf(fixture, all[index + 1]!.id);
  }
});

test("a process that dies between the end of a run and the start of the next leaves both to the next start", async () => {
  const db = openDatabase(":memory:");
  const before = runFixture({ db, look_ms: never_ms });
  const [first, second] = [await begin(before), await queue(before)];
  before.service.stop(); // The queue is no longer advanced.
  await before.journal.append(first.id, [{ type: "run.completed", output: "", output_json: null, usage: first.usage }]);
  before.pool.stop();
  using fixture = runFixture({ db, look_ms: never_ms });
  await fixture.service.recover();
  await startOf(fixture, second.id);
});

test("two runs of one thread cannot be active, whatever the code does", async () => {
  using fixture = runFixture();
  const first = await begin(fixture);
  const { id } = await queue(fixture);
  const forced = fixture.journal.append(id, [{ type: "run.started" }]);
  expect((await refusalOf(forced)).message).toContain("UNIQUE");
  expect([first.id, id].map((one) => statusOf(fixture, one))).toEqual(["in_progress", "queued"]);
});
