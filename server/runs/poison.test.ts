import { expect, test } from "bun:test";
import type { AgentSnapshot, ToolSnapshot } from "../core/agent-snapshot.ts";
import { stallsMax } from "../core/decide.ts";
import type { ScriptEntry } from "../core/model-call.ts";
import { fold, isOver } from "../core/run-state.ts";
import { type Db, openDatabase } from "../db/open.ts";
import { createWriter } from "../db/writer.ts";
import { agentTool, runBench, tool } from "../testing/run-bench.ts";
import type { Order } from "../worker/messages.ts";
import { sameThread, type Thread, type ThreadFactory } from "./threads.ts";

type Bench = ReturnType<typeof runBench>;

const tools = [tool("look")];
const look = { name: "look", arguments: {} };

/** What a process does with a run that it is told to drive: it works on it, never comes to an end, or dies of it. */
type Fate = "works" | "hangs" | "kills" | "kills soon" | "kills late";

const quarantine_ms = 50;
const delays: Partial<Record<Fate, number>> = { "kills soon": quarantine_ms * 0.5, "kills late": quarantine_ms * 1.5 };

/** Threads of a process that dies as soon as it goes on with a run that kills; or in a quarantine's time, or after it. */
function doomed(fateOf: (runId: string) => Fate, kill: () => void): ThreadFactory {
  return (hear, died): Thread => {
    const thread = sameThread(hear, died);
    const send = (order: Order) => {
      // A run that is given up is not worked on: its end is all that is recorded.
      const ends = order.do === "start" && fold(order.start.history).stalls >= stallsMax;
      const fate = order.do === "start" && !ends ? fateOf(order.start.run_id) : "works";
      if (fate === "works") thread.send(order);
      else if (fate === "kills") kill();
      else if (delays[fate]) setTimeout(kill, delays[fate]);
    };
    return { ...thread, send };
  };
}

/** A machine on which processes die and are started again on the same database. */
function machine(fateOf: (runId: string) => Fate, agents?: Record<string, Partial<AgentSnapshot>>) {
  const db: Db = openDatabase(":memory:");
  let end = () => {};
  let died = Promise.withResolvers<"died">();
  let crashes = 0;

  /** Starts a process; the one before it is gone, if it still was there. */
  function boot(): Bench {
    end();
    died = Promise.withResolvers();
    const { resolve } = died;
    // What a process had in mind when it died never reaches the database, and nobody hears of it.
    let alive = true;
    const write = createWriter(db.sqlite, { endRead: db.snapshot.end });
    const never = new Promise<never>(() => {});
    const mortal = <T>(job: () => T): Promise<T> =>
      alive ? write(() => (alive ? job() : null)).then((value) => (alive ? (value as T) : never)) : never;
    const disk = { ...db, write: Object.assign(mortal, { flush: write.flush, commits: write.commits }) };
    const kill = () => {
      if (alive) crashes++;
      end();
      resolve("died");
    };
    const bench = runBench({ db: disk, threads: doomed(fateOf, kill), quarantine_ms, agents });
    end = () => {
      alive = false;
      bench.service.stop();
      bench.pool.stop();
    };
    return bench;
  }

  return {
    boot,
    crashes: () => crashes,
    died: () => died.promise,
    /** Starts the process again after each crash, until `done` holds in one that lives. */
    async survive(done: (bench: Bench) => boolean): Promise<Bench> {
      while (crashes < 20) {
        const bench = boot();
        const holding = bench.service.recover().then(() => holds(bench, () => done(bench)));
        if ((await Promise.race([died.promise, holding])) !== "died") return bench;
      }
      throw new Error("It dies for ever.");
    },
    [Symbol.dispose]: () => end(),
  };
}

