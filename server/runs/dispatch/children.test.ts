import { describe, expect, test } from "bun:test";
import type { AgentSnapshot } from "../../domain/agent-snapshot.ts";
import type { AppError } from "../../domain/errors.ts";
import type { ScriptEntry } from "../../domain/model-call.ts";
import { agentTool, runFixture, tool } from "../../testing/run-fixture.ts";

const asks = (name: string, input = "Do it.") => ({ name, arguments: { input } });
const agent = (script: ScriptEntry[], more: Partial<AgentSnapshot> = {}): Partial<AgentSnapshot> => ({
  settings: { script },
  ...more,
});
const research = agentTool("research", "agt_research");
const write = agentTool("write", "agt_write");
const look = tool("look");
const sign = tool("sign", { approval: "always" });

/** A parent that calls these agents concurrently and then outputs their results. */
const parent = (...names: string[]): ScriptEntry[] => [
  { tool_calls: names.map((name) => asks(name)) },
  { text: "Done." },
];
/** An agent that calls a client tool. */
const asking = (...names: string[]) =>
  agent([{ tool_calls: names.map((name) => ({ name, arguments: {} })) }, { text: "I was told." }], {
    tools: [look, sign],
  });

type Fixture = ReturnType<typeof runFixture>;

const rows = ({ db }: Fixture, parent: string) =>
  db.sqlite
    .query<{ id: string; status: string; depth: number; agent_id: string }, [string]>(
      "SELECT id, status, depth, agent_id FROM runs WHERE parent_run_id = ? ORDER BY id",
    )
    .all(parent);
const asked = (run: Awaited<ReturnType<Fixture["settled"]>>) =>
  run.required_action?.submit_tool_outputs.tool_calls ?? [];
const events = ({ journal }: Fixture, id: string) => journal.read(id).map(({ event }) => event.type);
const refusalOf = (work: Promise<unknown>) =>
  work.then(
    () => null,
    ({ code, param }: AppError) => ({ code, param }),
  );

describe("an agent as a tool", () => {
  test("is a separate run with its parent's owner, and its output resolves the call", async () => {
    using fixture = runFixture({ agents: { agt_research: agent([{ text: "42" }]) } });
    const run = { user_id: "u", session_id: "s", metadata: { a: "b" } };
    const { id } = await fixture.start(parent("research"), { tools: [research], run });
    const ended = await fixture.settled(id);
    expect(ended).toMatchObject({
      status: "completed",
      output: "Done.",
      tool_calls: [{ type: "agent", status: "completed", output: "42" }],
    });
    const [child] = rows(fixture, id);
    expect(ended.tool_calls[0]!.subagent_run_id).toBe(child!.id);
    expect(fixture.runs.get(fixture.scope, child!.id)).toMatchObject({
      status: "completed",
      input: "Do it.",
      parent_run_id: id,
      ...run,
    });
    expect(child!.depth).toBe(1);
  });

  test("has its own model's context window", async () => {
    using fixture = runFixture({ agents: { agt_research: agent([{ text: "42" }]) }, window: 9000 });
    const { id } = await fixture.start(parent("research"), { tools: [research] });
    await fixture.settled(id);
    const [child] = rows(fixture, id);
    expect(fixture.journal.read(child!.id)[0]!.event).toMatchObject({ parent_run_id: id, context_window: 9000 });
  });

  test("may call agents itself, up to five deep", async () => {
    const nests = agentTool("deeper", "agt_deeper");
    const agents = { agt_deeper: agent(parent("deeper"), { tools: [nests] }) };
    using fixture = runFixture({ agents });
    const { id } = await fixture.start(parent("deeper"), { tools: [nests] });
    expect(await fixture.settled(id)).toMatchObject({ status: "completed" });
    let last = id;
    for (let depth = 1; depth <= 5; depth++) {
      const [child] = rows(fixture, last);
      expect(child).toMatchObject({ depth, status: "completed" });
      last = child!.id;
    }
    expect(rows(fixture, last)).toEqual([]);
    expect(fixture.runs.get(fixture.scope, last).tool_calls).toMatchObject([
      { status: "failed", error: { code: "agent_depth_exceeded" }, subagent_run_id: null },
    ]);
  });

  test("several children add their cost to the parent, and a failed one is an error that the model reads", async () => {
    const agents = {
      agt_research: agent([{ text: "one two three" }]),
      agt_write: agent([{ text: "four five", error: "It broke." }]),
    };
    using fixture = runFixture({ agents });
    const { id } = await fixture.start(parent("research", "write"), { tools: [research, write] });
    const { status, usage, tool_calls } = await fixture.settled(id);
    expect({ status, tool_calls }).toMatchObject({
      status: "completed",
      tool_calls: [{ output: "one two three" }, { error: { code: "model_error", message: "It broke." } }],
    });
    expect(usage).toMatchObject({ model_calls: 4, tool_calls: 2 });
    const children = rows(fixture, id).map((child) => fixture.runs.get(fixture.scope, child.id).usage);
    const own = fixture.journal
      .read(id)
      .flatMap(({ event }) =>
        event.type === "step.completed" && event.answer ? [event.answer.usage.output_tokens!] : [],
      );
    const sum = [...children.map(({ output_tokens }) => output_tokens!), ...own].reduce((a, b) => a + b);
    expect(usage.output_tokens).toBe(sum);
  });

  test("a deleted agent is an error that the model reads", async () => {
    using fixture = runFixture();
    const { id } = await fixture.start(parent("research"), { tools: [research] });
    expect(await fixture.settled(id)).toMatchObject({
      status: "completed",
      tool_calls: [{ status: "failed", error: { code: "agent_not_found" } }],
    });
  });

  test("twenty parents with a child each need only the twenty slots that they have", async () => {
    using fixture = runFixture({ agents: { agt_research: agent([{ text: "42" }]) }, slots: 20 });
    const runs = await Promise.all(
      Array.from({ length: 20 }, () => fixture.start(parent("research"), { tools: [research] })),
    );
    for (const { id } of runs) expect(await fixture.settled(id)).toMatchObject({ status: "completed" });
    expect(await refusalOf(fixture.start([]))).toBeNull();
  });

  test("a child does not count towards the runs in progress", async () => {
    using fixture = runFixture({ agents: { agt_research: agent([], { model: "test/timeout" }) }, slots: 2 });
    const { id } = await fixture.start(parent("research"), { tools: [research] });
    await fixture.until(id, ({ event }) => event.type === "subagent.started");
    expect(fixture.runs.inProgress(fixture.scope)).toBe(1);
    expect(await refusalOf(fixture.start([]))).toBeNull();
    expect(await refusalOf(fixture.start([]))).toMatchObject({ code: "concurrency_limit_exceeded" });
  });
});

