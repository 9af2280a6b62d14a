import { describe, expect, test } from "bun:test";
import { answer, completed, created, started, text } from "../domain/__fixtures__/events.ts";
import type { AgentSnapshot } from "../domain/agent-snapshot.ts";
import type { AppError } from "../domain/errors.ts";
import { newId } from "../domain/ids.ts";
import type { ScriptEntry } from "../domain/model-call.ts";
import type { RunCreated } from "../domain/run-event.ts";
import { isOver } from "../domain/run-state.ts";
import { agentTool, httpTool, runFixture, tool } from "../testing/run-fixture.ts";
import { turnsDuring } from "../testing/turns.ts";

const agent = (script: ScriptEntry[], more: Partial<AgentSnapshot> = {}): Partial<AgentSnapshot> => ({
  settings: { script },
  ...more,
});
const research = agentTool("research", "agt_research");
const write = agentTool("write", "agt_write");
const calls = (...names: string[]): ScriptEntry[] => [
  { tool_calls: names.map((name) => ({ name, arguments: { input: "Do it." } })) },
  { text: "Done." },
];
const silent = agent([], { model: "test/timeout" });
const asking = agent(calls("look"), { tools: [tool("look")] });

type Fixture = ReturnType<typeof runFixture>;

const below = (fixture: Fixture, id: string) =>
  fixture.runs.below(id).map((child) => fixture.runs.get(fixture.scope, child));
const isStarted = ({ event }: { event: { type: string } }) => event.type === "subagent.started";
const refusalOf = (work: Promise<unknown>) =>
  work.then(
    () => null,
    ({ code }: AppError) => code,
  );
/** Returns the child of a run, once it exists. */
async function childOf(fixture: Fixture, id: string): Promise<string> {
  const { event } = await fixture.until(id, isStarted);
  return event.type === "subagent.started" ? event.run_id : "";
}

