import { describe, expect, test } from "bun:test";
import { createScripted, createTool, runToEnd } from "./fixtures.ts";
import { type Json, type Runnel, startRunnel } from "./harness.ts";
import { startToolServer } from "./tool-server.ts";

// Agents as tools, on the executable: the process dies at every boundary between a run and its child.

const say = (name: string) => ({ name, arguments: { input: "Do it." } });
const city = { city: "Oslo" };

const agentTool = (server: Runnel, name: string, agent_id: string): Promise<Json> =>
  createTool(server, { name, type: "agent", agent_id, parameters: undefined });

/** Creates an agent that calls another one, which calls an HTTP tool, and with `asks` also its client. */
async function createTree(server: Runnel, url: string, asks: boolean): Promise<string> {
  const weather = await createTool(server, { name: "weather", url, idempotent: true });
  const look = await createTool(server, { name: "look" });
  const tool_calls = [weather, ...(asks ? [look] : [])].map(({ name }) => ({ name, arguments: city }));
  const helper = await createScripted(server, [{ tool_calls }, { text: "Clear." }], { tools: [weather.id, look.id] });
  const ask = await agentTool(server, "ask", helper);
  return createScripted(server, [{ tool_calls: [say("ask")] }, { text: "It is clear." }], { tools: [ask.id] });
}

/** Follows a run to its end, and answers its calls one after the other. */
async function finish(server: Runnel, id: string): Promise<Json> {
  for (let after: string | null = null; ; ) {
    await using stream = await server.stream(`/v1/runs/${id}/events`, { after });
    await stream.until(({ event }) => ["run.requires_action", "run.completed", "run.failed"].includes(event));
    after = stream.lastId();
    const { body: run } = await server.get(`/v1/runs/${id}`);
    if (["completed", "failed", "cancelled"].includes(run.status)) return run;
    const [call] = run.required_action?.submit_tool_outputs.tool_calls ?? [];
    if (!call) continue;
    const tool_outputs = [{ tool_call_id: call.tool_call_id, output: "blue" }];
    await server.post(`/v1/runs/${id}/submit_tool_outputs`, { tool_outputs });
  }
}

const top = async (server: Runnel): Promise<Json> =>
  (await server.get("/v1/runs?include=messages")).body.data.find((run: Json) => run.parent_run_id === null);
const childrenOf = async (server: Runnel, id: string): Promise<Json[]> =>
  (await server.get(`/v1/runs?parent_run_id=${id}&include=messages`)).body.data;

async function expectWhole(server: Runnel, id: string): Promise<void> {
  const { data } = (await server.get(`/v1/runs/${id}/events?limit=100`)).body;
  expect(data.map(({ seq }: Json) => seq)).toEqual(data.map((_: Json, index: number) => index + 1));
  const ends = data.filter(({ event }: Json) => ["run.completed", "run.failed"].includes(event));
  expect(ends).toEqual([data.at(-1)]);
}

// At a failpoint of a start the parent is first, its child second; at an end it is the other way round.
const works = [
  "before_run.created:2",
  "after_run.created:2",
  "before_subagent.started",
  "after_subagent.started",
  "before_effect.subagent",
  "after_effect.subagent",
  "before_intent.model_call:2",
  "after_intent.model_call:2",
  "before_run.completed",
  "after_run.completed",
  "before_result.subagent",
  "after_result.subagent",
  "after_run.completed:2",
];
const waits = [
  "before_run.requires_action",
  "after_run.requires_action",
  "before_subagent.waiting",
  "after_subagent.waiting",
  "before_run.requires_action:2",
  "after_run.requires_action:2",
  "before_run.resumed",
  "before_subagent.resumed",
  "after_subagent.resumed",
  "before_run.resumed:2",
  "after_run.resumed:2",
];

describe("a run and its child end as promised when the process dies", () => {
  test.each([...works.map((point) => [point, false] as const), ...waits.map((point) => [point, true] as const)])(
    "at %s",
    async (RUNNEL_FAILPOINT, asks) => {
      await using tools = startToolServer();
      await using server = await startRunnel({ environment: { RUNNEL_FAILPOINT } });
      const agent_id = await createTree(server, `${tools.url}/weather`, asks);
      const begun = server
        .post("/v1/runs", { agent_id, input: "Go" })
        .then(({ body }) => finish(server, body.id))
        .catch(() => {}); // The connection breaks.
      expect(await server.died()).toBe("SIGKILL");
      await begun;
      await server.restart({});
      const run = await finish(server, (await top(server)).id);
      expect(run).toMatchObject({ status: "completed", output: "It is clear.", tool_calls: [{ output: "Clear." }] });
      const children = await childrenOf(server, run.id);
      expect(children).toMatchObject([
        { status: "completed", output: "Clear.", id: run.tool_calls[0].subagent_run_id },
      ]);
      expect(tools.countsByKey("/weather").size).toBe(1);
      for (const { id } of [run, ...children]) await expectWhole(server, id);
    },
  );

  test.each(["before_run.cancelled", "after_run.cancelled:2"])("at %s, once the run is cancelled", async (point) => {
    await using tools = startToolServer();
    await using server = await startRunnel({ environment: { RUNNEL_FAILPOINT: point } });
    const run = await runToEnd(server, await createTree(server, `${tools.url}/weather`, true));
    const cancelled = server.post(`/v1/runs/${run.id}/cancel`).catch(() => {});
    expect(await server.died()).toBe("SIGKILL");
    await cancelled;
    await server.restart({});
    const status = point.startsWith("before") ? "requires_action" : "cancelled";
    for (const { id } of [run, ...(await childrenOf(server, run.id))])
      expect((await server.get(`/v1/runs/${id}`)).body.status).toBe(status);
  });
});

