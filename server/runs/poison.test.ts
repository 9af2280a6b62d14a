import { expect, test } from "bun:test";
import type { AgentSnapshot, ToolSnapshot } from "../domain/agent-snapshot.ts";
import { maxCrashesWithoutProgress } from "../domain/decide.ts";
import type { ScriptEntry } from "../domain/model-call.ts";
import { fold, isOver } from "../domain/run-state.ts";
import type { ToWorker } from "../runtime/agent-loop/messages.ts";
import { type Db, openDatabase } from "../storage/db/open.ts";
import { createWriter } from "../storage/db/writer.ts";
import { agentTool, runFixture, tool } from "../testing/run-fixture.ts";
import { thisThread, type WorkerFactory, type WorkerThread } from "./dispatch/worker-threads.ts";

type Fixture = ReturnType<typeof runFixture>;

const tools = [tool("look")];
const look = { name: "look", arguments: {} };

/** Behaviour of a run in a process: it works, never ends, or crashes the process. */
type Fate = "works" | "hangs" | "kills" | "kills soon" | "kills late";

const quarantine_ms = 50;
const delays: Partial<Record<Fate, number>> = { "kills soon": quarantine_ms * 0.5, "kills late": quarantine_ms * 1.5 };

/** Threads of a process that crashes as soon as a killer run continues, or during its quarantine, or after it. */
function doomed(fateOf: (runId: string) => Fate, kill: () => void): WorkerFactory {
  return (hear, died): WorkerThread => {
    const thread = thisThread(hear, died);
    const send = (order: ToWorker) => {
      // A run that is given up is not driven: only its end is recorded.
      const ends = order.do === "start" && fold(order.start.history).stalls >= maxCrashesWithoutProgress;
      const fate = order.do === "start" && !ends ? fateOf(order.start.run_id) : "works";
      if (fate === "works") thread.send(order);
      else if (fate === "kills") kill();
      else if (delays[fate]) setTimeout(kill, delays[fate]);
    };
    return { ...thread, send };
  };
}

/** A machine on which processes crash and are restarted on the same database. */
function machine(fateOf: (runId: string) => Fate, agents?: Record<string, Partial<AgentSnapshot>>) {
  const db: Db = openDatabase(":memory:");
  let end = () => {};
  let died = Promise.withResolvers<"died">();
  let crashes = 0;

  /** Starts a process; discards the previous one. */
  function boot(): Fixture {
    end();
    died = Promise.withResolvers();
    const { resolve } = died;
    // Pending writes of a crashed process never reach the database.
    let alive = true;
    const write = createWriter(db.sqlite, { endRead: db.snapshot.end });
    const never = new Promise<never>(() => {});
    const mortal = <T>(job: () => T): Promise<T> =>
      alive ? write(() => (alive ? job() : null)).then((value) => (alive ? (value as T) : never)) : never;
    const { flush, commits, timed, defer, hold, leaving } = write;
    const disk = { ...db, write: Object.assign(mortal, { flush, commits, timed, defer, hold, leaving }) };
    const kill = () => {
      if (alive) crashes++;
      end();
      resolve("died");
    };
    const fixture = runFixture({ db: disk, threads: doomed(fateOf, kill), quarantine_ms, agents });
    end = () => {
      alive = false;
      fixture.service.stop();
      fixture.pool.stop();
    };
    return fixture;
  }

  return {
    boot,
    crashes: () => crashes,
    died: () => died.promise,
    /** Restarts the process after each crash, until `done` is true in a living one. */
    async survive(done: (fixture: Fixture) => boolean): Promise<Fixture> {
      while (crashes < 20) {
        const fixture = boot();
        const holding = fixture.service.recover().then(() => holds(fixture, () => done(fixture)));
        if ((await Promise.race([died.promise, holding])) !== "died") return fixture;
      }
      throw new Error("It dies for ever.");
    },
    [Symbol.dispose]: () => end(),
  };
}

/** Resolves when the condition is true after a change. */
function holds({ watches }: Fixture, condition: () => boolean): Promise<void> {
  return new Promise((resolve) => {
    const unlisten = watches.listen(() => look());
    const look = () => {
      if (!condition()) return;
      unlisten();
      resolve();
    };
    look();
  });
}

const start = async (fixture: Fixture, script: ScriptEntry[], more: { tools?: ToolSnapshot[] } = {}) =>
  (await fixture.start(script, more)).id;
