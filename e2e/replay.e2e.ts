import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { join } from "node:path";
import { createAgent, createTool, runToEnd, stubConnection } from "./fixtures.ts";
import { type Json, type Runnel, startRunnel } from "./harness.ts";
import { startModelServer } from "./model-server.ts";
import { startToolServer } from "./tool-server.ts";

// Replays and forks on the executable, with a model and tools that count their requests.

const paid = "/slow/1";
const slow = "/held";

/** Starts a run of five steps: a turn, a non-idempotent payment, a turn, a slow idempotent call, and the last turn. */
async function startPaid() {
  const model = startModelServer();
  const tools = startToolServer();
  const environment = stubConnection(model.url);
  const server = await startRunnel({ environment });
  const pay = await createTool(server, { type: "webhook", url: `${tools.url}${paid}`, idempotent: false });
  const look = await createTool(server, { url: `${tools.url}${slow}`, idempotent: true });
  const agent = await createAgent(server, "turns-10", { tools: [pay.id, look.id] });
  const run = await runToEnd(server, agent);
  expect(run).toMatchObject({ status: "completed", output: "I read 2 results." });
  const asked = () => ({
    model: model.requests.length,
    paid: tools.callsOf(paid).length,
    slow: tools.callsOf(slow).length,
  });
  expect(asked()).toEqual({ model: 3, paid: 1, slow: 1 });
  return {
    server,
    tools,
    agent,
    run,
    asked,
    environment,
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]();
      await tools[Symbol.asyncDispose]();
      await model[Symbol.asyncDispose]();
    },
  };
}

const made = async (server: Runnel, path: string, body: object): Promise<Json> => {
  const answer = await server.post(path, body);
  expect(answer.status).toBe(201);
  return answer.body;
};

const ofOrigin = async (server: Runnel, origin: string): Promise<Json[]> =>
  (await server.get(`/v1/runs?origin=${origin}`)).body.data;

/** Returns the run once it is over. */
async function ended(server: Runnel, id: string): Promise<Json> {
  await using stream = await server.stream(`/v1/runs/${id}/events`);
  await stream.until(({ event }) => event === "run.completed" || event === "run.failed");
  return (await server.get(`/v1/runs/${id}`)).body;
}

test("a replay calls no model and no tool, today and after a restart, and names the step that differs", async () => {
  await using all = await startPaid();
  const { server, run, agent, asked } = all;
  const path = `/v1/runs/${run.id}/replay`;
  const before = asked();
  for (const mode of ["strict", "verify"])
    expect(await made(server, path, { mode })).toMatchObject({
      status: "completed",
      output: run.output,
      replay: { divergences: [], matched_steps: 5 },
      usage: { model_calls: 0, tool_calls: 0, total_tokens: 0 },
    });
  await server.stop();
  await server.restart();
  const guardrails = [{ type: "blocked_terms", on: ["tool_output"], action: "block", config: { terms: ["clear"] } }];
  await server.fetch(`/v1/agents/${agent}`, { method: "PATCH", body: JSON.stringify({ guardrails }) });
  expect((await made(server, path, {})).status).toBe("completed");
  const other = await made(server, path, { agent: "current" });
  expect(other).toMatchObject({
    status: "failed",
    error: { code: "replay_diverged" },
    replay: { matched_steps: 1, first_divergence: { step_index: 1, kind: "guardrail" } },
  });
  expect(other.error.divergence.expected_hash).not.toBe(other.error.divergence.actual_hash);
  expect(await ofOrigin(server, "replay")).toHaveLength(4);
  expect(asked()).toEqual(before);
});

