import { afterAll, expect, test } from "bun:test";
import { maxCrashesWithoutProgress } from "../../domain/decide.ts";
import { fold, isOver } from "../../domain/run-state.ts";
import type { FromWorker, ToWorker } from "../../runtime/agent-loop/messages.ts";
import { httpTool, runFixture, textOfFrames, tool } from "../../testing/run-fixture.ts";
import { thisThread, type WorkerFactory, workerThread } from "./worker-threads.ts";

const look = { name: "look", arguments: {} };
const waits = [{ tool_calls: [look] }, { text: "Seen." }];
const slow = { text: "word ".repeat(400), delta_ms: 2 };

let [seen, silent] = [0, 0];
let release = () => {};
const server = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  async fetch(request) {
    seen++;
    const { pathname } = new URL(request.url);
    if (pathname === "/held") await new Promise<void>((resolve) => (release = resolve));
    if (pathname === "/silent" && ++silent === 1) await new Promise(() => {}); // Only the first request hangs.
    return Response.json({ seen });
  },
});
afterAll(() => server.stop(true));

/** Threads that die on command, like a worker out of memory: no more messages arrive. */
function mortal() {
  const deaths: (() => void)[] = [];
  const zombies: ((message: FromWorker) => void)[] = [];
  const threads: WorkerFactory = (onMessages, onExit) => {
    let alive = true;
    const late: FromWorker[] = [];
    deaths.push(() => {
      alive = false;
      onExit("killed by the test");
    });
    zombies.push((message) => onMessages([message]));
    return thisThread((messages) => (alive ? onMessages(messages) : late.push(...messages)), onExit);
  };
  return {
    threads,
    die: (index: number) => deaths[index]!(),
    speak: (index: number, message: FromWorker) => zombies[index]!(message),
  };
}

/** Threads that one of their runs crashes or blocks forever; other runs never end. */
function doomed(way: "ends" | "blocks", isPoison: (runId: string) => boolean) {
  let deaths = 0;
  let living = 0;
  const threads: WorkerFactory = (onMessages, onExit) => {
    const thread = thisThread(onMessages, onExit);
    let isStuck = false;
    living++;
    const end = () => void living--;
    const send = (message: ToWorker) => {
      // A run that is given up is not driven: only its end is recorded.
      const ends = message.do === "start" && fold(message.start.history).stalls >= maxCrashesWithoutProgress;
      if (isStuck) return;
      if (message.do !== "start" || ends) return thread.send(message);
      if (!isPoison(message.start.run_id)) return;
      deaths++;
      isStuck = true;
      if (way === "ends")
        setImmediate(() => {
          living--;
          onExit("killed by a run");
        });
    };
    return { separate: true, send, end };
  };
  return { threads, deaths: () => deaths, living: () => living };
}

/** Resolves when no run is driven: loops have left and slots are free. */
async function idle({ pool }: ReturnType<typeof runFixture>): Promise<void> {
  while (pool.driving() > 0) await new Promise((resolve) => setImmediate(resolve));
}

const endsOf = (types: string[]) =>
  types.filter((type) => ["run.completed", "run.failed", "run.cancelled"].includes(type));

test("real worker threads behave the same: text, tools, answers and streams", async () => {
  using fixture = runFixture({ threads: workerThread, size: 2 });
  const calls = { tool_calls: [look, { name: "get", arguments: {} }] };
  const tools = [tool("look"), httpTool("get", `http://127.0.0.1:${server.port}/`)];
  const runs = await Promise.all(
    Array.from({ length: 6 }, () => fixture.start([{ text: "Let me see. ", ...calls }, { text: "Seen." }], { tools })),
  );
  for (const { id } of runs) {
    const waiting = await fixture.settled(id);
    const [call] = waiting.required_action!.submit_tool_outputs.tool_calls;
    await fixture.service.submit(fixture.scope, id, [{ tool_call_id: call!.tool_call_id, output: 1 }]);
    const done = await fixture.settled(id);
    expect([done.status, done.output]).toEqual(["completed", "Seen."]);
    expect(textOfFrames(await fixture.stream(id))).toBe("Let me see. Seen.");
  }
});