const runOf = (fixture: Fixture, id: string) => fixture.runs.get(fixture.scope, id);
const statusOf = (fixture: Fixture, id: string) => fixture.journal.head(id)!.status;
const areOver = (fixture: Fixture, ids: string[]) => ids.every((id) => isOver(statusOf(fixture, id)));
const stallsOf = (fixture: Fixture, id: string) => fold(fixture.journal.read(id)).stalls;

async function answer(fixture: Fixture, id: string): Promise<void> {
  const [call] = runOf(fixture, id).required_action!.submit_tool_outputs.tool_calls;
  await fixture.service.submit(fixture.scope, id, [{ tool_call_id: call!.tool_call_id, output: 1 }]);
}

test("a run that brings the process down again and again ends as crash_loop, and the service lives on", async () => {
  let poison: string | null = null;
  using server = machine((id) => (id === poison ? "kills" : "works"));
  const first = server.boot();
  first.watches.listen((id) => {
    poison ??= id;
  });
  void first.start([{ text: "Boom." }]);
  await server.died();
  const last = await server.survive((fixture) => areOver(fixture, [poison!]));
  expect(runOf(last, poison!)).toMatchObject({ status: "failed", attempt: 4, error: { code: "crash_loop" } });
  expect(server.crashes()).toBe(3);
  const other = await start(last, [{ text: "Fine." }]);
  expect((await last.settled(other)).output).toBe("Fine.");
});

test("a run whose child brings the process down again and again reads so, and is not given up with it", async () => {
  let poison: string | null = null;
  using server = machine((id) => (id === poison ? "kills" : "works"), { agt_poison: {} });
  const first = server.boot();
  first.watches.listen((id, [entry]) => {
    if (entry?.event.type === "run.created" && entry.event.parent_run_id) poison ??= id;
  });
  const ask = { name: "ask", arguments: { input: "Boom." } };
  const id = await start(first, [{ tool_calls: [ask] }, { text: "Oh." }], { tools: [agentTool("ask", "agt_poison")] });
  await server.died();
  const last = await server.survive((fixture) => areOver(fixture, [id]));
  expect(runOf(last, poison!)).toMatchObject({ status: "failed", error: { code: "crash_loop" } });
  expect(runOf(last, id)).toMatchObject({
    status: "completed",
    output: "Oh.",
    tool_calls: [{ status: "failed", error: { code: "crash_loop" } }],
  });
});

test("three concurrent poison runs each end, and concurrent work is unharmed", async () => {
  const fates = new Map<string, Fate>();
  using server = machine((id) => fates.get(id) ?? "hangs");
  const first = server.boot();
  // Two are in a long call at every crash, so they look as guilty as the others.
  const beside = [await start(first, [{ text: "Slow." }])];
  const poison = [await start(first, [{ text: "Boom." }]), await start(first, [{ text: "Boom." }])];
  poison.push(await start(first, [{ text: "Boom." }]));
  beside.push(await start(first, [{ text: "Slow." }]));
  for (const id of poison) fates.set(id, "kills");

  const last = await server.survive((fixture) => areOver(fixture, poison));
  for (const id of poison) expect(runOf(last, id).error!.code).toBe("crash_loop");
  expect(beside.map((id) => statusOf(last, id))).toEqual(["in_progress", "in_progress"]);
  for (const id of beside) fates.set(id, "works");
  await last.runs.markCleanStop();
  const calm = await server.survive((fixture) => areOver(fixture, beside));
  for (const id of beside) expect(runOf(calm, id).output).toBe("Slow.");
});

test("a run that progresses beside a poison run is recovered as often as needed, and completes", async () => {
  let poison = "";
  let fate: Fate = "hangs";
  using server = machine((id) => (id === poison ? fate : "works"));
  let fixture = server.boot();
  const turns = [...Array.from({ length: 6 }, () => ({ tool_calls: [look] })), { text: "All seen." }];
  const healthy = await start(fixture, turns, { tools });
  fixture.watches.listen((id) => {
    if (id !== healthy) poison = id;
  });
  await start(fixture, [{ text: "Boom." }]);
  for (let life = 1; life <= 2; life++) {
    await fixture.settled(healthy);
    await answer(fixture, healthy); // It is in its next step when the process dies.
    fixture = server.boot();
    await fixture.service.recover();
    await fixture.settled(healthy);
    expect(stallsOf(fixture, healthy)).toBe(0);
  }
  await answer(fixture, healthy);
  fate = "kills";
  fixture = await server.survive((next) => areOver(next, [poison]));
  expect(runOf(fixture, poison).error!.code).toBe("crash_loop");
  expect(server.crashes()).toBe(1);
  while ((await fixture.settled(healthy)).status === "requires_action") await answer(fixture, healthy);
  expect(runOf(fixture, healthy)).toMatchObject({ status: "completed", output: "All seen." });
});

