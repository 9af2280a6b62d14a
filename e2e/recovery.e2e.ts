import { describe, expect, test } from "bun:test";
import { type Frame, seqsOf, textsOf } from "./event-stream.ts";
import { createAgent, createScripted, createTool, runToEnd, stubConnection } from "./fixtures.ts";
import { type Json, type Runnel, startRunnel } from "./harness.ts";
import { startModelServer, wordsOf } from "./model-server.ts";
import { startToolServer, type ToolServer } from "./tool-server.ts";

// Guarantees after a power loss, on the executable, with kill −9 in its place.

describe("after kill -9", () => {
  test("the same stream continues with Last-Event-ID, and the streamed text is the run's output", async () => {
    await using model = startModelServer();
    await using server = await startRunnel({ environment: stubConnection(model.url) });
    const text = wordsOf(60);
    const agent_id = await createAgent(server, "half-60-10");
    await using stream = await server.stream("/v1/runs", { body: { agent_id, input: "Go", stream: true } });
    const { data } = await stream.until((frame) => frame.event === "token" && frame.data.offset > 50);
    await server.kill9();
    await stream.rest();
    model.release();
    await server.restart();

    await using later = await server.stream(`/v1/runs/${data.run_id}/events`, { after: stream.lastId() });
    await later.until("run.recovered");
    const frames = [...stream.frames, ...(await later.rest())];
    expect(frames.map(({ event }) => event)).toContain("step.restarted");
    const { body: run } = await server.get(`/v1/runs/${data.run_id}`);
    expect(run).toMatchObject({ status: "completed", output: text, attempt: 2 });
    expect(textsOf(frames)).toEqual([text]);
    expectNoGaps(frames);
  });

  test("a run that waits still waits, and takes its output", async () => {
    await using server = await startRunnel();
    const tool = await createTool(server);
    const script = [{ tool_calls: [{ name: tool.name, arguments: { city: "Oslo" } }] }, { text: "Thank you." }];
    const run = await runToEnd(server, await createScripted(server, script, { tools: [tool.id] }));
    await server.kill9();
    await server.restart();
    const { body: found } = await server.get(`/v1/runs/${run.id}`);
    expect(found).toMatchObject({ status: "requires_action", required_action: run.required_action });
    const [call] = run.required_action.submit_tool_outputs.tool_calls;
    await server.post(`/v1/runs/${run.id}/submit_tool_outputs`, {
      tool_outputs: [{ tool_call_id: call.tool_call_id, output: 1 }],
    });
    expect(await ended(server, run.id)).toMatchObject({ status: "completed", output: "Thank you." });
  });

  /** Dies during the tool call, and returns the run once it rests again. */
  async function dieInTool(tools: ToolServer, tool: Record<string, unknown>) {
    const model = startModelServer();
    const server = await startRunnel({ environment: stubConnection(model.url) });
    tools.hold();
    const { id: tool_id } = await createTool(server, { url: `${tools.url}/held`, ...tool });
    const agent_id = await createAgent(server, "turns-0", { tools: [tool_id] });
    const { body } = await server.post("/v1/runs", { agent_id, input: "Go" });
    await tools.called("/held");
    await server.kill9();
    tools.release();
    await server.restart();
    const dispose = async () => {
      await server[Symbol.asyncDispose]();
      await model[Symbol.asyncDispose]();
    };
    return { server, run: await ended(server, body.id), [Symbol.asyncDispose]: dispose };
  }

  test("the erasure of a user continues, counts nothing twice, and touches no other user", async () => {
    await using server = await startRunnel();
    const agent_id = await createAgent(server, "test/echo");
    for (const user_id of ["ada", "bob"]) {
      await server.post("/v1/runs?wait=60", { agent_id, input: `I am ${user_id}.`, user_id, thread_id: "new" });
      for (let i = 0; i < 60; i++) await server.post("/v1/threads", { user_id });
    }
    const { status, body } = await server.delete("/v1/users/ada/data");
    expect(status).toBe(202);
    const erasure = async () => (await server.get(`/v1/erasures/${body.id}`)).body;
    while ((await erasure()).deleted.threads < 5);
    await server.kill9();
    await server.restart();
    const { deleted } = (await server.delete("/v1/users/ada/data?wait=60")).body;
    expect(await erasure()).toMatchObject({ status: "completed", user_id: null, deleted: { threads: 61, runs: 1 } });
    expect([0, 61]).toContain(deleted.threads); // A second erasure, unless the first one was still in progress.
    const countOf = async (list: string) => (await server.get(`/v1/${list}&limit=100`)).body.data.length;
    expect([await countOf("threads?user_id=ada"), await countOf("runs?user_id=ada")]).toEqual([0, 0]);
    expect([await countOf("threads?user_id=bob"), await countOf("runs?user_id=bob")]).toEqual([61, 1]);
  });

  test.each(["before_learning", "after_learning", "before_run.completed:2", "after_run.completed:2"])(
    "facts of a user are learned from a run once, and none is lost – %s",
    async (point) => {
      await using server = await startRunnel({ environment: { RUNNEL_FAILPOINT: point } });
      const { id } = (await server.post("/v1/memory", { name: "facts", kind: "vector", scope: "user" })).body;
      const found = { add: ["Lives in Oslo."], replace: [], forget: [] };
      const agent_id = await createScripted(server, [{ text: "Hello." }, { text: JSON.stringify(found) }], {
        memory: { stores: [{ memory_id: id, learn: true }] },
      });
      const started = server.post("/v1/runs", { agent_id, user_id: "ada", input: "I live in Oslo." });
      await server.died();
      await started.catch(() => {}); // The response may be lost.
      await server.restart({});
      const list = async () => (await server.get("/v1/runs?user_id=ada&limit=100")).body.data;
      const isDone = (runs: Json[]) => runs.length > 1 && runs.every(({ status }) => status === "completed");
      while (!isDone(await list()));
      const runs = await list();
      expect(runs.map(({ metadata }: Json) => metadata.learns_from ?? null)).toEqual([runs[1].id, null]);
      const { data } = (await server.get(`/v1/memory/${id}/entries?scope_id=ada`)).body;
      expect(data).toMatchObject([{ text: "Lives in Oslo.", metadata: { run_id: runs[1].id } }]);
    },
  );

  test("an idempotent tool is called again under the same key", async () => {
    await using tools = startToolServer();
    await using died = await dieInTool(tools, { idempotent: true });
    expect(died.run).toMatchObject({ status: "completed", output: "I read 1 results." });
    expect([...tools.countsByKey("/held")]).toEqual([[died.run.tool_calls[0].id, 2]]);
  });

  test("a tool that may not be repeated is asked about, and the answer stands", async () => {
    await using tools = startToolServer();
    await using died = await dieInTool(tools, { idempotent: false });
    const [call] = died.run.required_action.submit_tool_outputs.tool_calls;
    expect(call).toMatchObject({ needs: "reconcile" });
    await died.server.post(`/v1/runs/${died.run.id}/submit_tool_outputs`, {
      tool_outputs: [{ tool_call_id: call.tool_call_id, output: { sky: "it was clear" } }],
    });
    const run = await ended(died.server, died.run.id);
    expect(run).toMatchObject({ status: "completed", output: "I read 1 results." });
    expect(run.tool_calls[0]).toMatchObject({ status: "completed", output: { sky: "it was clear" } });
    expect(tools.callsOf("/held")).toHaveLength(1);
  });

  test("a non-idempotent tool call can be reported as unknown to the model instead", async () => {
    await using tools = startToolServer();
    await using died = await dieInTool(tools, { idempotent: false, on_unknown: "report" });
    expect(died.run).toMatchObject({ status: "completed", output: "I read 1 results." });
    expect(died.run.tool_calls[0]).toMatchObject({ status: "unknown", error: { code: "outcome_unknown" } });
    expect(tools.callsOf("/held")).toHaveLength(1);
  });
});

/** Returns the run once it is over or waits. */
async function ended(server: Runnel, id: string): Promise<Json> {
  // Reads the position before the status, so that events in between are not missed and an earlier wait is not taken for
  // a new one.
  const { body: events } = await server.get(`/v1/runs/${id}/events?limit=100`);
  const { body: run } = await server.get(`/v1/runs/${id}`);
  if (run.status !== "in_progress") return run;
  await using stream = await server.stream(`/v1/runs/${id}/events`, { after: events.last_id });
  await stream.until(({ event }) => ["run.completed", "run.failed", "run.requires_action"].includes(event));
  return (await server.get(`/v1/runs/${id}`)).body;
}

function expectNoGaps(frames: readonly Frame[]): void {
  const seqs = seqsOf(frames);
  expect(seqs).toEqual(seqs.map((_, index) => index + 1));
  expect(frames.filter(({ event }) => event === "run.completed" || event === "run.failed")).toHaveLength(1);
}