test("a real worker that ends costs its runs only a recovery", async () => {
  const workers: Worker[] = [];
  const OriginalWorker = globalThis.Worker;
  globalThis.Worker = class extends OriginalWorker {
    constructor(...args: ConstructorParameters<typeof OriginalWorker>) {
      super(...args);
      workers.push(this);
    }
  };
  using fixture = runFixture({ threads: workerThread });
  try {
    const call = { text: "Let me see. ", tool_calls: [{ name: "get", arguments: {} }] };
    const { id } = await fixture.start([call, { text: "One two three." }], {
      tools: [httpTool("get", `http://127.0.0.1:${server.port}/silent`, { idempotent: true })],
    });
    while (silent === 0) await new Promise((resolve) => setImmediate(resolve));
    workers[0]!.terminate(); // During its call, whatever its progress.
    const run = await fixture.settled(id);
    expect([run.status, run.output, run.attempt]).toEqual(["completed", "One two three.", 2]);
    expect(workers).toHaveLength(2);
  } finally {
    globalThis.Worker = OriginalWorker;
  }
});

test("a thread that dies during an answer causes a recovery, and readers discard the partial text", async () => {
  const { threads, die } = mortal();
  using fixture = runFixture({ threads });
  const { id } = await fixture.start([slow]);
  const frames = fixture.stream(id);
  await fixture.stream(id, undefined, ({ event }) => event === "token");
  die(0);
  const run = await fixture.settled(id);
  expect([run.status, run.attempt, run.output]).toEqual(["completed", 2, slow.text]);
  expect(textOfFrames(await frames)).toBe(run.output!);
  await idle(fixture);
});

test("late messages of an abandoned loop are refused", async () => {
  const { threads, die, speak } = mortal();
  using fixture = runFixture({ threads });
  const { id } = await fixture.start([{ ...slow, text: "a b c d e f", delta_ms: 5 }]);
  await fixture.until(id, ({ event }) => event.type === "step.started");
  die(0);
  await fixture.until(id, ({ event }) => event.type === "step.restarted");
  speak(0, { do: "append", run_id: id, attempt: 1, ticket: 99, events: [{ type: "run.resumed" }] });
  speak(0, { do: "left", drive: 1, run_id: id, attempt: 1, fault: "an old bug" });
  const run = await fixture.settled(id);
  expect([run.status, run.attempt]).toEqual(["completed", 2]);
  expect(fixture.journal.read(id).map(({ event }) => event.type)).not.toContain("run.resumed");
});

test("a model is called while the commit of its step is in progress, and a tool once that is durable", async () => {
  const told: [order: string, commits: number][] = [];
  const threads: WorkerFactory = (onMessages, onExit) => {
    const thread = thisThread(onMessages, onExit);
    const send = (message: ToWorker) => {
      told.push([message.do, fixture.db.write.commits()]);
      thread.send(message);
    };
    return { ...thread, send };
  };
  using fixture = runFixture({ threads });
  const tools = [httpTool("get", `http://127.0.0.1:${server.port}/`)];
  const { id } = await fixture.start([{ tool_calls: [{ name: "get", arguments: {} }] }, { text: "Seen." }], { tools });
  expect((await fixture.settled(id)).output).toBe("Seen.");
  await idle(fixture);
  expect(told).toEqual([
    ["start", 0], // Before the first commit.
    ["appended", 2], // The second commit has the intent of the tool call.
    ["appended", 2], // Its result and the intent of a model call: before the third commit.
  ]); // No reply for the end: the loop has left with it.
});

