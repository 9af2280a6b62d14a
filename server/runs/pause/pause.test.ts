import { afterAll, describe, expect, test } from "bun:test";
import type { AgentSnapshot } from "../../domain/agent-snapshot.ts";
import { newId } from "../../domain/ids.ts";
import type { ScriptEntry } from "../../domain/model-call.ts";
import { modelRequest } from "../../domain/prompt.ts";
import { beginsModelCall, endsRun } from "../../domain/run-event.ts";
import { fold } from "../../domain/run-state.ts";
import { copyDatabase } from "../../testing/copy-database.ts";
import { agentTool, httpTool, runFixture, textOfFrames, tool } from "../../testing/run-fixture.ts";
import { parseCursor, requireCursor } from "../stream/stream.ts";

type Fixture = ReturnType<typeof runFixture>;

/** A server whose answers a test sends. */
const calls: { answer(body: unknown): void }[] = [];
let arrived = Promise.withResolvers<void>();
/** Answers at once, if it is set. */
let answers: (() => unknown) | null = null;
const server = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  idleTimeout: 0,
  fetch: async () =>
    answers
      ? Response.json(answers())
      : new Promise<Response>((resolve) => {
          calls.push({ answer: (body) => resolve(Response.json(body)) });
          arrived.resolve();
        }),
});
afterAll(() => server.stop(true));

async function nextCall(): Promise<{ answer(body: unknown): void }> {
  if (calls.length === 0) await arrived.promise;
  arrived = Promise.withResolvers();
  return calls.shift()!;
}

const get = httpTool("get", `http://127.0.0.1:${server.port}/`);
const asksTool: ScriptEntry[] = [{ text: "I look. ", tool_calls: [{ name: "get", arguments: {} }] }, { text: "Done." }];
const endless: ScriptEntry[] = [{ delay_ms: 3_600_000 }];

const pause = (fixture: Fixture, id: string, reason: string | null = null) =>
  fixture.service.pause(fixture.scope, id, reason);
const resume = (fixture: Fixture, id: string) => fixture.service.resume(fixture.scope, id);
const show = (fixture: Fixture, id: string) => fixture.runs.get(fixture.scope, id);
const typesOf = (fixture: Fixture, id: string) => fixture.journal.read(id).map(({ event }) => event.type);
const paused = (fixture: Fixture, id: string) => fixture.until(id, ({ event }) => event.type === "run.paused");
/**
 * Pauses a queued run in the moment when its turn has come: its model call is recorded, but no loop works on it. On a busy
 * machine a loop may be sooner: then another run is queued.
 */
async function pausedBeforeLoop(fixture: Fixture, script: ScriptEntry[]): Promise<{ id: string }> {
  const queueing = { run: { on_concurrency_limit: "queue" as const } };
  await fixture.service.recover(); // Until then any run may be one that an earlier process has lost.
  for (let attempt = 0; attempt < 20; attempt++) {
    const first = await fixture.start(endless, queueing);
    const { id } = await fixture.start(script, queueing);
    const asked = Promise.withResolvers<void>();
    fixture.watches.listen((runId, entries) => {
      if (runId === first.id && entries.some(({ event }) => endsRun(event)))
        pause(fixture, id).then(asked.resolve, asked.reject);
    });
    await fixture.service.cancel(fixture.scope, first.id, null);
    await asked.promise;
    const last = typesOf(fixture, id).slice(-4);
    if (last.at(-1) === "run.paused") {
      expect(last).toEqual(["run.started", "step.started", "run.pause_requested", "run.paused"]);
      return { id };
    }
    await fixture.service.cancel(fixture.scope, id, null).catch(() => {}); // Unless it is over.
  }
  throw new Error("A loop was sooner than each pause.");
}

const turn = () => new Promise((resolve) => setImmediate(resolve));
const codeOf = (work: Promise<unknown>): Promise<string | undefined> =>
  work.then(
    () => undefined,
    ({ code }) => code,
  );