describe("a required action of a child", () => {
  const nested = {
    agt_research: asking("look", "sign"),
    agt_write: agent(parent("research"), { tools: [research] }),
  };

  test("appears at its parent, and can be answered there", async () => {
    using fixture = runFixture({ agents: nested });
    const { id } = await fixture.start(parent("research"), { tools: [research] });
    const waiting = await fixture.settled(id);
    const [child] = rows(fixture, id);
    expect(asked(waiting)).toMatchObject([
      { name: "look", needs: "output", run_id: child!.id },
      { name: "sign", needs: "approval", run_id: child!.id },
    ]);
    const [first, second] = asked(waiting);
    await fixture.service.submit(fixture.scope, id, [{ tool_call_id: first!.tool_call_id, output: "blue" }]);
    const rest = fixture.runs.get(fixture.scope, id);
    expect([rest.status, asked(rest).map((call) => call.tool_call_id)]).toEqual([
      "requires_action",
      [second!.tool_call_id],
    ]);
    await fixture.service.submit(fixture.scope, id, [
      { tool_call_id: second!.tool_call_id, decision: "approve", arguments: { by: "me" } },
    ]);
    const after = await fixture.settled(id);
    expect(asked(after)).toMatchObject([
      { tool_call_id: second!.tool_call_id, needs: "output", arguments: { by: "me" } },
    ]);
    await fixture.service.submit(fixture.scope, id, [{ tool_call_id: second!.tool_call_id, output: "signed" }]);
    expect(fixture.runs.get(fixture.scope, id).status).toBe("in_progress");
    expect(await fixture.settled(id)).toMatchObject({ status: "completed", tool_calls: [{ output: "I was told." }] });
  });

  test("appears two levels up too, and can be answered at the child itself", async () => {
    using fixture = runFixture({ agents: nested });
    const { id } = await fixture.start(parent("write"), { tools: [write] });
    const waiting = await fixture.settled(id);
    const [child] = rows(fixture, id);
    const [grandchild] = rows(fixture, child!.id);
    expect(asked(waiting).map(({ run_id }) => run_id)).toEqual([grandchild!.id, grandchild!.id]);
    const [first, second] = asked(waiting);
    await fixture.service.submit(fixture.scope, id, [{ tool_call_id: first!.tool_call_id, output: "blue" }]);
    await fixture.service.submit(fixture.scope, grandchild!.id, [
      { tool_call_id: second!.tool_call_id, decision: "reject" },
    ]);
    expect(await fixture.settled(id)).toMatchObject({ status: "completed" });
    expect(events(fixture, id).filter((type) => type === "subagent.resumed")).toHaveLength(1);
  });

  test("accepts a repeated answer, refuses a different one, and an invalid answer does not affect the others", async () => {
    using fixture = runFixture({ agents: { agt_research: asking("look"), agt_write: asking("look") } });
    const { id } = await fixture.start(parent("research", "write"), { tools: [research, write] });
    const [one, two] = asked(await fixture.settled(id)).map((call) => call.tool_call_id) as [string, string];
    const submit = (...tool_outputs: { tool_call_id: string; output?: unknown; decision?: "approve" }[]) =>
      refusalOf(fixture.service.submit(fixture.scope, id, tool_outputs));
    const before = fixture.journal.read(id).length;
    expect(await submit({ tool_call_id: one, output: 1 }, { tool_call_id: "call_nobody", output: 1 })).toEqual({
      code: "tool_call_not_found",
      param: "tool_outputs[1].tool_call_id",
    });
    expect(await submit({ tool_call_id: one, output: 1 }, { tool_call_id: two, decision: "approve" })).toEqual({
      code: "validation_failed",
      param: "tool_outputs[1].decision",
    });
    for (const child of rows(fixture, id)) expect(child.status).toBe("requires_action");
    expect(fixture.journal.read(id).length).toBe(before);
    expect(await submit({ tool_call_id: one, output: 1 })).toBeNull();
    expect(await submit({ tool_call_id: one, output: 1 })).toBeNull();
    expect(await submit({ tool_call_id: one, output: 2 })).toMatchObject({ code: "tool_call_already_resolved" });
    expect(await submit({ tool_call_id: one, output: 1 }, { tool_call_id: two, output: 2 })).toBeNull();
    expect(await fixture.settled(id)).toMatchObject({ status: "completed" });
    expect(await submit({ tool_call_id: one, output: 1 })).toBeNull();
    expect(await submit({ tool_call_id: one, output: 2 })).toMatchObject({ code: "tool_call_already_resolved" });
  });

  test("validates edited arguments with the child's own tool", async () => {
    const strict = tool("sign", {
      approval: "always",
      parameters: { type: "object", properties: { by: { type: "string" } }, required: ["by"] },
    });
    const script = [{ tool_calls: [{ name: "sign", arguments: { by: "you" } }] }, { text: "Signed." }];
    using fixture = runFixture({ agents: { agt_research: agent(script, { tools: [strict] }) } });
    const { id } = await fixture.start(parent("research"), { tools: [research] });
    const [call] = asked(await fixture.settled(id));
    const answer = { tool_call_id: call!.tool_call_id, decision: "approve" as const, arguments: { by: 1 } };
    expect(await refusalOf(fixture.service.submit(fixture.scope, id, [answer]))).toMatchObject({
      code: "validation_failed",
      param: "tool_outputs[0].arguments",
    });
  });

  test("combines with a call of the parent: it waits for both, in one request or in two", async () => {
    for (const parts of [1, 2]) {
      using fixture = runFixture({ agents: { agt_research: asking("look") } });
      const script = [{ tool_calls: [asks("research"), { name: "look", arguments: {} }] }, { text: "Done." }];
      const { id } = await fixture.start(script, { tools: [research, look] });
      const calls = asked(await fixture.settled(id));
      expect(calls.map(({ run_id }) => run_id === undefined).sort()).toEqual([false, true]);
      const answers = calls.map((call) => ({ tool_call_id: call.tool_call_id, output: "blue" }));
      if (parts === 1) await fixture.service.submit(fixture.scope, id, answers);
      else for (const answer of answers) await fixture.service.submit(fixture.scope, id, [answer]);
      expect(await fixture.settled(id)).toMatchObject({ status: "completed" });
    }
  });

  test("is listed once among the approvals", async () => {
    using fixture = runFixture({ agents: nested });
    const { id } = await fixture.start(parent("write"), { tools: [write] });
    await fixture.settled(id);
    const page = {
      limit: 20,
      starting_after: null,
      ending_before: null,
      order: "asc",
      created_at: [],
      metadata: [],
      filters: {},
    } as const;
    const { data } = await fixture.runs.pending(fixture.scope, { ...page, created_at: [], metadata: [] });
    expect(data.map(({ name }) => name).sort()).toEqual(["look", "sign"]);
  });
});