test("work based on a commit that failed is refused, and its run is recovered", async () => {
  const { threads, speak } = mortal();
  const refused = Promise.withResolvers<void>();
  const telling: WorkerFactory = (onMessages, onExit) => {
    const thread = threads(onMessages, onExit);
    const send = (message: ToWorker) => {
      thread.send(message);
      if (message.do === "refused") refused.resolve();
    };
    return { ...thread, send };
  };
  using fixture = runFixture({ threads: telling });
  const tools = [httpTool("get", `http://127.0.0.1:${server.port}/`, { idempotent: true })];
  const script = [{ tool_calls: [{ name: "get", arguments: {} }] }, { ...slow, delay_ms: 10 }];
  const { id } = await fixture.start(script, { tools });
  let ahead = 0;
  fixture.db.write.leaving(() => {
    if (++ahead <= 2) throw new Error("The disk refuses."); // The commit that the model call precedes, and its retry.
  });
  await refused.promise;
  speak(0, { do: "append", run_id: id, attempt: 1, ticket: 99, events: [{ type: "run.resumed" }] });
  const run = await fixture.settled(id);
  expect([run.status, run.attempt, run.output]).toEqual(["completed", 2, slow.text]);
  expect(fixture.journal.read(id).map(({ event }) => event.type)).not.toContain("run.resumed");
  await idle(fixture);
});

test("a thread that dies while its run requires action does not cause a recovery", async () => {
  const { threads, die } = mortal();
  using fixture = runFixture({ threads });
  const { id } = await fixture.start(waits, { tools: [tool("look")] });
  const { required_action } = await fixture.settled(id);
  die(0); // Its loop is leaving: the run still counts as driven.
  const [call] = required_action!.submit_tool_outputs.tool_calls;
  await fixture.service.submit(fixture.scope, id, [{ tool_call_id: call!.tool_call_id, output: 1 }]);
  const run = await fixture.settled(id);
  expect([run.status, run.output, run.attempt]).toEqual(["completed", "Seen.", 1]);
});

test("a run whose threads die three times without progress is given up, and the others survive", async () => {
  const { threads, die } = mortal();
  using fixture = runFixture({ threads });
  const { id } = await fixture.start([slow]);
  for (let death = 0; death < 3; death++) {
    await fixture.until(id, ({ event }) =>
      death === 0 ? event.type === "step.started" : event.type === "step.restarted" && event.attempt === death + 1,
    );
    die(death);
  }
  const run = await fixture.settled(id);
  expect([run.status, run.error!.code]).toEqual(["failed", "crash_loop"]);
  expect(textOfFrames(await fixture.stream(id))).toBe("");
  const other = await fixture.start([{ text: "Fine." }]);
  expect((await fixture.settled(other.id)).output).toBe("Fine.");
});

test.each([
  ["ends", 3, 1, 1],
  ["ends", 12, 3, 2],
  ["blocks", 3, 1, 1],
] as const)(
  "a run that %s its thread is given up and none of its %d neighbours, with %d such runs on %d threads",
  async (way, innocents, poisons, size) => {
    const poison: string[] = [];
    const { threads, deaths, living } = doomed(way, (id) => poison.includes(id));
    using fixture = runFixture({ threads, size, beat_ms: 20 });
    const ids: string[] = [];
    for (let index = 0; index < innocents + poisons; index++) ids.push((await fixture.start([slow])).id);
    poison.push(...ids.slice(1, 1 + poisons));
    for (const id of poison) {
      fixture.pool.abort(id); // Driven again, it shows its behaviour.
      fixture.pool.start(id);
    }
    for (const id of poison) expect((await fixture.settled(id)).error!.code).toBe("crash_loop");
    const others = ids.filter((id) => !poison.includes(id));
    expect(others.filter((id) => isOver(fixture.journal.head(id)!.status))).toEqual([]);
    expect(others.every((id) => fixture.goesOn(id))).toBe(true);
    expect(deaths()).toBeLessThanOrEqual(6 * poisons);
    for (const id of others) await fixture.service.cancel(fixture.scope, id, null);
    expect(living()).toBe(size); // Suspects have left their own threads.
  },
);

test.each([1, 2])(
  "a run that begins while a dead thread of %d awaits its replacement begins without a recovery",
  async (size) => {
    const { threads, die } = mortal();
    using fixture = runFixture({ threads, size });
    die(0); // So early that its replacement is delayed.
    const { id } = await fixture.start([{ text: "Hello." }]);
    expect(await fixture.settled(id)).toMatchObject({ status: "completed", output: "Hello.", attempt: 1 });
  },
);