describe("a pause", () => {
  test("lets the model call that is in progress end, keeps its answer, and begins none of its tool calls", async () => {
    using fixture = runFixture();
    const script = [
      { text: "One two three.", delta_ms: 2, tool_calls: [{ name: "get", arguments: {} }] },
      { text: "Done." },
    ];
    const { id } = await fixture.start(script, { tools: [get] });
    await fixture.stream(id, undefined, ({ event }) => event === "token");
    await pause(fixture, id, "Let me think.");
    expect(show(fixture, id)).toMatchObject({ status: "in_progress", pause_requested_at: expect.any(String) });
    const run = await fixture.settled(id);
    expect(run).toMatchObject({ status: "paused", expires_at: null, usage: { model_calls: 1 } });
    expect(run.messages.at(-1)).toMatchObject({ role: "assistant", content: "One two three." });
    expect(typesOf(fixture, id).slice(-5)).toEqual([
      "run.pause_requested",
      "step.completed",
      "tool.requested",
      "step.started",
      "run.paused",
    ]);
    while (fixture.pool.driving() > 0) await turn();
    expect([calls.length, fixture.slots.taken(fixture.scope)]).toEqual([0, 0]);
    await resume(fixture, id);
    (await nextCall()).answer({ found: 1 });
    const ended = await fixture.settled(id);
    expect(ended).toMatchObject({ status: "completed", output: "Done.", attempt: 1, pause_requested_at: null });
    expect(ended.tool_calls).toMatchObject([{ output: { found: 1 }, attempts: 1 }]);
    expect(calls).toHaveLength(0);
  });

  test("lets tools that run end, keeps their results, and asks the model only once it is over", async () => {
    using fixture = runFixture();
    const twice = { name: "get", arguments: {} };
    const { id } = await fixture.start([{ tool_calls: [twice, twice] }, { text: "Done." }], { tools: [get] });
    const [first, second] = [await nextCall(), await nextCall()];
    await pause(fixture, id);
    first.answer({ n: 1 });
    await fixture.until(id, ({ event }) => event.type === "tool.completed");
    expect(show(fixture, id).status).toBe("in_progress");
    second.answer({ n: 2 });
    await paused(fixture, id);
    expect(show(fixture, id)).toMatchObject({ status: "paused", usage: { model_calls: 1, tool_calls: 2 } });
    await resume(fixture, id);
    expect(await fixture.settled(id)).toMatchObject({ status: "completed", output: "Done." });
  });

  test("that is requested twice is requested once, and resuming twice resumes once", async () => {
    using fixture = runFixture();
    const { id } = await fixture.start(asksTool, { tools: [get] });
    const call = await nextCall();
    await pause(fixture, id);
    await pause(fixture, id);
    call.answer({});
    await paused(fixture, id);
    await pause(fixture, id);
    await Promise.all([resume(fixture, id), resume(fixture, id)]);
    await fixture.settled(id);
    const types = typesOf(fixture, id);
    for (const type of ["run.pause_requested", "run.paused", "run.resumed"] as const)
      expect(types.filter((one) => one === type)).toHaveLength(1);
    expect(types).not.toContain("run.pause_cancelled");
  });

  test("that has not begun is cancelled by resuming, and a run without a pause is left as it is", async () => {
    using fixture = runFixture();
    const { id } = await fixture.start(asksTool, { tools: [get] });
    const call = await nextCall();
    await resume(fixture, id);
    await pause(fixture, id);
    await resume(fixture, id);
    expect(show(fixture, id).pause_requested_at).toBeNull();
    call.answer({});
    expect(await fixture.settled(id)).toMatchObject({ status: "completed", output: "Done." });
    const own = typesOf(fixture, id).filter((type) => type.startsWith("run."));
    expect(own).toEqual(["run.created", "run.pause_requested", "run.pause_cancelled", "run.completed"]);
  });

  test("of a run that is over, or resuming it, is refused", async () => {
    using fixture = runFixture();
    const { id } = await fixture.start([{ text: "Done." }]);
    await fixture.settled(id);
    expect(await codeOf(pause(fixture, id))).toBe("run_already_terminal");
    expect(await codeOf(resume(fixture, id))).toBe("run_already_terminal");
    expect(await codeOf(pause(fixture, newId("run")))).toBe("resource_not_found");
  });

  test("during the last answer does not keep the run from completing", async () => {
    using fixture = runFixture();
    const { id } = await fixture.start([{ text: "One two three.", delta_ms: 2 }]);
    await fixture.stream(id, undefined, ({ event }) => event === "token");
    await pause(fixture, id);
    expect(await fixture.settled(id)).toMatchObject({ status: "completed", pause_requested_at: null });
  });

  test("of a queued run begins when its turn comes, before its first step, and takes no slot", async () => {
    using fixture = runFixture({ slots: 1 });
    const queueing = { run: { on_concurrency_limit: "queue" as const } };
    const first = await fixture.start(endless, queueing);
    const second = await fixture.start([{ text: "Second." }], queueing);
    await pause(fixture, second.id);
    expect(show(fixture, second.id)).toMatchObject({ status: "queued", queue_position: 1 });
    const third = await fixture.start([{ text: "Third." }], queueing);
    await fixture.service.cancel(fixture.scope, first.id, null);
    await paused(fixture, second.id);
    expect(await fixture.settled(third.id)).toMatchObject({ status: "completed" });
    expect(show(fixture, second.id)).toMatchObject({ status: "paused", usage: { model_calls: 0 } });
    expect(typesOf(fixture, second.id).slice(-2)).toEqual(["run.started", "run.paused"]);
    await resume(fixture, second.id);
    expect(await fixture.settled(second.id)).toMatchObject({ status: "completed", output: "Second." });
  });

  test("of a run that requires action begins with the last answer that it waits for", async () => {
    using fixture = runFixture();
    const look = { name: "look", arguments: {} };
    const { id } = await fixture.start([{ tool_calls: [look, look] }, { text: "Done." }], { tools: [tool("look")] });
    const [one, two] = (await fixture.settled(id)).required_action!.submit_tool_outputs.tool_calls;
    await pause(fixture, id);
    expect(show(fixture, id).status).toBe("requires_action");
    const submit = (call: typeof one) =>
      fixture.service.submit(fixture.scope, id, [{ tool_call_id: call!.tool_call_id, output: 1 }]);
    await submit(one);
    expect(show(fixture, id).status).toBe("requires_action");
    await submit(two);
    expect(show(fixture, id)).toMatchObject({ status: "paused", required_action: null });
    expect(fixture.pool.driving()).toBe(0);
    await resume(fixture, id);
    expect(await fixture.settled(id)).toMatchObject({ status: "completed", output: "Done." });
  });

  test("does not count against timeout_ms, but against a budget of wall time", async () => {
    let clock = Date.UTC(2026, 0, 1);
    using fixture = runFixture({ now: () => clock, look_ms: 2 ** 31 - 1 });
    const budget = { max_wall_ms: 7_200_000 };
    const { id } = await fixture.start(asksTool, { tools: [get], run: { timeout_ms: 60_000, budget } });
    const call = await nextCall();
    clock += 20_000;
    await pause(fixture, id);
    call.answer({});
    await paused(fixture, id);
    const begun = Date.parse(show(fixture, id).created_at);
    expect(show(fixture, id).expires_at).toBe(new Date(begun + 7_200_000).toISOString());
    clock += 3_600_000;
    await resume(fixture, id);
    const { event } = fixture.journal.read(id).findLast(({ event }) => event.type === "run.resumed")!;
    expect(event.type).toBe("run.resumed");
    const ended = await fixture.settled(id);
    expect(ended).toMatchObject({ status: "completed", timing: { worked_ms: 20_000, waited_ms: 3_600_000 } });
  });

  test("ends with a cancel, and a stream of the run stays open until then", async () => {
    using fixture = runFixture();
    const { id } = await fixture.start(asksTool, { tools: [get] });
    const frames = fixture.stream(id);
    const call = await nextCall();
    await pause(fixture, id);
    call.answer({});
    await paused(fixture, id);
    await fixture.service.cancel(fixture.scope, id, "No longer.");
    const names = (await frames).flatMap(({ event }) => (event === "token" ? [] : [event]));
    expect(names.slice(-3)).toEqual(["step.completed", "run.paused", "run.failed"]);
    expect(show(fixture, id)).toMatchObject({ status: "cancelled", pause_requested_at: null });
  });

  test("keeps the thread: the next run of the thread waits, is refused or replaces it", async () => {
    using fixture = runFixture();
    const thread_id = newId("thread");
    const { id } = await fixture.start(asksTool, { tools: [get], run: { thread_id } });
    const call = await nextCall();
    await pause(fixture, id);
    call.answer({});
    await paused(fixture, id);
    const again = (if_thread_busy: "reject" | "queue" | "cancel_previous") =>
      fixture.start([{ text: "Next." }], { run: { thread_id, if_thread_busy } });
    expect(await codeOf(again("reject"))).toBe("thread_busy");
    const queued = await again("queue");
    expect(queued).toMatchObject({ status: "queued", queue_position: 1 });
    const { id: last } = await again("cancel_previous");
    expect(await fixture.settled(last)).toMatchObject({ status: "completed" });
    expect([id, queued.id].map((each) => show(fixture, each).status)).toEqual(["cancelled", "cancelled"]);
  });

  test("is the time to steer: the first model call after it has the message", async () => {
    using fixture = runFixture();
    const { id } = await fixture.start(asksTool, { tools: [get] });
    const call = await nextCall();
    await pause(fixture, id);
    call.answer({ n: 1 });
    await paused(fixture, id);
    await fixture.service.steer(fixture.author, id, { content: "Only the price, please." });
    expect(show(fixture, id)).toMatchObject({ status: "paused", usage: { model_calls: 1 } });
    await resume(fixture, id);
    expect(await fixture.settled(id)).toMatchObject({ status: "completed", output: "Done." });
    const entries = fixture.journal.read(id);
    const second = entries.findLastIndex(({ event }) => beginsModelCall(event));
    const { messages } = modelRequest(
      fold(entries.slice(0, second)),
      fixture.journal.snapshot(fixture.scope, fold(entries).run.agent_hash),
    );
    expect(messages.at(-1)).toMatchObject({ role: "user", content: "Only the price, please." });
  });

  test("and a message during one model call are both in its stream, which can be read on from any position", async () => {
    using fixture = runFixture();
    const { id } = await fixture.start([{ text: "One two three four.", delta_ms: 5 }, { text: " Five." }]);
    await fixture.stream(id, undefined, ({ event }) => event === "token");
    await pause(fixture, id);
    await fixture.service.steer(fixture.author, id, { content: "More." });
    const run = await fixture.settled(id);
    expect(run.status).toBe("paused");
    await resume(fixture, id);
    expect(await fixture.settled(id)).toMatchObject({ status: "completed", output: " Five." });
    const whole = await fixture.stream(id);
    for (const [place, frame] of whole.entries()) {
      const rest = await fixture.stream(id, parseCursor(frame.id, "starting_after"));
      expect([frame.id, textOfFrames([...whole.slice(0, place + 1), ...rest])]).toEqual([
        frame.id,
        "One two three four. Five.",
      ]);
    }
  });

  test("before the loop has begun the model call leaves its stream whole, read on from any position", async () => {
    using fixture = runFixture({ slots: 1 });
    const { id } = await pausedBeforeLoop(fixture, [{ text: "One two three.", delta_ms: 1 }]);
    await resume(fixture, id);
    await fixture.settled(id);
    const whole = await fixture.stream(id);
    for (const [place, frame] of whole.entries()) {
      const from = parseCursor(frame.id, "starting_after");
      requireCursor(fixture, id, from, "starting_after");
      const rest = await fixture.stream(id, from);
      const text = textOfFrames([...whole.slice(0, place + 1), ...rest]);
      expect([frame.id, text]).toEqual([frame.id, "One two three."]);
    }
  });

  test("can be forked from any step that has ended", async () => {
    using fixture = runFixture();
    const { id } = await fixture.start(asksTool, { tools: [get] });
    const call = await nextCall();
    await pause(fixture, id);
    call.answer({ n: 1 });
    await paused(fixture, id);
    const fork = await fixture.service.fork(fixture.scope, id, { step_index: 1 }, "req_fork");
    expect(await fixture.settled(fork.id)).toMatchObject({ status: "completed", output: "Done." });
    expect(show(fixture, id).status).toBe("paused");
  });
});

