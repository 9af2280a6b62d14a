import { expect, test } from "bun:test";
import { createAgent, createScripted, createTool, runToEnd, stubConnection } from "./fixtures.ts";
import { type Json, type Runnel, startRunnel } from "./harness.ts";
import { startModelServer } from "./model-server.ts";
import { startToolServer } from "./tool-server.ts";

// A run that crashes its process: kill −9 comes whenever its tool is called.

/** Starts a run whose idempotent tool never responds: it is called again after every recovery. */
async function startPoison(server: Runnel, url: string): Promise<string> {
  const tool = await createTool(server, { url: `${url}/silent`, idempotent: true });
  const script = [{ tool_calls: [{ name: tool.name, arguments: { city: "Oslo" } }] }, { text: "It answered." }];
  return startRun(server, await createScripted(server, script, { tools: [tool.id] }));
}

const startRun = async (server: Runnel, agent_id: string): Promise<string> =>
  (await server.post("/v1/runs", { agent_id, input: "Go" })).body.id;

async function restart(server: Runnel): Promise<void> {
  await server.kill9();
  await server.restart();
}

/** Returns the run once it is over. */
async function ended(server: Runnel, id: string): Promise<Json> {
  await using stream = await server.stream(`/v1/runs/${id}/events`);
  await stream.rest();
  return (await server.get(`/v1/runs/${id}`)).body;
}

test("a run that kills its process again and again is given up, and the service lives on", async () => {
  await using tools = startToolServer();
  await using server = await startRunnel();
  const poison = await startPoison(server, tools.url);
  for (let kill = 1; kill <= 3; kill++) {
    await tools.called("/silent", kill);
    await restart(server);
  }
  expect(await ended(server, poison)).toMatchObject({ status: "failed", attempt: 4, error: { code: "crash_loop" } });
  expect(tools.callsOf("/silent")).toHaveLength(3);
  const other = await runToEnd(server, await createScripted(server, [{ text: "Fine." }]));
  expect(other).toMatchObject({ status: "completed", output: "Fine." });
});

test("runs beside it are unharmed: one that makes progress, and one in the middle of a long call", async () => {
  await using tools = startToolServer();
  await using model = startModelServer();
  await using server = await startRunnel({ environment: stubConnection(model.url) });
  const look = await createTool(server);
  const asks = { tool_calls: [{ name: look.name, arguments: { city: "Oslo" } }] };
  const script = [asks, asks, asks, asks, asks, { text: "All seen." }];
  const { id: healthy } = await runToEnd(server, await createScripted(server, script, { tools: [look.id] }));
  const poison = await startPoison(server, tools.url);
  const long = await startRun(server, await createAgent(server, "never-answers"));
  const answer = async () => {
    const { body: run } = await server.get(`/v1/runs/${healthy}`);
    const [call] = run.required_action.submit_tool_outputs.tool_calls;
    return server.post(`/v1/runs/${healthy}/submit_tool_outputs`, {
      tool_outputs: [{ tool_call_id: call.tool_call_id, output: 1 }],
    });
  };
  for (let kill = 1; kill <= 3; kill++) {
    await tools.called("/silent", kill);
    expect(await answer()).toMatchObject({ status: 200 });
    await waits(server, healthy);
    await restart(server);
  }
  // After the third crash both are suspects: they run one at a time, and the fourth crash decides.
  await tools.called("/silent", 4);
  await restart(server);
  expect(await ended(server, poison)).toMatchObject({ status: "failed", error: { code: "crash_loop" } });
  expect(await server.get(`/v1/runs/${long}`)).toMatchObject({ body: { status: "in_progress", attempt: 5 } });
  expect(await server.post(`/v1/runs/${long}/cancel`)).toMatchObject({ body: { status: "cancelled" } });
  for (let left = 2; left > 0; left--) {
    await waits(server, healthy);
    expect(await answer()).toMatchObject({ status: 200 });
  }
  expect(await ended(server, healthy)).toMatchObject({ status: "completed", output: "All seen.", attempt: 1 });
});

test("a run that kills its worker thread again and again is given up, and a long call on the same thread is unharmed", async () => {
  await using tools = startToolServer();
  await using model = startModelServer();
  const environment = { ...stubConnection(model.url), RUNNEL_FAILPOINT: "before_effect.tool_call:1:throw" };
  await using server = await startRunnel({ environment, flags: ["--workers", "1", "--log-format", "json"] });
  const long = await startRun(server, await createAgent(server, "never-answers"));
  const poison = await startPoison(server, tools.url);
  expect(await ended(server, poison)).toMatchObject({ status: "failed", error: { code: "crash_loop" } });
  expect(await server.get(`/v1/runs/${long}`)).toMatchObject({ body: { status: "in_progress" } });
  expect(server.log().match(/worker thread ended/g)).toHaveLength(4);
  const other = await runToEnd(server, await createScripted(server, [{ text: "Fine." }]));
  expect(other).toMatchObject({ status: "completed", output: "Fine." });
  expect(await server.post(`/v1/runs/${long}/cancel`)).toMatchObject({ body: { status: "cancelled" } });
});

/** Resolves when the run waits for its next output. */
async function waits(server: Runnel, id: string): Promise<void> {
  const { body: events } = await server.get(`/v1/runs/${id}/events?limit=100`);
  const { body: run } = await server.get(`/v1/runs/${id}`);
  if (run.status === "requires_action") return;
  await using stream = await server.stream(`/v1/runs/${id}/events`, { after: events.last_id });
  await stream.until("run.requires_action");
}
