import { expect, test } from "bun:test";
import type { AgentSnapshot } from "../core/agent-snapshot.ts";
import type { ScriptEntry } from "../core/model-call.ts";
import type { JournalEntry } from "../core/run-event.ts";
import { fold, isOver } from "../core/run-state.ts";
import type { Db } from "../db/open.ts";
import { copyDatabase } from "../testing/copy-database.ts";
import { agentTool, runBench, tool } from "../testing/run-bench.ts";

const calls = (...names: string[]): ScriptEntry[] => [
  { tool_calls: names.map((name) => ({ name, arguments: { input: "Do it." } })) },
  { text: "Done." },
];
const agents: Record<string, Partial<AgentSnapshot>> = {
  agt_quick: { settings: { script: [{ text: "Quick." }] } },
  agt_asking: {
    settings: { script: calls("look", "sign") },
    tools: [tool("look"), tool("sign", { approval: "always" })],
  },
  agt_nesting: {
    settings: { script: calls("quick", "ask") },
    tools: [agentTool("quick", "agt_quick"), agentTool("ask", "agt_asking")],
  },
};
const tools = [agentTool("quick", "agt_quick"), agentTool("nest", "agt_nesting"), tool("look")];
const script = calls("quick", "nest", "look");

type Bench = ReturnType<typeof runBench>;

/** Answers whatever a run asks for, one call after the other, until it is over. */
async function toTheEnd(bench: Bench, id: string) {
  for (;;) {
    const run = await bench.settled(id);
    if (isOver(run.status)) return run;
    const [call] = run.required_action!.submit_tool_outputs.tool_calls;
    const answer =
      call!.needs === "approval" ? { decision: "approve" as const } : { output: `answer to ${call!.needs}` };
    await bench.service.submit(bench.scope, id, [{ tool_call_id: call!.id, ...answer }]);
  }
}

const journals = ({ db, journal }: Bench): Map<string, JournalEntry[]> =>
  new Map(
    db.sqlite
      .query<{ id: string }, []>("SELECT id FROM runs")
      .all()
      .map(({ id }) => [id, journal.read(id)]),
  );
const textOf = (entries: readonly JournalEntry[]) => entries.map((entry) => JSON.stringify(entry));

test("a process that dies after any commit of a parent or a child leaves behind what goes on to the same end", async () => {
  const cuts: Db[] = [];
  let id = "";
  {
    using bench = runBench({ agents });
    bench.watches.listen(() => void cuts.push(copyDatabase(bench.db)));
    ({ id } = await bench.start(script, { tools }));
    await toTheEnd(bench, id);
  }
  expect(cuts.length).toBeGreaterThan(25);
  for (const db of cuts) {
    using bench = runBench({ db, agents });
    const before = journals(bench);
    await bench.service.recover();
    expect(await toTheEnd(bench, id)).toMatchObject({ status: "completed", output: "Done." });
    const after = journals(bench);
    // One run for each call of an agent, whoever was asked how often.
    expect(after.size).toBe(5);
    for (const [run, entries] of after) {
      const state = fold(entries);
      expect(state.status).toBe("completed");
      const earlier = before.get(run) ?? [];
      expect(textOf(entries).slice(0, earlier.length)).toEqual(textOf(earlier));
      if (earlier.length > 0 && isOver(fold(earlier).status)) expect(entries).toHaveLength(earlier.length);
    }
    expect(bench.db.sqlite.query("SELECT 1 FROM pending_calls").all()).toEqual([]);
  }
}, 30_000);

test("a process that dies between the end of a run and that of its child ends the child at its next start", async () => {
  const silent = { agt_quick: { model: "test/timeout" } };
  let left: Db | null = null;
  let child = "";
  {
    using bench = runBench({ agents: silent });
    const { id } = await bench.start(calls("quick"), { tools: [agentTool("quick", "agt_quick")] });
    const { event } = await bench.until(id, (entry) => entry.event.type === "subagent.started");
    if (event.type === "subagent.started") child = event.run_id;
    const error = {
      type: "run_error",
      code: "internal_error",
      message: "",
      step_index: null,
      retryable: false,
    } as const;
    const { usage } = bench.runs.get(bench.scope, id);
    bench.watches.listen((runId) => {
      if (runId === id) left ??= copyDatabase(bench.db);
    });
    await bench.journal.append(id, [{ type: "run.failed", error, output: null, usage }]);
  }
  using bench = runBench({ db: left!, agents: silent });
  expect(bench.journal.head(child)!.status).toBe("in_progress");
  await bench.service.recover();
  await bench.until(child, ({ event }) => event.type === "run.cancelled");
  await new Promise((resolve) => setImmediate(resolve)); // The loop is told right after the commit.
  expect(bench.pool.drives(child)).toBe(false);
});

test("a process that dies between the end of a child and what its parent makes of it goes on with the parent", async () => {
  const asking = { tools: [agentTool("ask", "agt_asking")] };
  let left: Db | null = null;
  let id = "";
  {
    using bench = runBench({ agents });
    ({ id } = await bench.start(calls("ask"), asking));
    await bench.settled(id);
    const [child] = bench.runs.below(id);
    bench.watches.listen((runId) => {
      if (runId === child) left ??= copyDatabase(bench.db);
    });
    await bench.service.cancel(bench.scope, child!, null);
  }
  using bench = runBench({ db: left!, agents });
  expect(bench.journal.head(id)!.status).toBe("requires_action");
  await bench.service.recover();
  await bench.until(id, ({ event }) => event.type === "run.completed");
});