/** Returns when something has changed and the condition is true. */
function holds({ watches }: Bench, condition: () => boolean): Promise<void> {
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

const start = async (bench: Bench, script: ScriptEntry[], more: { tools?: ToolSnapshot[] } = {}) =>
  (await bench.start(script, more)).id;
const runOf = (bench: Bench, id: string) => bench.runs.get(bench.scope, id);
const statusOf = (bench: Bench, id: string) => bench.journal.head(id)!.status;
const areOver = (bench: Bench, ids: string[]) => ids.every((id) => isOver(statusOf(bench, id)));
const stallsOf = (bench: Bench, id: string) => fold(bench.journal.read(id)).stalls;

async function answer(bench: Bench, id: string): Promise<void> {
  const [call] = runOf(bench, id).required_action!.submit_tool_outputs.tool_calls;
  await bench.service.submit(bench.scope, id, [{ tool_call_id: call!.id, output: 1 }]);
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
  const last = await server.survive((bench) => areOver(bench, [poison!]));
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
  const last = await server.survive((bench) => areOver(bench, [id]));
  expect(runOf(last, poison!)).toMatchObject({ status: "failed", error: { code: "crash_loop" } });
  expect(runOf(last, id)).toMatchObject({
    status: "completed",
    output: "Oh.",
    tool_calls: [{ status: "failed", error: { code: "crash_loop" } }],
  });
});

test("three poison runs at once end, each for itself, and what was under way beside them is unharmed", async () => {
  const fates = new Map<string, Fate>();
  using server = machine((id) => fates.get(id) ?? "hangs");
  const first = server.boot();
  // Two are in the middle of a long call at every crash: they look as guilty as the others.
  const beside = [await start(first, [{ text: "Slow." }])];
  const poison = [await start(first, [{ text: "Boom." }]), await start(first, [{ text: "Boom." }])];
  poison.push(await start(first, [{ text: "Boom." }]));
  beside.push(await start(first, [{ text: "Slow." }]));
  for (const id of poison) fates.set(id, "kills");

  const last = await server.survive((bench) => areOver(bench, poison));
  for (const id of poison) expect(runOf(last, id).error!.code).toBe("crash_loop");
  expect(beside.map((id) => statusOf(last, id))).toEqual(["in_progress", "in_progress"]);
  for (const id of beside) fates.set(id, "works");
  await last.runs.markCleanStop();
  const calm = await server.survive((bench) => areOver(bench, beside));
  for (const id of beside) expect(runOf(calm, id).output).toBe("Slow.");
});

test("a run that makes progress beside a poison run is recovered as often as it takes, and completes", async () => {
  let poison = "";
  let fate: Fate = "hangs";
  using server = machine((id) => (id === poison ? fate : "works"));
  let bench = server.boot();
  const turns = [...Array.from({ length: 6 }, () => ({ tool_calls: [look] })), { text: "All seen." }];
  const healthy = await start(bench, turns, { tools });
  bench.watches.listen((id) => {
    if (id !== healthy) poison = id;
  });
  await start(bench, [{ text: "Boom." }]);
  for (let life = 1; life <= 2; life++) {
    await bench.settled(healthy);
    await answer(bench, healthy); // It is in the middle of its next step when the process dies.
    bench = server.boot();
    await bench.service.recover();
    await bench.settled(healthy);
    expect(stallsOf(bench, healthy)).toBe(0);
  }
  await answer(bench, healthy);
  fate = "kills";
  bench = await server.survive((next) => areOver(next, [poison]));
  expect(runOf(bench, poison).error!.code).toBe("crash_loop");
  expect(server.crashes()).toBe(1);
  while ((await bench.settled(healthy)).status === "requires_action") await answer(bench, healthy);
  expect(runOf(bench, healthy)).toMatchObject({ status: "completed", output: "All seen." });
});

