import { expect, test } from "bun:test";
import type { AppError } from "../../domain/errors.ts";
import { limits } from "../../domain/limits.ts";
import { openDatabase } from "../../storage/db/open.ts";
import { runFixture, tool } from "../../testing/run-fixture.ts";
import { thisThread, type WorkerFactory } from "../dispatch/worker-threads.ts";

type Fixture = ReturnType<typeof runFixture>;

const endless = [{ delay_ms: 3_600_000 }];
const queueing = { on_concurrency_limit: "queue" as const };
const never_ms = 2 ** 31 - 1;

const queue = (fixture: Fixture, script: Parameters<Fixture["start"]>[0] = endless, run = {}) =>
  fixture.start(script, { run: { ...queueing, ...run } });
/** Threads that run messages at once, except those after `hold`, which run at `goOn`. */
function heldThreads() {
  let gate = Promise.withResolvers<void>();
  gate.resolve();
  const threads: WorkerFactory = (hear, died) => {
    const thread = thisThread(hear, died);
    return { ...thread, send: (order) => void gate.promise.then(() => thread.send(order)) };
  };
  const hold = () => {
    gate = Promise.withResolvers();
  };
  return { threads, hold, goOn: () => gate.resolve() };
}

const turn = () => new Promise((resolve) => setImmediate(resolve));
const cancel = (fixture: Fixture, id: string) => fixture.service.cancel(fixture.scope, id, null);
const get = (fixture: Fixture, id: string) => fixture.runs.get(fixture.scope, id);
const startOf = (fixture: Fixture, id: string) => fixture.until(id, ({ event }) => event.type === "run.started");
const typesOf = (fixture: Fixture, id: string) => fixture.journal.read(id).map(({ event }) => event.type);
const refusalOf = (work: Promise<unknown>): Promise<AppError> =>
  work.then(
    () => Promise.reject(new Error("It was not refused.")),
    (error) => error,
  );

test("of 100 runs created at once with 20 slots, 20 begin and 80 queue; all end, and begin in order", async () => {
  const { threads, hold, goOn } = heldThreads();
  using fixture = runFixture({ look_ms: never_ms, threads });
  hold(); // None ends before all are created.
  const script = [{ delay_ms: 2, text: "Done." }];
  const all = await Promise.all(Array.from({ length: 100 }, () => queue(fixture, script)));
  expect(all.filter(({ status }) => status === "in_progress")).toHaveLength(20);
  const queued = all.filter(({ status }) => status === "queued");
  expect(queued.map(({ queue_position }) => queue_position)).toEqual(Array.from({ length: 80 }, (_, i) => i + 1));
  const begun: string[] = [];
  let most = 0;
  const unlisten = fixture.watches.listen((id) => {
    if (typesOf(fixture, id).at(-2) === "run.started") begun.push(id);
    most = Math.max(most, fixture.runs.inProgress(fixture.scope));
  });
  goOn();
  const ended = await Promise.all(all.map(({ id }) => fixture.settled(id)));
  unlisten();
  expect(ended.every(({ status, output }) => status === "completed" && output === "Done.")).toBe(true);
  expect(begun).toEqual(queued.map(({ id }) => id));
  expect(most).toBe(20);
  while (fixture.pool.driving() > 0) await turn();
  expect(fixture.slots.taken(fixture.scope)).toBe(0);
});