describe("the end of a run ends its descendants", () => {
  test("when it is cancelled, at once, five levels deep, whether they work or wait", async () => {
    for (const last of [silent, asking]) {
      const deep = Object.fromEntries(
        [1, 2, 3, 4].map((n) => [`agt_${n}`, agent(calls("next"), { tools: [agentTool("next", `agt_${n + 1}`)] })]),
      );
      using fixture = runFixture({ agents: { ...deep, agt_5: last } });
      const { id } = await fixture.start(calls("next"), { tools: [agentTool("next", "agt_1")] });
      let newest = id;
      for (let depth = 1; depth <= 5; depth++) newest = await childOf(fixture, newest);
      if (last === asking) await fixture.settled(id);
      await fixture.service.cancel(fixture.scope, id, "enough");
      expect(below(fixture, id).map(({ status }) => status)).toEqual(Array(5).fill("cancelled"));
      expect(fixture.runs.get(fixture.scope, id).tool_calls).toMatchObject([{ status: "cancelled" }]);
      expect(fixture.pool.driving()).toBe(0);
    }
  });

  test("when it is cancelled, in one write, and other work runs first however many they are", async () => {
    using fixture = runFixture();
    const { journal, scope, db } = fixture;
    const root = newId("run");
    const said = answer([text("x".repeat(500))]);
    const steps = Array.from({ length: 50 }, (_, index) => [started(index), completed(index, { answer: said })]).flat();
    const parts: Partial<RunCreated>[] = [
      { run_id: root },
      ...Array.from({ length: 9 }, () => ({ run_id: newId("run"), parent_run_id: root, depth: 1 })),
    ];
    for (const part of parts) await journal.append(part.run_id!, [created({ ...part, ...scope }), ...steps]);
    const commits = db.write.commits();
    const { turns } = await turnsDuring(() => fixture.service.cancel(scope, root, null));
    expect(db.write.commits() - commits).toBe(1);
    expect(below(fixture, root).map(({ status }) => status)).toEqual(Array(9).fill("cancelled"));
    expect(turns).toBeGreaterThanOrEqual(10);
  });

  test("when it times out", async () => {
    using fixture = runFixture({ agents: { agt_research: silent } });
    const { id } = await fixture.start(calls("research"), { tools: [research], run: { timeout_ms: 60_000 } });
    const child = await childOf(fixture, id);
    const [created] = fixture.journal.read(child);
    expect(created!.event.type === "run.created" && created!.event.timeout_ms).toBeWithin(1, 60_001);
    fixture.bringForward(id);
    await fixture.until(id, ({ event }) => event.type === "run.failed");
    expect(fixture.runs.get(fixture.scope, id).error!.code).toBe("run_timeout");
    expect(below(fixture, id).every(({ status }) => isOver(status))).toBe(true);
  });

  test("when it fails while they work", async () => {
    using fixture = runFixture({ agents: { agt_research: silent } });
    const { id } = await fixture.start(calls("research"), { tools: [research] });
    const child = await childOf(fixture, id);
    const error = {
      type: "run_error",
      code: "internal_error",
      message: "",
      step_index: null,
      retryable: false,
    } as const;
    const { usage } = fixture.runs.get(fixture.scope, id);
    await fixture.journal.append(id, [{ type: "run.failed", error, output: null, usage }]);
    await fixture.until(child, ({ event }) => event.type === "run.cancelled");
    await new Promise((resolve) => setImmediate(resolve)); // The loop is notified right after the commit.
    expect(fixture.pool.drives(child)).toBe(false);
  });

  test("and counts their cost until then", async () => {
    using fixture = runFixture({
      agents: {
        agt_research: agent([{ text: "one two three", tool_calls: [{ name: "look", arguments: {} }] }], {
          tools: [tool("look")],
        }),
      },
    });
    const { id } = await fixture.start(calls("research"), { tools: [research] });
    await fixture.settled(id);
    await fixture.service.cancel(fixture.scope, id, null);
    const [child] = below(fixture, id);
    expect(child!.usage.model_calls).toBe(1);
    expect(fixture.runs.get(fixture.scope, id).usage.model_calls).toBe(2);
  });

  test("also when its own loop fails it for the result of another call, which ends the remaining work", async () => {
    const [answer, left] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    using server = Bun.serve({
      hostname: "127.0.0.1",
      port: 0,
      async fetch({ url, signal }) {
        if (url.endsWith("/slow")) signal.addEventListener("abort", () => left.resolve());
        await (url.endsWith("/slow") ? left : answer).promise;
        return Response.json("swordfish");
      },
    });
    using fixture = runFixture({ agents: { agt_research: asking } });
    const { id } = await fixture.start(calls("research", "fast", "slow"), {
      tools: [research, ...["fast", "slow"].map((name) => httpTool(name, `${server.url}${name}`))],
      agent: {
        guardrails: [{ type: "blocked_terms", on: ["tool_output"], action: "block", config: { terms: ["swordfish"] } }],
      },
    });
    const child = await childOf(fixture, id);
    await fixture.settled(child);
    answer.resolve();
    const { event } = await fixture.until(id, (entry) => entry.event.type === "run.failed");
    expect(event).toMatchObject({ error: { code: "guardrail_blocked" }, usage: { model_calls: 2, tool_calls: 4 } });
    expect(below(fixture, id)).toMatchObject([{ id: child, status: "cancelled", usage: { model_calls: 1 } }]);
    const { usage, tool_calls } = fixture.runs.get(fixture.scope, id);
    expect(usage).toMatchObject({ model_calls: 2, tool_calls: 4 });
    expect(tool_calls.map(({ status }) => status)).toEqual(["cancelled", "failed", "cancelled"]);
    expect(fixture.pool.driving()).toBe(0);
    await left.promise;
  });
});