test("an answer may arrive while the loop that asked for it is leaving", async () => {
  using fixture = runFixture();
  const { id } = await fixture.start(waits, { tools: [tool("look")] });
  let answered: Promise<number> | null = null;
  fixture.watches.listen(() => {
    const run = fixture.runs.get(fixture.scope, id);
    if (run.status !== "requires_action" || answered) return;
    const [call] = run.required_action!.submit_tool_outputs.tool_calls;
    answered = fixture.service.submit(fixture.scope, id, [{ tool_call_id: call!.tool_call_id, output: 1 }]);
  });
  await fixture.until(id, ({ event }) => event.type === "run.completed");
  await answered!;
  expect(fixture.runs.get(fixture.scope, id).output).toBe("Seen.");
});

test("if an answer and a cancellation race, one of them wins and the run ends once", async () => {
  using fixture = runFixture({ slots: 100 });
  await Promise.all(
    Array.from({ length: 50 }, async (_, index) => {
      const { id } = await fixture.start(waits, { tools: [tool("look")] });
      const { required_action } = await fixture.settled(id);
      const [call] = required_action!.submit_tool_outputs.tool_calls;
      const submit = () => fixture.service.submit(fixture.scope, id, [{ tool_call_id: call!.tool_call_id, output: 1 }]);
      const cancel = () => fixture.service.cancel(fixture.scope, id, null);
      await Promise.allSettled((index % 2 ? [submit, cancel] : [cancel, submit]).map((act) => act()));
      await fixture.settled(id);
      const types = fixture.journal.read(id).map(({ event }) => event.type);
      expect(endsOf(types)).toHaveLength(1);
      expect(endsOf(types)).toEqual(types.slice(-1));
    }),
  );
});

test("no more runs are driven than allowed, and no slot is lost in a storm of cancellations and failures", async () => {
  let most = 0;
  using fixture = runFixture({ slots: 5 });
  fixture.watches.listen(() => (most = Math.max(most, fixture.pool.driving())));
  const shapes = [[{ text: "a b", delta_ms: 1 }], [{ error: "No." }], [slow], waits];
  let started = 0;
  const one = async (index: number): Promise<void> => {
    try {
      const { id } = await fixture.start(shapes[index % 4]!, { tools: [tool("look")] });
      started++;
      if (index % 3 === 0 || index % 4 >= 2) await fixture.service.cancel(fixture.scope, id, null).catch(() => {});
      await fixture.settled(id);
      if (index % 4 === 3) await fixture.service.cancel(fixture.scope, id, null).catch(() => {});
    } catch (error) {
      expect(error).toMatchObject({ code: "concurrency_limit_exceeded" });
      await new Promise((resolve) => setImmediate(resolve));
      return one(index);
    }
  };
  await Promise.all(Array.from({ length: 200 }, (_, index) => one(index)));
  expect([started, fixture.runs.inProgress(fixture.scope)]).toEqual([200, 0]);
  expect(most).toBeLessThanOrEqual(5);
  const last = await fixture.start([{ text: "Still here." }]);
  expect((await fixture.settled(last.id)).output).toBe("Still here.");
  await idle(fixture);
});

test("a run that ended while waiting for its slot leaves the slot to the next one", async () => {
  using fixture = runFixture({ slots: 1 });
  const ids: string[] = [];
  for (let index = 0; index < 3; index++) {
    const { id } = await fixture.start(waits, { tools: [tool("look")] });
    await fixture.settled(id);
    ids.push(id);
  }
  const blocker = await fixture.start([slow]);
  for (const id of ids) {
    const [call] = fixture.runs.get(fixture.scope, id).required_action!.submit_tool_outputs.tool_calls;
    await fixture.service.submit(fixture.scope, id, [{ tool_call_id: call!.tool_call_id, output: 1 }]);
  }
  await fixture.service.cancel(fixture.scope, ids[0]!, null);
  await fixture.service.cancel(fixture.scope, blocker.id, null);
  for (const id of ids.slice(1)) expect((await fixture.settled(id)).output).toBe("Seen.");
});

