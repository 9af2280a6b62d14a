import { expect, test } from "bun:test";
import type { AppError } from "../core/errors.ts";
import { limits } from "../core/limits.ts";
import { openDatabase } from "../db/open.ts";
import { runBench, tool } from "../testing/run-bench.ts";

type Bench = ReturnType<typeof runBench>;

const endless = [{ delay_ms: 3_600_000 }];
const queueing = { on_concurrency_limit: "queue" as const };
const never_ms = 2 ** 31 - 1;

const queue = (bench: Bench, script: Parameters<Bench["start"]>[0] = endless, run = {}) =>
  bench.start(script, { run: { ...queueing, ...run } });
const turn = () => new Promise((resolve) => setImmediate(resolve));
const cancel = (bench: Bench, id: string) => bench.service.cancel(bench.scope, id, null);
const get = (bench: Bench, id: string) => bench.runs.get(bench.scope, id);
const startOf = (bench: Bench, id: string) => bench.until(id, ({ event }) => event.type === "run.started");
const typesOf = (bench: Bench, id: string) => bench.journal.read(id).map(({ event }) => event.type);
const refusalOf = (work: Promise<unknown>): Promise<AppError> =>
  work.then(
    () => Promise.reject(new Error("It was not refused.")),
    (error) => error,
  );

test("of 100 runs created at once with 20 slots, 20 begin and 80 queue; all end, and begin in their order", async () => {
  using bench = runBench({ look_ms: never_ms });
  const script = [{ delay_ms: 2, text: "Done." }];
  const all = await Promise.all(Array.from({ length: 100 }, () => queue(bench, script)));
  expect(all.filter(({ status }) => status === "in_progress")).toHaveLength(20);
  const queued = all.filter(({ status }) => status === "queued");
  expect(queued.map(({ queue_position }) => queue_position)).toEqual(Array.from({ length: 80 }, (_, i) => i + 1));
  const begun: string[] = [];
  let most = 0;
  const unlisten = bench.watches.listen((id) => {
    if (typesOf(bench, id).at(-2) === "run.started") begun.push(id);
    most = Math.max(most, bench.runs.inProgress(bench.scope));
  });
  const ended = await Promise.all(all.map(({ id }) => bench.settled(id)));
  unlisten();
  expect(ended.every(({ status, output }) => status === "completed" && output === "Done.")).toBe(true);
  expect(begun).toEqual(queued.map(({ id }) => id));
  expect(most).toBe(20);
  while (bench.pool.driving() > 0) await turn();
  expect(bench.slots.taken(bench.scope)).toBe(0);
});

test("a queued run says where it stands, has no start and no deadline, and begins as one that never waited", async () => {
  using bench = runBench({ slots: 1 });
  const first = await queue(bench);
  const [second, third] = [await queue(bench), await queue(bench, [{ text: "Third." }], { timeout_ms: 60_000 })];
  expect(second).toMatchObject({ status: "queued", queue_position: 1, started_at: null, expires_at: null });
  expect(get(bench, third.id)).toMatchObject({ status: "queued", queue_position: 2 });
  expect(typesOf(bench, third.id)).toEqual(["run.created", "run.queued"]);
  const stream = bench.stream(third.id);
  await cancel(bench, second.id);
  expect(get(bench, second.id)).toMatchObject({ status: "cancelled", queue_position: null, started_at: null });
  expect(get(bench, third.id).queue_position).toBe(1);
  await cancel(bench, first.id);
  const { at } = await startOf(bench, third.id);
  const done = await bench.settled(third.id);
  expect(done).toMatchObject({ status: "completed", output: "Third.", started_at: new Date(at).toISOString() });
  const events = (await stream).filter(({ event }) => event !== "token").map(({ event, data }) => [event, data.status]);
  expect(events.slice(0, 3)).toEqual([
    ["run.created", "queued"],
    ["run.queued", "queued"],
    ["run.started", "in_progress"],
  ]);
  expect(events.at(-1)).toEqual(["run.completed", "completed"]);
});

test("the timeout counts from the start and not from the creation", async () => {
  let clock = Date.UTC(2026, 0, 1);
  using bench = runBench({ slots: 1, now: () => clock });
  const first = await queue(bench);
  const { id } = await queue(bench, endless, { timeout_ms: 60_000 });
  clock += 3_600_000;
  await cancel(bench, first.id);
  await startOf(bench, id);
  expect(get(bench, id).expires_at).toBe(new Date(clock + 60_000).toISOString());
  await cancel(bench, id);
});

test("who does not ask to be queued is refused when all slots are taken, and when those that are free are waited for", async () => {
  using bench = runBench({ slots: 1 });
  const { id } = await queue(bench);
  const full = await refusalOf(bench.start(endless));
  expect(full).toMatchObject({ code: "concurrency_limit_exceeded", details: { limit: 1, queued: 0 } });
  const next = await queue(bench);
  const [, late] = await Promise.all([cancel(bench, id), refusalOf(bench.start(endless))]);
  expect(late.code).toBe("concurrency_limit_exceeded");
  await startOf(bench, next.id);
  await cancel(bench, next.id);
});

test("a refusal says when a slot is likely to be free, by how long the runs before it worked", async () => {
  let clock = 1_800_000_000_000;
  using bench = runBench({ slots: 1, now: () => clock });
  const retryAfter = async () => (await refusalOf(bench.start(endless))).retryAfter;
  const first = await queue(bench);
  clock += 8000;
  expect(await retryAfter()).toBe(8); // Nothing else is known than how long it works already.
  await cancel(bench, first.id);
  for (const took_ms of [20_000, 30_000, 40_000]) {
    const { id } = await bench.start([{ delay_ms: 20, text: "Done." }]);
    clock += took_ms;
    await bench.settled(id);
  }
  const { id } = await queue(bench);
  clock += 5000;
  expect(await retryAfter()).toBe(25);
  clock += 20_000;
  expect(await retryAfter()).toBe(15);
  await cancel(bench, id);
});