describe("the end of a child resolves its parent's call", () => {
  test.each(["works", "waits"])("when it is cancelled alone while it %s", async (what) => {
    using fixture = runFixture({ agents: { agt_research: what === "works" ? silent : asking } });
    const { id } = await fixture.start(calls("research"), { tools: [research] });
    const child = await childOf(fixture, id);
    if (what === "waits") await fixture.settled(id);
    await fixture.service.cancel(fixture.scope, child, "not this one");
    await fixture.until(id, ({ event }) => event.type === "run.completed");
    expect(fixture.runs.get(fixture.scope, id).tool_calls).toMatchObject([
      { status: "failed", error: { code: "run_cancelled", message: "The run was cancelled: not this one" } },
    ]);
  });

  test("when the child's required action expires", async () => {
    using fixture = runFixture({ agents: { agt_research: asking } });
    const { id } = await fixture.start(calls("research"), { tools: [research], run: { action_timeout_ms: 60 } });
    const { event } = await fixture.until(id, (entry) => isOver(entry.event.type.slice(4) as "completed"));
    // Both deadlines are the same, and either may be processed first.
    expect(["run.completed", "run.failed"]).toContain(event.type);
    expect(below(fixture, id).every(({ status }) => isOver(status))).toBe(true);
  });
});

describe("a child's budget", () => {
  test("is at most that of its own agent", async () => {
    const budget = { max_total_tokens: 300_000, max_tool_calls: 50 };
    using fixture = runFixture({ agents: { agt_research: { ...asking, budget } } });
    const { id } = await fixture.start(calls("research"), { tools: [research] });
    await fixture.settled(id);
    expect(below(fixture, id).map((child) => child.budget)).toEqual([budget]);
  });
});

describe("deletion", () => {
  test("includes the descendants, and is refused until they are over", async () => {
    using fixture = runFixture({
      agents: { agt_research: agent(calls("write"), { tools: [write] }), agt_write: asking },
    });
    const { id } = await fixture.start(calls("research"), { tools: [research] });
    const [call] = (await fixture.settled(id)).required_action!.submit_tool_outputs.tool_calls;
    const [deepest, child] = fixture.runs.below(id) as [string, string];
    for (const each of [id, child, deepest])
      expect(await refusalOf(fixture.runs.remove(fixture.author, each))).toBe("run_not_terminal");
    await fixture.service.submit(fixture.scope, id, [{ tool_call_id: call!.tool_call_id, output: 1 }]);
    await fixture.settled(id);
    await fixture.runs.remove(fixture.author, id);
    expect([id, child, deepest].map((each) => fixture.journal.head(each))).toEqual([null, null, null]);
    expect(fixture.db.sqlite.query("SELECT 1 FROM run_events").all()).toEqual([]);
  });

  test("of a child is refused until its parent has read the result", async () => {
    using fixture = runFixture({ agents: { agt_research: agent([{ text: "42" }]), agt_write: asking } });
    const { id } = await fixture.start(calls("research", "write"), { tools: [research, write] });
    const [call] = (await fixture.settled(id)).required_action!.submit_tool_outputs.tool_calls;
    const done = fixture.runs.below(id).find((each) => each !== call!.run_id)!;
    expect(await refusalOf(fixture.runs.remove(fixture.author, done))).toBe("run_not_terminal");
    await fixture.service.submit(fixture.scope, id, [{ tool_call_id: call!.tool_call_id, output: 1 }]);
    await fixture.settled(id);
    expect(await refusalOf(fixture.runs.remove(fixture.author, done))).toBeNull();
  });

  test("of a trace includes the descendants' traces", async () => {
    using fixture = runFixture({ agents: { agt_research: agent([{ text: "42" }]) } });
    const { id } = await fixture.start(calls("research"), { tools: [research] });
    await fixture.settled(id);
    await fixture.runs.forgetTrace(fixture.author, id);
    expect(below(fixture, id)).toMatchObject([{ status: "completed", output: "42", messages: [], trace_id: null }]);
  });
});