test("a bug in a loop fails its run, keeps the streamed text, and the server survives", async () => {
  const { threads, speak } = mortal();
  using fixture = runFixture({ threads });
  const { id } = await fixture.start([slow]);
  const frames = fixture.stream(id);
  await fixture.stream(id, undefined, ({ event }) => event === "token");
  speak(0, { do: "left", drive: 1, run_id: id, attempt: 1, fault: "TypeError: secret detail" });
  const run = await fixture.settled(id);
  expect([run.status, run.error!.code]).toEqual(["failed", "internal_error"]);
  expect(run.error!.message).not.toContain("secret");
  expect(textOfFrames(await frames)).toBe(run.output!);
  const next = await fixture.start([{ text: "Fine." }]);
  expect((await fixture.settled(next.id)).status).toBe("completed");
});

test("a run with one damaged journal row fails at once, and the others continue", async () => {
  const fixture = runFixture({ threads: () => ({ separate: false, send() {}, end() {} }) });
  const { id } = await fixture.start([{ text: "Hello." }]);
  fixture.db.sqlite.run("UPDATE run_events SET data = '{\"type\":' WHERE run_id = ? AND seq = 2", [id]);
  fixture.pool.stop();
  fixture.service.stop();
  using next = runFixture({ db: fixture.db });
  await next.service.recover();
  expect(next.journal.head(id)).toMatchObject({ status: "failed", seq: 3 });
  expect(next.journal.read(id, 2)).toMatchObject([
    { event: { type: "run.failed", error: { code: "internal_error" } } },
  ]);
  await expect(next.service.cancel(next.scope, id, null)).rejects.toMatchObject({ code: "run_already_terminal" });
  const other = await next.start([{ text: "Fine." }]);
  expect((await next.settled(other.id)).output).toBe("Fine.");
  await idle(next);
  expect(next.runs.inProgress(next.scope)).toBe(0);
});

test("a run whose journal is gone fails alone, and the server continues", async () => {
  using fixture = runFixture();
  const { id } = await fixture.start(waits, { tools: [tool("look")] });
  await fixture.settled(id);
  await fixture.db.write(() => {
    fixture.db.sqlite.run("DELETE FROM run_events WHERE run_id = ?", [id]);
    fixture.db.sqlite.run("UPDATE runs SET status = 'in_progress' WHERE id = ?", [id]);
  });
  await fixture.service.recover();
  const next = await fixture.start([{ text: "Fine." }]);
  expect((await fixture.settled(next.id)).output).toBe("Fine.");
  expect(fixture.journal.head(id)!.status).toBe("failed");
});

test("a result that storage refused is not lost, and its call is not repeated", async () => {
  using fixture = runFixture();
  const before = seen;
  const { id } = await fixture.start([{ tool_calls: [{ name: "pay", arguments: {} }] }, { text: "Done." }], {
    tools: [httpTool("pay", `http://127.0.0.1:${server.port}/held`)],
  });
  await fixture.until(id, ({ event }) => event.type === "step.started" && event.step_type === "tool_call");
  while (seen === before) await new Promise((resolve) => setImmediate(resolve));
  fixture.db.sqlite.run("CREATE TRIGGER full BEFORE INSERT ON run_events BEGIN SELECT RAISE(ABORT, 'full'); END");
  release();
  await idle(fixture);
  for (let turns = 0; turns < 20; turns++) await new Promise((resolve) => setImmediate(resolve));
  expect(fixture.pool.driving()).toBe(0);
  fixture.db.sqlite.run("DROP TRIGGER full");
  const run = await fixture.settled(id);
  expect([run.status, run.attempt]).toEqual(["requires_action", 2]);
  expect(run.required_action!.submit_tool_outputs.tool_calls).toMatchObject([{ needs: "reconcile" }]);
  expect(seen - before).toBe(1);
});

