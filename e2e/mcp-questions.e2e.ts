import { afterAll, beforeAll, expect, test } from "bun:test";
import { inProject } from "../scripts/root.ts";
import { startMcpServer } from "../server/testing/mcp-server.ts";
import { createScripted } from "./fixtures.ts";
import { type Json, type Runnel, startRunnel } from "./harness.ts";
import { waitUntil } from "./until.ts";

// Questions of MCP servers to the user, on the executable with its worker threads.

let server: Runnel;
let mcp: ReturnType<typeof startMcpServer>;
beforeAll(async () => {
  const command = JSON.stringify([process.execPath, inProject("server/testing/mcp-server.ts")]);
  server = await startRunnel({ environment: { RUNNEL_MCP_TESTS_COMMAND: command } });
  mcp = startMcpServer();
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  await mcp[Symbol.asyncDispose]();
});

const accept = { action: "accept", content: { name: "Ada" } };
let count = 0;

/** Starts runs that each ask the user, and returns them while they wait. */
async function asking(number: number, tool: object = {}): Promise<Json[]> {
  const name = `s${++count}`;
  const { body } = await server.post("/v1/tools", { name, type: "mcp", server_url: mcp.url, ...tool });
  const script = [{ tool_calls: [{ name: `${name}_elicit`, arguments: {} }] }, { text: "Done." }];
  const agent_id = await createScripted(server, script, { tools: [body.id] });
  const start = async () => (await server.post("/v1/runs?wait=30", { agent_id, input: "Go" })).body;
  const runs = await Promise.all(Array.from({ length: number }, start));
  expect(runs.map(({ status }) => status)).toEqual(runs.map(() => "requires_action"));
  return runs;
}

async function answer(run: Json, elicitation: object): Promise<Json> {
  const [call] = run.required_action.submit_tool_outputs.tool_calls;
  const tool_outputs = [{ tool_call_id: call.tool_call_id, elicitation }];
  const { status } = await server.post(`/v1/runs/${run.id}/submit_tool_outputs`, { tool_outputs });
  expect(status).toBe(200);
  let body: Json = run;
  await waitUntil(async () => {
    ({ body } = await server.get(`/v1/runs/${run.id}`));
    return body.status !== "in_progress";
  });
  return body;
}

test("each of many waiting runs goes on in the worker that has its call, with its own answer", async () => {
  const runs = await asking(12);
  const ended = await Promise.all(runs.map((run, at) => answer(run, { ...accept, content: { name: `user ${at}` } })));
  expect(ended.map(({ status, tool_calls: [call] }) => [status, JSON.parse(call.output).content.name])).toEqual(
    runs.map((_, at) => ["completed", `user ${at}`]),
  );
});

test("a local server asks too", async () => {
  const [run] = await asking(1, { server_url: "stdio:tests" });
  expect(await answer(run!, accept)).toMatchObject({
    status: "completed",
    tool_calls: [{ output: JSON.stringify(accept) }],
  });
});

test.each<[string, object, object]>([
  ["ends with a clear error", {}, { status: "failed", error: { code: "elicitation_lost" } }],
  [
    "is made again and gets the answer",
    { on_unknown: "retry" },
    { status: "completed", output: JSON.stringify(accept) },
  ],
])("after kill -9 a run still waits, and after the answer its call %s", async (_, tool, outcome) => {
  const [run] = await asking(1, tool);
  await server.kill9();
  await server.restart();
  const { body } = await server.get(`/v1/runs/${run!.id}`);
  expect(body).toMatchObject({ status: "requires_action", required_action: run!.required_action });
  expect(await answer(run!, accept)).toMatchObject({ status: "completed", output: "Done.", tool_calls: [outcome] });
});
