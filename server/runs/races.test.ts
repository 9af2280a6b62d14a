import { expect, test } from "bun:test";
import fc from "fast-check";
import { AppError } from "../domain/errors.ts";
import { isOver } from "../domain/run-state.ts";
import type { ToolAnswer } from "../domain/submit.ts";
import { runFixture, tool } from "../testing/run-fixture.ts";
import { thisThread, type WorkerFactory } from "./dispatch/worker-threads.ts";

const look = { name: "look", arguments: {} };
const waits = [{ tool_calls: [look] }, { text: "Seen." }];
const tools = [tool("look")];
const slow = { text: "word ".repeat(400), delta_ms: 2 };

type Fixture = ReturnType<typeof runFixture>;

const turn = () => new Promise((resolve) => setImmediate(resolve));

/** Outcome of an act: "yes", or the error code. */
async function outcomeOf(act: Promise<unknown>): Promise<string> {
  try {
    await act;
    return "yes";
  } catch (error) {
    if (error instanceof AppError) return error.code;
    throw error;
  }
}

async function waiting(fixture: Fixture): Promise<{ id: string; call: string }> {
  const { id } = await fixture.start(waits, { tools });
  const { required_action } = await fixture.settled(id);
  return { id, call: required_action!.submit_tool_outputs.tool_calls[0]!.tool_call_id };
}

const submit = (fixture: Fixture, id: string, answer: ToolAnswer) =>
  fixture.service.submit(fixture.scope, id, [answer]);
const cancel = (fixture: Fixture, id: string) => fixture.service.cancel(fixture.scope, id, null);
const statusOf = (fixture: Fixture, id: string) => fixture.journal.head(id)!.status;

function expectOneEnd(fixture: Fixture, id: string): void {
  const types = fixture.journal.read(id).map(({ event }) => event.type);
  const ends = types.filter((type) => ["run.completed", "run.failed", "run.cancelled"].includes(type));
  expect(ends).toEqual(types.slice(-1));
}

/** Resolves when no run is driven. */
async function idle({ pool }: Fixture): Promise<void> {
  while (pool.driving() > 0) await turn();
}

test("of 50 cancels among 50 different answers to one run, each is told what the run then is", async () => {
  using fixture = runFixture();
  for (let round = 0; round < 20; round++) {
    const { id, call } = await waiting(fixture);
    const seen: [act: string, outcome: string, status: string][] = [];
    await Promise.all(
      Array.from({ length: 100 }, async (_, index) => {
        // Some in one tick, some in the next: commits and loops interleave.
        for (let ticks = (index * round) % 7; ticks > 0; ticks--) await turn();
        const act = (index + round) % 2 ? "cancel" : "submit";
        const doing =
          act === "cancel" ? cancel(fixture, id) : submit(fixture, id, { tool_call_id: call, output: index });
        seen.push([act, await outcomeOf(doing), statusOf(fixture, id)]);
      }),
    );
    await fixture.settled(id);
    const end = statusOf(fixture, id);
    expectOneEnd(fixture, id);
    expect(["cancelled", "completed"]).toContain(end);
    for (const [act, outcome, status] of seen) {
      if (act === "cancel" && outcome === "yes") expect(status).toBe("cancelled");
      else if (act === "cancel") expect([outcome, status]).toEqual(["run_already_terminal", "completed"]);
      else expect(["yes", "tool_call_already_resolved", "run_not_awaiting_action"]).toContain(outcome);
    }
    const taken = seen.filter(([act, outcome]) => act === "submit" && outcome === "yes");
    const submitted = fixture.runs.get(fixture.scope, id).tool_calls.filter(({ status }) => status === "completed");
    expect(taken).toHaveLength(submitted.length);
  }
  await idle(fixture);
});

test("a cancellation that races the end of its run either cancels it or is refused", async () => {
  using fixture = runFixture();
  const outcomes = new Set<string>();
  for (let ticks = 0; ticks < 40; ticks++) {
    const { id } = await fixture.start([{ text: "a b c" }]);
    for (let left = ticks; left > 0; left--) await turn();
    const outcome = await outcomeOf(cancel(fixture, id));
    outcomes.add(outcome);
    expect([outcome, statusOf(fixture, id)]).toEqual(
      outcome === "yes" ? ["yes", "cancelled"] : ["run_already_terminal", "completed"],
    );
    expectOneEnd(fixture, id);
    expect(await outcomeOf(cancel(fixture, id))).toBe(outcome);
  }
  expect([...outcomes].sort()).toEqual(["run_already_terminal", "yes"]); // Both outcomes of the race occurred.
  await idle(fixture);
});