test("whoever asks to be queued begins after those who asked before, whatever slots became free meanwhile", async () => {
  using bench = runBench({ slots: 2 });
  const [one, two] = [await queue(bench), await queue(bench)];
  const first = await queue(bench);
  const [, , second] = await Promise.all([cancel(bench, one.id), cancel(bench, two.id), queue(bench)]);
  expect(second).toMatchObject({ status: "queued", queue_position: 2 });
  const starts = await Promise.all([first, second].map(({ id }) => startOf(bench, id)));
  expect(starts.map(({ at }) => at)).toEqual(starts.map(({ at }) => at).toSorted());
  for (const { id } of [first, second]) await cancel(bench, id);
});

test("a queue has an end", async () => {
  using bench = runBench({ slots: 1 });
  const first = await queue(bench);
  const all = await Promise.all(Array.from({ length: limits.queued_runs }, () => queue(bench)));
  expect(all.at(-1)!.queue_position).toBe(limits.queued_runs);
  const { code, details } = await refusalOf(queue(bench));
  expect([code, details]).toEqual(["concurrency_limit_exceeded", { limit: 1, queued: limits.queued_runs }]);
  await cancel(bench, all[0]!.id);
  expect((await queue(bench)).queue_position).toBe(limits.queued_runs);
  bench.service.stop();
  await cancel(bench, first.id);
});

test("a queued run cannot be answered or deleted", async () => {
  using bench = runBench({ slots: 1 });
  const first = await queue(bench);
  const { id } = await queue(bench);
  const answer = bench.service.submit(bench.scope, id, [{ tool_call_id: "call_none", output: 1 }]);
  expect((await refusalOf(answer)).code).toBe("tool_call_not_found");
  expect((await refusalOf(bench.runs.remove(bench.author, id))).code).toBe("run_not_terminal");
  for (const one of [id, first.id]) await cancel(bench, one);
});

test("whoever waits for a queued run waits until it is over", async () => {
  using bench = runBench({ slots: 1 });
  const first = await queue(bench, [{ delay_ms: 30, text: "First." }]);
  const { id } = await queue(bench, [{ text: "Second." }]);
  expect((await bench.settled(id)).output).toBe("Second.");
  expect(get(bench, first.id).status).toBe("completed");
});

test("a raised limit moves the queue, also when nothing else happens", async () => {
  let slots = 1;
  using bench = runBench({ slots: () => slots, look_ms: 5 });
  const all = [await queue(bench), await queue(bench), await queue(bench), await queue(bench)];
  slots = 3;
  for (const { id } of all.slice(1, 3)) await startOf(bench, id);
  expect(get(bench, all[3]!.id).queue_position).toBe(1);
  slots = Number.POSITIVE_INFINITY;
  await startOf(bench, all[3]!.id);
  for (const { id } of all) await cancel(bench, id);
});

test("a process that died leaves its queue, and the next one goes on with it in its order", async () => {
  const db = openDatabase(":memory:");
  const before = runBench({ db, slots: 2 });
  const all = await Promise.all(Array.from({ length: 6 }, () => queue(before)));
  before.service.stop();
  before.pool.stop();

  using bench = runBench({ db, slots: 2, look_ms: never_ms });
  expect(await bench.service.recover()).toBe(2);
  const statuses = () => all.map(({ id }) => get(bench, id).queue_position);
  expect(statuses()).toEqual([null, null, 1, 2, 3, 4]);
  for (const [index, { id }] of all.entries()) {
    await cancel(bench, id);
    if (all[index + 2]) await startOf(bench, all[index + 2]!.id);
  }
  expect(all.map(({ id }) => get(bench, id).status)).toEqual(Array(6).fill("cancelled"));
});

test("a run that comes back from waiting takes its slot before the queue does, in one tick too", async () => {
  using bench = runBench({ slots: 1, look_ms: never_ms });
  const call = { name: "look", arguments: {} };
  const { id: back } = await bench.start([{ tool_calls: [call] }, ...endless], { tools: [tool("look")] });
  const [asked] = (await bench.settled(back)).required_action!.submit_tool_outputs.tool_calls;
  const first = await queue(bench);
  const { id } = await queue(bench);
  // Told within the commit that frees the slot, and so before the queue is.
  const answered = bench.db
    .write(() => {})
    .then(() => bench.service.submit(bench.scope, back, [{ tool_call_id: asked!.id, output: 1 }]));
  await Promise.all([answered, cancel(bench, first.id)]);
  expect([get(bench, back).status, get(bench, id).status]).toEqual(["in_progress", "queued"]);
  await cancel(bench, back);
  await startOf(bench, id);
  await cancel(bench, id);
});

test("storage that refuses a write holds the queue up and does not stop it", async () => {
  const db = openDatabase(":memory:");
  let full = false;
  const write = <T>(job: () => T): Promise<T> =>
    db.write(() => {
      if (full) db.sqlite.run("SELECT RAISE(ABORT, 'full')");
      return job();
    });
  using bench = runBench({ db: { ...db, write: Object.assign(write, db.write) }, slots: 1, look_ms: never_ms });
  const first = await queue(bench);
  const { id } = await queue(bench);
  const cancelled = cancel(bench, first.id);
  await db.write(() => {}); // The cancel is durable; what comes of it is not yet written.
  full = true;
  await cancelled;
  await db.write(() => {});
  expect(get(bench, id).status).toBe("queued");
  full = false;
  await startOf(bench, id);
  await cancel(bench, id);
});