test("a run that only looks guilty is not failed for a new one that kills the process beside it", async () => {
  const fates = new Map<string, Fate>();
  using server = machine((id) => fates.get(id) ?? "hangs");
  const innocent = await start(server.boot(), [{ text: "Slow." }]);
  let bench = server.boot();
  for (let crash = 1; crash <= 2; crash++) {
    await bench.service.recover();
    expect(stallsOf(bench, innocent)).toBe(crash);
    if (crash === 1) bench = server.boot();
  }
  const poison = await start(bench, [{ text: "Boom." }]);
  fates.set(poison, "kills soon");
  const last = await server.survive((next) => areOver(next, [poison]));
  expect(runOf(last, poison).error!.code).toBe("crash_loop");
  expect(statusOf(last, innocent)).toBe("in_progress");
  fates.set(innocent, "works");
  await last.runs.markCleanStop();
  expect(runOf(await server.survive((next) => areOver(next, [innocent])), innocent).output).toBe("Slow.");
});

test("a run that is created while others are in quarantine is driven when that is over, and is blamed for nothing", async () => {
  const driven: string[] = [];
  const fates = new Map<string, Fate>();
  using server = machine((id) => {
    driven.push(id);
    return fates.get(id) ?? "hangs";
  });
  const first = server.boot();
  const tried = [await start(first, [{ text: "One." }]), await start(first, [{ text: "Two." }])];
  for (let crash = 1; crash <= 2; crash++) await server.boot().service.recover();
  const bench = server.boot();
  driven.length = 0;
  await bench.service.recover();
  const fresh = await start(bench, [{ text: "New." }]);
  fates.set(fresh, "works");
  expect((await bench.settled(fresh)).output).toBe("New.");
  expect(driven).toEqual([...tried, fresh]);
  expect(runOf(bench, fresh).attempt).toBe(1);
  expect(tried.map((id) => stallsOf(bench, id))).toEqual([2, 2]);
});

test("one poison among many long calls is found within few crashes, and every quarantine is short", async () => {
  const fates = new Map<string, Fate>();
  using server = machine((id) => fates.get(id) ?? "hangs");
  const first = server.boot();
  const ids: string[] = [];
  for (let index = 0; index < 16; index++) ids.push(await start(first, [{ text: "Slow." }]));
  const poison = ids[13]!;
  fates.set(poison, "kills");
  const last = await server.survive((bench) => areOver(bench, [poison]));
  expect(runOf(last, poison).error!.code).toBe("crash_loop");
  for (const id of ids) if (id !== poison) expect(statusOf(last, id)).toBe("in_progress");
  // Not one after the other: each crash leaves a quarter of them, or one that has to do it once more, alone.
  expect(server.crashes()).toBeLessThanOrEqual(7);
});

test("a run that kills its process later than a quarantine lasts is found all the same: one that finds nobody is followed by a longer one", async () => {
  const fates = new Map<string, Fate>();
  using server = machine((id) => fates.get(id) ?? "hangs");
  const first = server.boot();
  const beside = [await start(first, [{ text: "Slow." }])];
  const poison = await start(first, [{ text: "Boom." }]);
  beside.push(await start(first, [{ text: "Slow." }]));
  fates.set(poison, "kills late");
  const last = await server.survive((bench) => areOver(bench, [poison]));
  expect(runOf(last, poison).error!.code).toBe("crash_loop");
  expect(beside.map((id) => statusOf(last, id))).toEqual(["in_progress", "in_progress"]);
});

test("a completed step in between begins the count anew", async () => {
  let fate: Fate = "hangs";
  using server = machine(() => fate);
  const id = await start(server.boot(), [{ tool_calls: [look] }, { text: "Seen." }], { tools });
  const crash = async () => {
    const bench = server.boot();
    await bench.service.recover();
    return stallsOf(bench, id);
  };
  expect([await crash(), await crash()]).toEqual([1, 2]);
  fate = "works"; // Driven by this process it completes a step, and asks for an output.
  const bench = server.boot();
  bench.pool.start(id);
  await bench.settled(id);
  fate = "hangs";
  await answer(bench, id);
  expect([await crash(), await crash()]).toEqual([1, 2]);
  expect(statusOf(bench, id)).toBe("in_progress");
});
