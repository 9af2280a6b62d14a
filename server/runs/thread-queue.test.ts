import { expect, test } from "bun:test";
import type { AppError } from "../core/errors.ts";
import { newId } from "../core/ids.ts";
import { openDatabase } from "../db/open.ts";
import { agentTool, runBench, tool } from "../testing/run-bench.ts";
import type { CreateRun } from "./schema.ts";

type Bench = ReturnType<typeof runBench>;

const endless = [{ delay_ms: 3_600_000 }];
const never_ms = 2 ** 31 - 1;
const thread_id = newId("thread");

const begin = (bench: Bench, run: Partial<CreateRun> = {}, script: Parameters<Bench["start"]>[0] = endless) =>
  bench.start(script, { run: { thread_id, ...run } });
const queue = (bench: Bench, script?: Parameters<Bench["start"]>[0], run: Partial<CreateRun> = {}) =>
  begin(bench, { if_thread_busy: "queue", ...run }, script);
const replace = (bench: Bench, run: Partial<CreateRun> = {}) =>
  begin(bench, { if_thread_busy: "cancel_previous", ...run });
const cancel = (bench: Bench, id: string) => bench.service.cancel(bench.scope, id, null);
const get = (bench: Bench, id: string) => bench.runs.get(bench.scope, id);
const statusOf = (bench: Bench, id: string) => get(bench, id).status;
const startOf = (bench: Bench, id: string) => bench.until(id, ({ event }) => event.type === "run.started");
const refusalOf = (work: Promise<unknown>): Promise<AppError> =>
  work.then(
    () => Promise.reject(new Error("It was not refused.")),
    (error) => error,
  );

test("of 20 runs created in a thread at once one begins, and the others are told which one it is", async () => {
  using bench = runBench();
  const all = await Promise.allSettled(Array.from({ length: 20 }, () => begin(bench)));
  const [won, ...more] = all.flatMap((one) => (one.status === "fulfilled" ? [one.value] : []));
  expect(more).toEqual([]);
  const refusals = all.flatMap((one) => (one.status === "rejected" ? [one.reason as AppError] : []));
  expect(refusals).toHaveLength(19);
  for (const { code, details } of refusals) expect([code, details]).toEqual(["thread_busy", { run_id: won!.id }]);
  expect((await begin(bench, { thread_id: newId("thread") })).status).toBe("in_progress");
});

test("a run that waits for somebody keeps its thread busy, and one that is over does not", async () => {
  using bench = runBench();
  const call = [{ tool_calls: [{ name: "look", arguments: {} }] }, { text: "Done." }];
  const { id } = await bench.start(call, { tools: [tool("look")], run: { thread_id } });
  const [asked] = (await bench.settled(id)).required_action!.submit_tool_outputs.tool_calls;
  expect((await refusalOf(begin(bench))).code).toBe("thread_busy");
  await bench.service.submit(bench.scope, id, [{ tool_call_id: asked!.id, output: 1 }]);
  expect((await bench.settled(id)).status).toBe("completed");
  expect((await begin(bench)).status).toBe("in_progress");
});

test("runs that queue in a thread begin one by one, in their order, and say how many are before them", async () => {
  using bench = runBench({ look_ms: never_ms });
  const done = [{ delay_ms: 2, text: "Done." }];
  const first = await begin(bench);
  const all = await Promise.all(Array.from({ length: 6 }, () => queue(bench, done)));
  expect(all.map(({ status, queue_position }) => [status, queue_position])).toEqual(
    all.map((_, index) => ["queued", index + 1]),
  );
  expect(all.map(({ id }) => get(bench, id).queue_position)).toEqual([1, 2, 3, 4, 5, 6]);
  await cancel(bench, all[0]!.id);
  expect(get(bench, all[1]!.id).queue_position).toBe(1);
  const begun: string[] = [];
  const unlisten = bench.watches.listen((id) => {
    expect(bench.runs.inProgress(bench.scope)).toBeLessThanOrEqual(1);
    if (bench.journal.read(id).at(-2)?.event.type === "run.started") begun.push(id);
  });
  await cancel(bench, first.id);
  for (const { id } of all.slice(1)) expect((await bench.settled(id)).output).toBe("Done.");
  unlisten();
  expect(begun).toEqual(all.slice(1).map(({ id }) => id));
});