test("a run that only looks guilty is not failed for a new one that kills the process beside it", async () => {
  const fates = new Map<string, Fate>();
  using server = machine((id) => fates.get(id) ?? "hangs");
  const innocent = await start(server.boot(), [{ text: "Slow." }]);
  let fixture = server.boot();
  for (let crash = 1; crash <= 2; crash++) {
    await fixture.service.recover();
    expect(stallsOf(fixture, innocent)).toBe(crash);
    if (crash === 1) fixture = server.boot();
  }
  const poison = await start(fixture, [{ text: "Boom." }]);
  fates.set(poison, "kills soon");
  const last = await server.survive((next) => areOver(next, [poison]));
  expect(runOf(last, poison).error!.code).toBe("crash_loop");
  expect(statusOf(last, innocent)).toBe("in_progress");
  fates.set(innocent, "works");
  await last.runs.markCleanStop();
  expect(runOf(await server.survive((next) => areOver(next, [innocent])), innocent).output).toBe("Slow.");
});

test("a run created during a quarantine is driven after it, and is not blamed", async () => {
  const driven: string[] = [];
  const fates = new Map<string, Fate>();
  using server = machine((id) => {
    driven.push(id);
    return fates.get(id) ?? "hangs";
  });
  const first = server.boot();
  const tried = [await start(first, [{ text: "One." }]), await start(first, [{ text: "Two." }])];
  for (let crash = 1; crash <= 2; crash++) await server.boot().service.recover();
  const fixture = server.boot();
  driven.length = 0;
  await fixture.service.recover();
  const fresh = await start(fixture, [{ text: "New." }]);
  fates.set(fresh, "works");
  expect((await fixture.settled(fresh)).output).toBe("New.");
  expect(driven).toEqual([...tried, fresh]);
  expect(runOf(fixture, fresh).attempt).toBe(1);
  expect(tried.map((id) => stallsOf(fixture, id))).toEqual([2, 2]);
});

test("one poison run among many long calls is found within few crashes, and every quarantine is short", async () => {
  const fates = new Map<string, Fate>();
  using server = machine((id) => fates.get(id) ?? "hangs");
  const first = server.boot();
  const ids: string[] = [];
  for (let index = 0; index < 16; index++) ids.push(await start(first, [{ text: "Slow." }]));
  const poison = ids[13]!;
  fates.set(poison, "kills");
  const last = await server.survive((fixture) => areOver(fixture, [poison]));
  expect(runOf(last, poison).error!.code).toBe("crash_loop");
  for (const id of ids) if (id !== poison) expect(statusOf(last, id)).toBe("in_progress");
  // Not one after the other: each crash leaves a quarter of them, or one that has to repeat alone.
  expect(server.crashes()).toBeLessThanOrEqual(7);
});

test("a run that crashes its process later than a quarantine lasts is found: a quarantine without a result is followed by a longer one", async () => {
  const fates = new Map<string, Fate>();
  using server = machine((id) => fates.get(id) ?? "hangs");
  const first = server.boot();
  const beside = [await start(first, [{ text: "Slow." }])];
  const poison = await start(first, [{ text: "Boom." }]);
  beside.push(await start(first, [{ text: "Slow." }]));
  fates.set(poison, "kills late");
  const last = await server.survive((fixture) => areOver(fixture, [poison]));
  expect(runOf(last, poison).error!.code).toBe("crash_loop");
  expect(beside.map((id) => statusOf(last, id))).toEqual(["in_progress", "in_progress"]);
});

test("a completed step resets the count", async () => {
  let fate: Fate = "hangs";
  using server = machine(() => fate);
  const id = await start(server.boot(), [{ tool_calls: [look] }, { text: "Seen." }], { tools });
  const crash = async () => {
    const fixture = server.boot();
    await fixture.service.recover();
    return stallsOf(fixture, id);
  };
  expect([await crash(), await crash()]).toEqual([1, 2]);
  fate = "works"; // In this process the run completes a step and requires an output.
  const fixture = server.boot();
  fixture.pool.start(id);
  await fixture.settled(id);
  fate = "hangs";
  await answer(fixture, id);
  expect([await crash(), await crash()]).toEqual([1, 2]);
  expect(statusOf(fixture, id)).toBe("in_progress");
});