describe("a pause of a run with children", () => {
  const child = (script: ScriptEntry[], more: Partial<AgentSnapshot> = {}): Partial<AgentSnapshot> => ({
    settings: { script },
    ...more,
  });
  const research = agentTool("research", "agt_research");
  const asksChild: ScriptEntry[] = [
    { tool_calls: [{ name: "research", arguments: { input: "Look." } }] },
    { text: "Done." },
  ];
  const childOf = (fixture: Fixture, id: string) => show(fixture, id).tool_calls[0]!.subagent_run_id!;

  test("pauses them too, and resuming it resumes them", async () => {
    using fixture = runFixture({ agents: { agt_research: child(asksTool, { tools: [get] }) } });
    const { id } = await fixture.start(asksChild, { tools: [research] });
    const call = await nextCall();
    await fixture.until(id, ({ event }) => event.type === "subagent.started");
    await pause(fixture, id);
    const below = childOf(fixture, id);
    expect([show(fixture, id).status, show(fixture, below).status]).toEqual(["paused", "in_progress"]);
    call.answer({ found: 2 });
    await paused(fixture, below);
    while (fixture.pool.driving() > 0) await turn();
    await resume(fixture, id);
    const ended = await fixture.settled(id);
    expect(ended).toMatchObject({ status: "completed", output: "Done." });
    expect(ended.tool_calls).toMatchObject([{ status: "completed", output: "Done." }]);
    expect(typesOf(fixture, below).filter((type) => type === "run.resumed")).toHaveLength(1);
  });

  test("that wait for their client: their answers may be given, and all stay paused", async () => {
    const asks = child([{ tool_calls: [{ name: "look", arguments: {} }] }, { text: "Told." }], {
      tools: [tool("look")],
    });
    using fixture = runFixture({ agents: { agt_research: asks } });
    const { id } = await fixture.start(asksChild, { tools: [research] });
    await fixture.until(id, ({ event }) => event.type === "run.requires_action");
    const [call] = show(fixture, id).required_action!.submit_tool_outputs.tool_calls;
    await pause(fixture, id);
    const below = childOf(fixture, id);
    expect([show(fixture, id).status, show(fixture, below).status]).toEqual(["requires_action", "requires_action"]);
    await fixture.service.submit(fixture.scope, id, [{ tool_call_id: call!.tool_call_id, output: 1 }]);
    expect([show(fixture, id).status, show(fixture, below).status]).toEqual(["paused", "paused"]);
    await resume(fixture, id);
    const ended = await fixture.settled(id);
    expect(ended).toMatchObject({ status: "completed", tool_calls: [{ output: "Told." }] });
  });

  test("is for the child alone where the child is paused: its parent waits for it", async () => {
    using fixture = runFixture({ agents: { agt_research: child(asksTool, { tools: [get] }) } });
    const { id } = await fixture.start(asksChild, { tools: [research] });
    const call = await nextCall();
    await fixture.until(id, ({ event }) => event.type === "subagent.started");
    const below = childOf(fixture, id);
    await pause(fixture, below);
    call.answer({});
    await paused(fixture, below);
    expect(show(fixture, id).status).toBe("in_progress");
    await resume(fixture, below);
    expect(await fixture.settled(id)).toMatchObject({ status: "completed", output: "Done." });
  });

  test("ends with them when the run is cancelled", async () => {
    using fixture = runFixture({ agents: { agt_research: child(asksTool, { tools: [get] }) } });
    const { id } = await fixture.start(asksChild, { tools: [research] });
    await nextCall();
    await fixture.until(id, ({ event }) => event.type === "subagent.started");
    await pause(fixture, id);
    const below = childOf(fixture, id);
    await fixture.service.cancel(fixture.scope, id, null);
    expect([show(fixture, id).status, show(fixture, below).status]).toEqual(["cancelled", "cancelled"]);
  });
});