test("a queued run has its position, no start and no deadline, and later begins like any other", async () => {
  using fixture = runFixture({ slots: 1 });
  const first = await queue(fixture);
  const [second, third] = [await queue(fixture), await queue(fixture, [{ text: "Third." }], { timeout_ms: 60_000 })];
  expect(second).toMatchObject({ status: "queued", queue_position: 1, started_at: null, expires_at: null });
  expect(get(fixture, third.id)).toMatchObject({ status: "queued", queue_position: 2 });
  expect(typesOf(fixture, third.id)).toEqual(["run.created", "run.queued"]);
  const stream = fixture.stream(third.id);
  await cancel(fixture, second.id);
  expect(get(fixture, second.id)).toMatchObject({ status: "cancelled", queue_position: null, started_at: null });
  expect(get(fixture, third.id).queue_position).toBe(1);
  await cancel(fixture, first.id);
  const { at } = await startOf(fixture, third.id);
  const done = await fixture.settled(third.id);
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
  using fixture = runFixture({ slots: 1, now: () => clock });
  const first = await queue(fixture);
  const { id } = await queue(fixture, endless, { timeout_ms: 60_000 });
  clock += 3_600_000;
  await cancel(fixture, first.id);
  await startOf(fixture, id);
  expect(get(fixture, id).expires_at).toBe(new Date(clock + 60_000).toISOString());
  await cancel(fixture, id);
});

test("a run that may not queue is refused if all slots are taken, or the free ones are waited for", async () => {
  using fixture = runFixture({ slots: 1 });
  const { id } = await queue(fixture);
  const full = await refusalOf(fixture.start(endless));
  expect(full).toMatchObject({ code: "concurrency_limit_exceeded", details: { limit: 1, queued: 0 } });
  const next = await queue(fixture);
  const [, late] = await Promise.all([cancel(fixture, id), refusalOf(fixture.start(endless))]);
  expect(late.code).toBe("concurrency_limit_exceeded");
  await startOf(fixture, next.id);
  await cancel(fixture, next.id);
});

test("a refusal has the estimated time until a slot is free, from the durations of earlier runs", async () => {
  let clock = 1_800_000_000_000;
  const { threads, hold, goOn } = heldThreads();
  using fixture = runFixture({ slots: 1, now: () => clock, threads });
  const retryAfter = async () => (await refusalOf(fixture.start(endless))).retryAfter;
  const first = await queue(fixture);
  clock += 8000;
  expect(await retryAfter()).toBe(8); // Only its own working time is known.
  await cancel(fixture, first.id);
  for (const took_ms of [20_000, 30_000, 40_000]) {
    hold();
    const { id } = await fixture.start([{ text: "Done." }]);
    clock += took_ms;
    goOn();
    await fixture.settled(id);
  }
  const { id } = await queue(fixture);
  clock += 5000;
  expect(await retryAfter()).toBe(25);
  clock += 20_000;
  expect(await retryAfter()).toBe(15);
  await cancel(fixture, id);
});

test("a run that may queue begins after earlier ones, whatever slots were freed meanwhile", async () => {
  using fixture = runFixture({ slots: 2 });
  const [one, two] = [await queue(fixture), await queue(fixture)];
  const first = await queue(fixture);
  const [, , second] = await Promise.all([cancel(fixture, one.id), cancel(fixture, two.id), queue(fixture)]);
  expect(second).toMatchObject({ status: "queued", queue_position: 2 });
  const starts = await Promise.all([first, second].map(({ id }) => startOf(fixture, id)));
  expect(starts.map(({ at }) => at)).toEqual(starts.map(({ at }) => at).toSorted());
  for (const { id } of [first, second]) await cancel(fixture, id);
});

test("a queue has a maximum length", async () => {
  using fixture = runFixture({ slots: 1 });
  const first = await queue(fixture);
  const all = await Promise.all(Array.from({ length: limits.queued_runs }, () => queue(fixture)));
  expect(all.at(-1)!.queue_position).toBe(limits.queued_runs);
  const { code, details } = await refusalOf(queue(fixture));
  expect([code, details]).toEqual(["concurrency_limit_exceeded", { limit: 1, queued: limits.queued_runs }]);
  await cancel(fixture, all[0]!.id);
  expect((await queue(fixture)).queue_position).toBe(limits.queued_runs);
  fixture.service.stop();
  await cancel(fixture, first.id);
});

test("a queued run cannot be answered or deleted", async () => {
  using fixture = runFixture({ slots: 1 });
  const first = await queue(fixture);
  const { id } = await queue(fixture);
  const answer = fixture.service.submit(fixture.scope, id, [{ tool_call_id: "call_none", output: 1 }]);
  expect((await refusalOf(answer)).code).toBe("tool_call_not_found");
  expect((await refusalOf(fixture.runs.remove(fixture.author, id))).code).toBe("run_not_terminal");
  for (const one of [id, first.id]) await cancel(fixture, one);
});