test("two identical answers at once are one answer, and both are told yes", async () => {
  using fixture = runFixture();
  for (let round = 0; round < 20; round++) {
    const { id, call } = await waiting(fixture);
    const acts = Array.from({ length: 2 }, () =>
      outcomeOf(submit(fixture, id, { tool_call_id: call, output: { n: 1 } })),
    );
    expect(await Promise.all(acts)).toEqual(["yes", "yes"]);
    expect((await fixture.settled(id)).output).toBe("Seen.");
    const results = fixture.journal.read(id).filter(({ event }) => event.type === "tool.completed");
    expect(results).toHaveLength(1);
  }
});

test("of 100 runs started at once with a limit of 20, exactly 20 are, and 20 more when those are over", async () => {
  using fixture = runFixture({ slots: 20 });
  const storm = async () => {
    const acts = await Promise.allSettled(Array.from({ length: 100 }, () => fixture.start([slow])));
    const refused = acts.flatMap((act) => (act.status === "rejected" ? [act.reason as AppError] : []));
    for (const { code, status } of refused) expect([code, status]).toEqual(["concurrency_limit_exceeded", 429]);
    return acts.flatMap((act) => (act.status === "fulfilled" ? [act.value.id] : []));
  };
  for (let round = 0; round < 2; round++) {
    const ids = await storm();
    expect(ids).toHaveLength(20);
    expect([fixture.pool.driving(), fixture.runs.inProgress(fixture.scope)]).toEqual([20, 20]);
    await Promise.all(ids.map((id) => cancel(fixture, id)));
    await idle(fixture);
    expect([fixture.slots.taken(fixture.scope), fixture.runs.inProgress(fixture.scope)]).toEqual([0, 0]);
  }
});

/** Threads that die on command; late messages of their loops still arrive. */
function mortal() {
  const deaths: (() => void)[] = [];
  const threads: WorkerFactory = (hear, died) => {
    deaths.push(() => died("killed by the test"));
    return thisThread(hear, died);
  };
  return { threads, die: () => deaths.pop()?.() };
}

const acts = ["start", "start waiting", "answer", "cancel", "die", "turn", "turns"] as const;

test("the number of slots always equals that of driven runs and of runs in progress, and is 0 in the end", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.tuple(fc.constantFrom(...acts), fc.nat(9)), { maxLength: 40 }), async (list) => {
      const { threads, die } = mortal();
      using fixture = runFixture({ slots: 3, size: 2, threads });
      const ids: string[] = [];
      const one = (n: number) => ids[n % ids.length];
      const doing: Promise<unknown>[] = [];
      const start = async (script: typeof waits) => ids.push((await fixture.start(script, { tools })).id);
      fixture.watches.listen(() => expect(fixture.slots.taken(fixture.scope)).toBe(fixture.pool.driving()));
      for (const [act, n] of list) {
        const id = one(n);
        if (act === "start") doing.push(outcomeOf(start([{ text: "a b c" }] as never)));
        else if (act === "start waiting") doing.push(outcomeOf(start(waits)));
        else if (act === "die") die();
        else if (act === "turn" || act === "turns") for (let i = act === "turn" ? 1 : n; i > 0; i--) await turn();
        else if (id && act === "cancel") doing.push(outcomeOf(cancel(fixture, id)));
        else if (id) {
          const [call] = fixture.runs.get(fixture.scope, id).required_action?.submit_tool_outputs.tool_calls ?? [];
          if (call) doing.push(outcomeOf(submit(fixture, id, { tool_call_id: call.tool_call_id, output: n })));
        }
        expect(fixture.pool.driving()).toBeLessThanOrEqual(3);
      }
      await Promise.all(doing);
      while (fixture.pool.driving() !== Math.min(3, fixture.runs.inProgress(fixture.scope))) await turn();
      await Promise.all(ids.filter((id) => !isOver(statusOf(fixture, id))).map((id) => outcomeOf(cancel(fixture, id))));
      await idle(fixture);
      expect([fixture.slots.taken(fixture.scope), fixture.runs.inProgress(fixture.scope)]).toEqual([0, 0]);
      for (const id of ids) expectOneEnd(fixture, id);
    }),
    { numRuns: 150 },
  );
}, 60_000);