/** A real thread has four such pings to start in, also on a busy machine. */
const start_ms = 1500;

test("a thread that stops responding is replaced, and its runs continue from their records", async () => {
  let made = 0;
  const threads: WorkerFactory = (onMessages, onExit) => {
    const first = made++ === 0;
    // The first one works but sends nothing, like a loop stuck in a computation.
    return workerThread((messages) => first || onMessages(messages), onExit);
  };
  using fixture = runFixture({ threads, beat_ms: start_ms });
  const { id } = await fixture.start([{ text: "Hello." }]);
  await fixture.until(id, ({ event }) => event.type === "run.completed");
  expect(made).toBe(2);
  expect(fixture.runs.get(fixture.scope, id)).toMatchObject({ status: "completed", output: "Hello.", attempt: 2 });
});

test("what a stuck thread still does when it comes back is refused, whatever it sends", async () => {
  let made = 0;
  let comeBack = () => {};
  const ended = Promise.withResolvers<void>();
  const mayGoOn = Promise.withResolvers<void>();
  const threads: WorkerFactory = (onMessages, onExit) => {
    if (made++ > 0) return thisThread((messages) => void mayGoOn.promise.then(() => onMessages(messages)), onExit);
    // The first one works on its run; pings do not reach it, and its messages arrive after it was given up.
    const said: FromWorker[] = [];
    const thread = thisThread((messages) => {
      said.push(...messages);
      if (messages.some((message) => message.do === "append")) ended.resolve();
    }, onExit);
    comeBack = () => onMessages(said);
    const send = (message: ToWorker) => void (message.do === "ping" || thread.send(message));
    return { separate: true, send, end() {} };
  };
  using fixture = runFixture({ threads, beat_ms: 20 });
  const { id } = await fixture.start([{ text: "a b c" }]);
  await ended.promise;
  await fixture.until(id, ({ event }) => event.type === "run.recovered");
  const before = fixture.journal.read(id);
  comeBack();
  await fixture.db.write(() => {}); // By then all pending writes are done.
  expect(fixture.journal.read(id)).toEqual(before);
  mayGoOn.resolve();
  expect(await fixture.settled(id)).toMatchObject({ status: "completed", output: "a b c", attempt: 2 });
  const entries = fixture.journal.read(id);
  comeBack(); // Once more, after the run's end.
  await fixture.db.write(() => {});
  expect(fixture.journal.read(id)).toEqual(entries);
  expect(textOfFrames(await fixture.stream(id))).toBe("a b c");
  await idle(fixture);
  expect(fixture.slots.taken(fixture.scope)).toBe(0);
});

test("threads that respond are kept, however many pings pass", async () => {
  let made = 0;
  let beats = 0;
  const enough = Promise.withResolvers<void>();
  const threads: WorkerFactory = (onMessages, onExit) => {
    made++;
    return workerThread((messages) => {
      if (messages.some((message) => message.do === "pong") && ++beats === 4) enough.resolve();
      onMessages(messages);
    }, onExit);
  };
  using fixture = runFixture({ threads, beat_ms: start_ms });
  await fixture.start([{ ...slow, delta_ms: start_ms }]); // Longer than four pings.
  await enough.promise;
  expect([made, fixture.pool.driving()]).toEqual([1, 1]);
});

test("recoveries after a clean stop are no crashes: three deployments during one call do not end the run", async () => {
  using fixture = runFixture({ threads: () => ({ separate: false, send() {}, end() {} }) });
  const { id } = await fixture.start([{ text: "Hello." }]);
  for (let i = 0; i < 4; i++) {
    await fixture.runs.markCleanStop();
    await fixture.service.recover();
  }
  const clean = fold(fixture.journal.read(id));
  expect([clean.attempt, clean.stalls]).toEqual([5, 0]);
  await fixture.service.recover(); // The mark of a clean stop is gone after the first read.
  expect(fold(fixture.journal.read(id)).stalls).toBe(1);
});