test("a request that waits for a queued run waits until the run is over", async () => {
  using fixture = runFixture({ slots: 1 });
  const first = await queue(fixture, [{ delay_ms: 30, text: "First." }]);
  const { id } = await queue(fixture, [{ text: "Second." }]);
  expect((await fixture.settled(id)).output).toBe("Second.");
  expect(get(fixture, first.id).status).toBe("completed");
});

test("a raised limit advances the queue, even if nothing else happens", async () => {
  let slots = 1;
  using fixture = runFixture({ slots: () => slots, look_ms: 5 });
  const all = [await queue(fixture), await queue(fixture), await queue(fixture), await queue(fixture)];
  slots = 3;
  for (const { id } of all.slice(1, 3)) await startOf(fixture, id);
  expect(get(fixture, all[3]!.id).queue_position).toBe(1);
  slots = Number.POSITIVE_INFINITY;
  await startOf(fixture, all[3]!.id);
  for (const { id } of all) await cancel(fixture, id);
});

test("the next process continues a crashed process's queue in its order", async () => {
  const db = openDatabase(":memory:");
  const before = runFixture({ db, slots: 2 });
  const all = await Promise.all(Array.from({ length: 6 }, () => queue(before)));
  before.service.stop();
  before.pool.stop();

  using fixture = runFixture({ db, slots: 2, look_ms: never_ms });
  expect(await fixture.service.recover()).toBe(2);
  const statuses = () => all.map(({ id }) => get(fixture, id).queue_position);
  expect(statuses()).toEqual([null, null, 1, 2, 3, 4]);
  for (const [index, { id }] of all.entries()) {
    await cancel(fixture, id);
    if (all[index + 2]) await startOf(fixture, all[index + 2]!.id);
  }
  expect(all.map(({ id }) => get(fixture, id).status)).toEqual(Array(6).fill("cancelled"));
});

test("a run that resumes from requires_action takes its slot before the queue, even in one tick", async () => {
  using fixture = runFixture({ slots: 1, look_ms: never_ms });
  const call = { name: "look", arguments: {} };
  const { id: back } = await fixture.start([{ tool_calls: [call] }, ...endless], { tools: [tool("look")] });
  const [asked] = (await fixture.settled(back)).required_action!.submit_tool_outputs.tool_calls;
  const first = await queue(fixture);
  const { id } = await queue(fixture);
  // Notified within the commit that frees the slot, so before the queue is.
  const answered = fixture.db
    .write(() => {})
    .then(() => fixture.service.submit(fixture.scope, back, [{ tool_call_id: asked!.tool_call_id, output: 1 }]));
  await Promise.all([answered, cancel(fixture, first.id)]);
  expect([get(fixture, back).status, get(fixture, id).status]).toEqual(["in_progress", "queued"]);
  await cancel(fixture, back);
  await startOf(fixture, id);
  await cancel(fixture, id);
});

test("storage that refuses a write delays the queue and does not stop it", async () => {
  const db = openDatabase(":memory:");
  let full = false;
  const write = <T>(job: () => T): Promise<T> =>
    db.write(() => {
      if (full) db.sqlite.run("SELECT RAISE(ABORT, 'full')");
      return job();
    });
  using fixture = runFixture({ db: { ...db, write: Object.assign(write, db.write) }, slots: 1, look_ms: never_ms });
  const first = await queue(fixture);
  const { id } = await queue(fixture);
  // The cancellation is durable; its consequences are not written yet.
  const unlisten = fixture.watches.listen(() => {
    full = true;
  });
  await cancel(fixture, first.id);
  unlisten();
  await db.write(() => {});
  expect(get(fixture, id).status).toBe("queued");
  full = false;
  await startOf(fixture, id);
  await cancel(fixture, id);
});
