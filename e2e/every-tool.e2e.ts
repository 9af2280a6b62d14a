import { afterAll, beforeAll, expect, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { inProject } from "../scripts/root.ts";
import { startMcpServer } from "../server/testing/mcp-server.ts";
import { type Runnel, startRunnel } from "./harness.ts";

// A program of the documentation, run as a reader would: one run that uses a tool of every type.

let server: Runnel;
let mcp: ReturnType<typeof startMcpServer>;
beforeAll(async () => {
  server = await startRunnel();
  mcp = startMcpServer();
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  await mcp[Symbol.asyncDispose]();
});

const program = readFileSync(inProject("server/docs/files/every-tool.mjs"), "utf8");

/** Runs the program as a reader's shell would. */
async function runProgram() {
  const [file, ca] = [join(server.folder, "every-tool.mjs"), join(server.folder, "ca.pem")];
  writeFileSync(file, program);
  writeFileSync(ca, server.ca!);
  const child = Bun.spawn(["node", file], {
    env: {
      PATH: process.env.PATH,
      NODE_EXTRA_CA_CERTS: ca,
      RUNNEL_URL: server.url,
      RUNNEL_API_KEY: server.keys.test,
      MCP_URL: mcp.url,
    },
    stdout: "pipe",
    stderr: "pipe",
  });
  const [stdout, stderr] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
  return { code: await child.exited, stdout, stderr };
}

test("the program lets one agent use a tool of every type, within its budget", async () => {
  const { code, stdout, stderr } = await runProgram();
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  const [analyse, ...lines] = stdout.trim().split("\n");
  expect(analyse).toStartWith('code analyse {"result":{"total":42},"files":[{"id":"file_');
  expect(lines).toEqual([
    'http rate {"eur":0.9}',
    'mcp calc_add {"sum":42}',
    'http pay {"paid":true}',
    'webhook book {"booked":"fri"}',
    'agent write "Sales are up."',
    'client greet "Hello Ada"',
    "# Sales",
    "2 days, 42.00 USD",
  ]);
  const { body } = await server.get("/v1/runs");
  const run = body.data.find(({ parent_run_id }: { parent_run_id: string | null }) => parent_run_id === null);
  expect(run).toMatchObject({
    status: "completed",
    output: "All done.",
    budget: { max_tool_calls: 7, max_total_tokens: 50_000, max_wall_ms: 120_000 },
    usage: { tool_calls: 7 },
  });
  expect(run.usage.total_tokens).toBeLessThan(50_000);
  const { steps } = (await server.get(`/v1/traces/${run.id}`)).body;
  expect(steps.map(({ type }: { type: string }) => type)).toEqual([
    "model_call",
    "tool_call",
    "tool_call",
    "tool_call",
    "model_call",
    "tool_call",
    "model_call",
    "tool_call",
    "subagent",
    "tool_call",
    "model_call",
  ]);

  // The same with one tool call too few: that turn's calls are not made.
  const again = { agent_id: run.agent_id, input: "Again.", budget: { max_tool_calls: 2 } };
  const { body: short } = await server.post("/v1/runs?wait=60", again);
  expect(short).toMatchObject({ status: "failed", error: { code: "budget_exceeded" }, output: "Counting. " });
  expect(short.tool_calls.map(({ status }: { status: string }) => status)).toEqual(Array(3).fill("cancelled"));
}, 180_000);
