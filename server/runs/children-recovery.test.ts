import { expect, test } from "bun:test";
import type { AgentSnapshot } from "../domain/agent-snapshot.ts";
import type { ScriptEntry } from "../domain/model-call.ts";
import type { JournalEntry } from "../domain/run-event.ts";
import { fold, isOver } from "../domain/run-state.ts";
import type { Db } from "../storage/db/open.ts";
import { copyDatabase } from "../testing/copy-database.ts";
import { agentTool, runFixture, tool } from "../testing/run-fixture.ts";

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

type Fixture = ReturnType<typeof runFixture>;

/** Answers all required actions of a run, one call after the other, until it is over. */
async function toTheEnd(fixture: Fixture, id: string) {
  for (;;) {
    const run = await fixture.settled(id);
    if (isOver(run.status)) return run;
    const [call] = run.required_action!.submit_tool_outputs.tool_calls;
    const answer =
      call!.needs === "approval" ? { decision: "approve" as const } : { output: `answer to ${call!.needs}` };
    await fixture.service.submit(fixture.scope, id, [{ tool_call_id: call!.tool_call_id, ...answer }]);
  }
}

const journals = ({ db, journal }: Fixture): Map<string, JournalEntry[]> =>
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
    using fixture = runFixture({ agents });
    fixture.watches.listen(() => void cuts.push(copyDatabase(fixture.db)));
    ({ id } = await fixture.start(script, { tools }));
    await toTheEnd(fixture, id);
  }
  expect(cuts.length).toBeGreaterThan(25);
  for (const db of cuts) {
    using fixture = runFixture({ db, agents });
    const before = journals(fixture);
    await fixture.service.recover();
    expect(await toTheEnd(fixture, id)).toMatchObject({ status: "completed", output: "Done." });
    const after = journals(fixture);
    // One child run for each agent call, however often an answer was submitted.
    expect(after.size).toBe(5);
    for (const [run, entries] of after) {
      const state = fold(entries);
      expect(state.status).toBe("completed");
      const earlier = before.get(run) ?? [];
      expect(textOf(entries).slice(0, earlier.length)).toEqual(textOf(earlier));
      if (earlier.length > 0 && isOver(fold(earlier).status)) expect(entries).toHaveLength(earlier.length);
    }
    expect(fixture.db.sqlite.query("SELECT 1 FROM pending_calls").all()).toEqual([]);
  }
}, 60_000);

test("a process that dies between the end of a parent and that of its child ends the child at its next start", async () => {
  const silent = { agt_quick: { model: "test/timeout" } };
  let left: Db | null = null;
  let child = "";
  {
    using fixture = runFixture({ agents: silent });
    const { id } = await fixture.start(calls("quick"), { tools: [agentTool("quick", "agt_quick")] });
    const { event } = await fixture.until(id, (entry) => entry.event.type === "subagent.started");
    if (event.type === "subagent.started") child = event.run_id;
    const error = {
      type: "run_error",
      code: "internal_error",
      message: "",
      step_index: null,
      retryable: false,
    } as const;
    const { usage } = fixture.runs.get(fixture.scope, id);
    fixture.watches.listen((runId) => {
      if (runId === id) left ??= copyDatabase(fixture.db);
    });
    await fixture.journal.append(id, [{ type: "run.failed", error, output: null, usage }]);
  }
  using fixture = runFixture({ db: left!, agents: silent });
  expect(fixture.journal.head(child)!.status).toBe("in_progress");
  await fixture.service.recover();
  await fixture.until(child, ({ event }) => event.type === "run.cancelled");
  await new Promise((resolve) => setImmediate(resolve)); // The loop is notified right after the commit.
  expect(fixture.pool.drives(child)).toBe(false);
});

test("a process that dies between the end of a child and its parent's reaction resumes the parent", async () => {
  const asking = { tools: [agentTool("ask", "agt_asking")] };
  let left: Db | null = null;
  let id = "";
  {
    using fixture = runFixture({ agents });
    ({ id } = await fixture.start(calls("ask"), asking));
    await fixture.settled(id);
    const [child] = fixture.runs.below(id);
    fixture.watches.listen((runId) => {
      if (runId === child) left ??= copyDatabase(fixture.db);
    });
    await fixture.service.cancel(fixture.scope, child!, null);
  }
  using fixture = runFixture({ db: left!, agents });
  expect(fixture.journal.head(id)!.status).toBe("requires_action");
  await fixture.service.recover();
  await fixture.until(id, ({ event }) => event.type === "run.completed");
});