test("a child's calls are listed once, on the parent, and answered in parts by its client", async () => {
  await using tools = startToolServer();
  await using server = await startRunnel();
  const look = await createTool(server, { name: "look" });
  const sign = await createTool(server, { name: "sign", url: `${tools.url}/weather`, approval: "always" });
  const asking = [{ tool_calls: [look, sign].map(({ name }) => ({ name, arguments: city })) }, { text: "Signed." }];
  const helper = await createScripted(server, asking, { tools: [look.id, sign.id] });
  const tool = await agentTool(server, "ask", helper);
  const script = [{ tool_calls: [say("ask"), { name: "look", arguments: city }] }, { text: "Done." }];
  const run = await runToEnd(server, await createScripted(server, script, { tools: [tool.id, look.id] }));
  const calls: Json[] = run.required_action.submit_tool_outputs.tool_calls;
  const [child] = await childrenOf(server, run.id);
  expect(calls.map(({ needs, run_id }) => [needs, run_id]).sort()).toEqual(
    [
      ["approval", child.id],
      ["output", child.id],
      ["output", undefined],
    ].sort(),
  );
  const { data } = (await server.get("/v1/approvals")).body;
  expect(data.map(({ id }: Json) => id).sort()).toEqual(calls.map(({ tool_call_id }) => tool_call_id).sort());
  const answers = calls.map(({ tool_call_id, needs }) =>
    needs === "approval" ? { tool_call_id, decision: "approve" } : { tool_call_id, output: "blue" },
  );
  const last = answers.pop();
  for (const answer of answers)
    expect(await server.post(`/v1/runs/${run.id}/submit_tool_outputs`, { tool_outputs: [answer] })).toMatchObject({
      status: 200,
      body: { status: "requires_action" },
    });
  const { body } = await server.post(`/v1/runs/${run.id}/submit_tool_outputs`, { tool_outputs: [last] });
  expect(body.status).toBe("in_progress");
  expect(await finish(server, run.id)).toMatchObject({ status: "completed", output: "Done." });
});

test("twenty parents, each with a child, fit into a limit of twenty runs", async () => {
  await using server = await startRunnel({ keepLimits: true });
  const helper = await createScripted(server, [{ text: "Here.", delay_ms: 300 }]);
  const tool = await agentTool(server, "ask", helper);
  const agent_id = await createScripted(server, [{ tool_calls: [say("ask")] }, { text: "Done." }], {
    tools: [tool.id],
  });
  const runs = await Promise.all(Array.from({ length: 20 }, () => server.post("/v1/runs", { agent_id, input: "Go" })));
  expect(runs.map(({ status }) => status)).toEqual(Array(20).fill(201));
  for (const { body } of runs) expect(await finish(server, body.id)).toMatchObject({ status: "completed" });
});

test("one run starts a hundred others and no more, also when the process dies among them", async () => {
  await using server = await startRunnel();
  const again = { name: "again", arguments: { input: "Go" } };
  const script = [{ tool_calls: Array.from({ length: 128 }, () => again) }, { text: "Done." }];
  const agent_id = await createScripted(server, script);
  const tool = await agentTool(server, "again", agent_id);
  const changed = await server.fetch(`/v1/agents/${agent_id}`, {
    method: "PATCH",
    body: JSON.stringify({ tools: [tool.id] }),
  });
  expect(changed.status).toBe(200);
  const { body: run } = await server.post("/v1/runs", { agent_id, input: "Go" });
  await using stream = await server.stream(`/v1/runs/${run.id}/events`);
  await stream.until(({ event }) => event === "subagent.started");
  await server.kill9();
  await server.restart();
  const ended = await finish(server, run.id);
  expect(ended).toMatchObject({ status: "completed", output: "Done." });
  const refused = ended.tool_calls.filter(({ error }: Json) => error?.code === "too_many_children");
  const started = ended.tool_calls.filter(({ subagent_run_id }: Json) => subagent_run_id !== null);
  expect(refused.length + started.length).toBe(128);
  const below: Json[] = [];
  for (let after = ""; ; after = `&starting_after=${below.at(-1).id}`) {
    const { data, has_more } = (await server.get(`/v1/runs?limit=100${after}`)).body;
    below.push(...data);
    if (!has_more) break;
  }
  expect(below).toHaveLength(101);
});

test("runnel trace shows the steps of called agents under their calls", async () => {
  await using tools = startToolServer();
  await using server = await startRunnel();
  const run = await runToEnd(server, await createTree(server, `${tools.url}/weather`, false));
  const { stdout, code } = await server.command("trace", run.id);
  expect(code).toBe(0);
  const outline = stdout.trimEnd().split("\n").slice(1);
  expect(outline.map((line) => /^[│ ├└─]*[^ ]+ [^ ]+ [^ ]+/.exec(line)?.[0])).toEqual([
    "├─ 0 model_call test/script",
    "│  └─ 1 subagent ask",
    "│     ├─ 0 model_call test/script",
    "│     │  └─ 1 tool_call weather",
    "│     └─ 2 model_call test/script",
    "└─ 2 model_call test/script",
  ]);
});