test("a run that waits for its thread takes nobody's slot, nor place in the queue for one", async () => {
  using bench = runBench({ slots: 2, look_ms: never_ms });
  const first = await begin(bench);
  const waiting = [await queue(bench), await queue(bench), await queue(bench)];
  const other = await bench.start(endless); // The second slot is free, whoever waits in the thread.
  expect(other.status).toBe("in_progress");
  const next = await bench.start(endless, { run: { on_concurrency_limit: "queue" } });
  expect([next.status, next.queue_position, get(bench, next.id).queue_position]).toEqual(["queued", 1, 1]);
  await cancel(bench, other.id);
  await startOf(bench, next.id);
  expect(waiting.map(({ id }) => get(bench, id).queue_position)).toEqual([1, 2, 3]);
  // Both slots are taken by others: whose turn it is in the thread waits for a slot like anybody else.
  const late = await bench.start(endless, { run: { on_concurrency_limit: "queue" } });
  await cancel(bench, first.id);
  await startOf(bench, waiting[0]!.id);
  expect(statusOf(bench, late.id)).toBe("queued");
  await cancel(bench, next.id);
  await startOf(bench, late.id);
  expect(waiting.map(({ id }) => statusOf(bench, id))).toEqual(["in_progress", "queued", "queued"]);
});

test("the line of a thread is as long as the queue of its project may be", async () => {
  using bench = runBench({ slots: Number.POSITIVE_INFINITY });
  await begin(bench);
  const { status, queue_position } = await queue(bench);
  expect([status, queue_position]).toEqual(["queued", 1]);
});

test("a run that takes the place of others ends them all, and what works for them, in the write that begins it", async () => {
  using bench = runBench({ agents: { agt_child: { settings: { script: endless } } } });
  const ask = [{ tool_calls: [{ name: "ask", arguments: { input: "Go." } }] }, ...endless];
  const { id } = await bench.start(ask, { tools: [agentTool("ask", "agt_child")], run: { thread_id } });
  const { event } = await bench.until(id, ({ event }) => event.type === "subagent.started");
  const child = event.type === "subagent.started" ? event.run_id : "";
  const waiting = [await queue(bench), await queue(bench)];
  const before = bench.db.write.commits();
  const run = await replace(bench);
  expect(bench.db.write.commits()).toBe(before + 1);
  expect(run.status).toBe("in_progress");
  for (const one of [id, child, ...waiting.map((run) => run.id)]) {
    expect(statusOf(bench, one)).toBe("cancelled");
    expect(bench.pool.drives(one)).toBe(false);
  }
  expect(get(bench, id).error!.message).toContain("has taken its place");
});

test("of 20 runs that take each other's place at once the last one is left", async () => {
  using bench = runBench();
  const all = await Promise.all(Array.from({ length: 20 }, () => replace(bench)));
  const left = all.filter(({ id }) => statusOf(bench, id) !== "cancelled");
  expect(left.map(({ id }) => id)).toEqual([all.at(-1)!.id]);
});

test("a run that is refused for want of a slot has ended nobody", async () => {
  using bench = runBench({ slots: 1, look_ms: never_ms });
  const first = await begin(bench);
  await bench.start(endless, { run: { on_concurrency_limit: "queue" } });
  // The slot that it would free belongs to whoever waits for one.
  expect((await refusalOf(replace(bench))).code).toBe("concurrency_limit_exceeded");
  expect(statusOf(bench, first.id)).toBe("in_progress");
});

test("a process that died leaves the line of a thread, and the next one goes on with it in its order", async () => {
  const db = openDatabase(":memory:");
  const before = runBench({ db });
  const all = [await begin(before), await queue(before), await queue(before), await queue(before)];
  before.service.stop();
  before.pool.stop();
  using bench = runBench({ db, look_ms: never_ms });
  expect(await bench.service.recover()).toBe(1);
  expect(all.map(({ id }) => get(bench, id).queue_position)).toEqual([null, 1, 2, 3]);
  for (const [index, { id }] of all.entries()) {
    expect(all.slice(index).map((run) => statusOf(bench, run.id))).toEqual(
      all.slice(index).map((_, at) => (at === 0 ? "in_progress" : "queued")),
    );
    await cancel(bench, id);
    if (all[index + 1]) await startOf(bench, all[index + 1]!.id);
  }
});

test("a process that dies between the end of a run and the start of the next one leaves both to a start", async () => {
  const db = openDatabase(":memory:");
  const before = runBench({ db, look_ms: never_ms });
  const [first, second] = [await begin(before), await queue(before)];
  before.service.stop(); // Nobody moves the queue any more.
  await before.journal.append(first.id, [{ type: "run.completed", output: "", output_json: null, usage: first.usage }]);
  before.pool.stop();
  using bench = runBench({ db, look_ms: never_ms });
  await bench.service.recover();
  await startOf(bench, second.id);
});

test("two runs of one thread cannot be under way, whatever the code believes", async () => {
  using bench = runBench();
  const first = await begin(bench);
  const { id } = await queue(bench);
  const forced = bench.journal.append(id, [{ type: "run.started" }]);
  expect((await refusalOf(forced)).message).toContain("UNIQUE");
  expect([first.id, id].map((one) => statusOf(bench, one))).toEqual(["in_progress", "queued"]);
});