test("a fork executes the steps behind its start, and never repeats those before it", async () => {
  await using all = await startPaid();
  const { server, run, asked, tools } = all;
  const path = `/v1/runs/${run.id}/fork?wait=60`;
  const edits = { tool_output: { receipt: "forged" } };
  const own = await made(server, path, { step_index: 1, edits });
  expect(own).toMatchObject({ status: "completed", output: "I read 2 results.", usage: { model_calls: 2 } });
  expect(own.tool_calls.map(({ output }: Json) => output)).toEqual([{ receipt: "forged" }, { sky: "clear" }]);
  expect(asked()).toEqual({ model: 5, paid: 1, slow: 2 });
  await made(server, path, { step_index: 1, tools: "recorded_only" });
  expect(asked()).toEqual({ model: 7, paid: 1, slow: 2 });
  await made(server, path, { step_index: -1, tools: "recorded_then_live" });
  expect(asked()).toEqual({ model: 10, paid: 1, slow: 2 });
  await made(server, path, { step_index: -1 });
  expect(asked()).toEqual({ model: 13, paid: 2, slow: 3 });
  // Each real call has its own key.
  expect([...tools.countsByKey(slow).values()]).toEqual([1, 1, 1]);
});

test("a fork whose process is killed continues where it was: recorded results are not requested again", async () => {
  await using all = await startPaid();
  const { server, run, asked, tools } = all;
  tools.hold();
  const { id } = await made(server, `/v1/runs/${run.id}/fork`, { step_index: 1 });
  await tools.called(slow, 2);
  await server.kill9();
  tools.release();
  await server.restart();
  const own = await ended(server, id);
  expect(own).toMatchObject({ status: "completed", output: "I read 2 results.", attempt: 2 });
  expect(own.forked_from).toEqual({ run_id: run.id, step_index: 1 });
  expect(own.tool_calls[0].output).toEqual(run.tool_calls[0].output);
  expect(asked()).toEqual({ model: 5, paid: 1, slow: 3 });
  expect([...tools.countsByKey(slow).values()].sort()).toEqual([1, 2]);
  expect((await made(server, `/v1/runs/${id}/replay`, {})).replay.divergences).toEqual([]);
});

test.each(["before_run.created", "before_tool.completed", "before_run.completed"])(
  "a process that dies at %s leaves no partial replay or fork",
  async (RUNNEL_FAILPOINT) => {
    await using all = await startPaid();
    const { server, run, asked, environment } = all;
    const before = asked();
    for (const [kind, body] of [
      ["replay", {}],
      ["fork", { step_index: 4 }],
    ] as const) {
      const path = `/v1/runs/${run.id}/${kind}`;
      const ask = () =>
        server.fetch(path, { method: "POST", body: JSON.stringify(body), headers: { "idempotency-key": kind } });
      await server.stop();
      await server.restart({ ...environment, RUNNEL_FAILPOINT });
      expect(
        await ask().then(
          () => "answered",
          () => "died",
        ),
      ).toBe("died");
      expect(await server.died()).toBe("SIGKILL");
      await server.restart(environment);
      expect(await ofOrigin(server, kind)).toEqual([]);
      const own: Json = await (await ask()).json();
      expect(own).toMatchObject({ status: "completed", output: run.output, origin: kind });
      expect(((await (await ask()).json()) as Json).id).toBe(own.id);
      expect(await ofOrigin(server, kind)).toHaveLength(1);
    }
    expect(asked()).toEqual(before);
  },
);

test("a damaged record is refused with a clear error, and creates nothing", async () => {
  await using all = await startPaid();
  const { server, run, asked } = all;
  await server.stop();
  const db = new Database(join(server.dataDir, "runnel.db"));
  db.run("UPDATE run_events SET data = substr(data, 1, 40) WHERE run_id = ? AND seq = 6", [run.id]);
  db.close();
  await server.restart();
  for (const [kind, body] of [
    ["replay", {}],
    ["fork", { step_index: 1 }],
  ] as const) {
    const answer = await server.post(`/v1/runs/${run.id}/${kind}`, body);
    expect([answer.status, answer.body.error.code]).toEqual([409, "record_damaged"]);
    expect(await ofOrigin(server, kind)).toEqual([]);
  }
  expect(asked().paid).toBe(1);
});