describe("after the death of the process", () => {
  test("a paused run stays paused, and its tool calls that had not begun are made once", async () => {
    using fixture = runFixture();
    const script = [{ text: "One two.", delta_ms: 2, tool_calls: [{ name: "get", arguments: {} }] }, { text: "Done." }];
    const { id } = await fixture.start(script, { tools: [get] });
    await fixture.stream(id, undefined, ({ event }) => event === "token");
    await pause(fixture, id);
    await paused(fixture, id);
    using next = runFixture({ db: copyDatabase(fixture.db) });
    expect(await next.service.recover()).toBe(0);
    expect(show(next, id)).toMatchObject({ status: "paused", attempt: 1 });
    await resume(next, id);
    (await nextCall()).answer({ found: 1 });
    expect(await next.settled(id)).toMatchObject({ status: "completed", attempt: 1 });
    expect(calls).toHaveLength(0);
  });

  test("a run that paused before its loop has begun streams its answer, and keeps it when it is cancelled", async () => {
    using fixture = runFixture({ slots: 1 });
    const { id } = await pausedBeforeLoop(fixture, [{ text: "One two three.", delta_ms: 60_000 }]);
    using next = runFixture({ db: copyDatabase(fixture.db) });
    await next.service.recover();
    await resume(next, id);
    await next.stream(id, undefined, ({ event }) => event === "token");
    await next.service.cancel(next.scope, id, null);
    expect(show(next, id)).toMatchObject({ status: "cancelled", output: "One " });
  });

  test("a requested pause is not forgotten: the run pauses with its recovery, and its call is treated as lost", async () => {
    using fixture = runFixture();
    const { id } = await fixture.start(asksTool, { tools: [get] });
    await nextCall();
    await pause(fixture, id);
    using next = runFixture({ db: copyDatabase(fixture.db) });
    expect(await next.service.recover()).toBe(1);
    expect(show(next, id)).toMatchObject({ status: "paused", attempt: 2 });
    await resume(next, id);
    const { required_action } = await next.settled(id); // It is not known whether the call was made.
    expect(required_action!.submit_tool_outputs.tool_calls).toMatchObject([{ needs: "reconcile" }]);
  });

  test("after any commit of a pause, the run ends with all of its results and no call is made twice", async () => {
    using fixture = runFixture();
    const cuts: { db: Fixture["db"]; wasSent: boolean }[] = [];
    let wasSent = false;
    const { id } = await fixture.start(asksTool, { tools: [get] });
    fixture.watches.listen(() => void cuts.push({ db: copyDatabase(fixture.db), wasSent }));
    const call = await nextCall();
    wasSent = true;
    await pause(fixture, id);
    call.answer({ found: 1 });
    await paused(fixture, id);
    await resume(fixture, id);
    await fixture.settled(id);
    expect(cuts.length).toBeGreaterThan(3);
    for (const { db, wasSent } of cuts) {
      using next = runFixture({ db });
      let made = 0;
      answers = () => {
        made++;
        return { found: 1 };
      };
      await next.service.recover();
      if (show(next, id).pause_requested_at !== null) await resume(next, id);
      let run = await next.settled(id);
      if (run.status === "requires_action") {
        const [asked] = run.required_action!.submit_tool_outputs.tool_calls;
        await next.service.submit(next.scope, id, [{ tool_call_id: asked!.tool_call_id, output: { found: 1 } }]);
        run = await next.settled(id);
      }
      answers = null;
      expect(made).toBeLessThanOrEqual(wasSent ? 0 : 1);
      expect(run).toMatchObject({ status: "completed", output: "Done.", tool_calls: [{ output: { found: 1 } }] });
    }
  });
});
