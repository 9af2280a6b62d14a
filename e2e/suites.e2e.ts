import { expect, test } from "bun:test";
import { freePort } from "../server/testing/free-port.ts";
import { createAgent, createTool, runToEnd, stubConnection } from "./fixtures.ts";
import { type CommandResult, executable, type Json, type Runnel, runCommand, startRunnel } from "./harness.ts";
import { startModelServer } from "./model-server.ts";
import { startToolServer } from "./tool-server.ts";

// Suites on a build server: the executable's command against a running server.

const inSuite = (server: Runnel, ...args: string[]): Promise<CommandResult> => server.command("suite", ...args);

async function pin(server: Runnel, name: string, runs: readonly Json[]): Promise<Json> {
  const { code, stdout } = await inSuite(server, "create", name, ...runs.map(({ id }) => id), "--json");
  expect(code).toBe(0);
  return JSON.parse(stdout);
}

async function change(server: Runnel, agent: string, body: object): Promise<void> {
  const { status } = await server.fetch(`/v1/agents/${agent}`, { method: "PATCH", body: JSON.stringify(body) });
  expect(status).toBe(200);
}

/** Waits for the end of a suite run. */
async function ended(server: Runnel, { suite_id, id }: Json): Promise<Json> {
  for (;;) {
    const { body } = await server.get(`/v1/suites/${suite_id}/runs/${id}`);
    if (body.status !== "in_progress") return body;
    await Bun.sleep(20);
  }
}

const count = async (server: Runnel, path: string): Promise<number> => (await server.get(path)).body.data.length;

test("a build passes, fails when the agent changes, and shows the model's new answers", async () => {
  await using model = startModelServer();
  await using tools = startToolServer();
  await using server = await startRunnel({ environment: stubConnection(model.url) });
  const tool = await createTool(server, { url: `${tools.url}/slow/0` });
  const agent = await createAgent(server, "turns-0", { tools: [tool.id] });
  const runs = [await runToEnd(server, agent), await runToEnd(server, agent)];
  expect(runs.map(({ status }) => status)).toEqual(["completed", "completed"]);
  const suite = await pin(server, "weather", runs);
  expect((await inSuite(server, "list")).stdout).toContain(`${suite.id}  weather`);

  const asked = [model.requests.length, tools.calls.length];
  const passed = await inSuite(server, "run", "weather");
  expect(passed).toMatchObject({ code: 0, stderr: "" });
  expect(passed.stdout).toMatch(/^✓ run_\w+ {2}3 steps equal\n✓ .*\npassed: 2 of 2 cases equal, 0 diverged, 0 failed/);

  await change(server, agent, { instructions: "Be verbose." });
  const diverged = await inSuite(server, "run", suite.id);
  expect(diverged).toMatchObject({ code: 1, stderr: "" });
  expect(diverged.stdout).toMatch(
    /✗ run_\w+ {2}step 0, prompt: .*\ndiverged: 0 of 2 cases equal, 2 diverged, 0 failed/,
  );
  expect([model.requests.length, tools.calls.length]).toEqual(asked as [number, number]);
  expect(await count(server, "/v1/runs")).toBe(2);

  const live = await inSuite(server, "run", "weather", "--live", "--max-runs", "1", "--json");
  expect([live.code, live.stderr]).toEqual([1, ""]);
  const { cases } = JSON.parse(live.stdout);
  expect(cases[0].live).toMatchObject({ status: "completed", output_equal: true, diff: { only_a: 0, only_b: 0 } });
  expect(cases[1].live).toMatchObject({ status: "skipped", run_id: null, error: { code: "max_runs_reached" } });
  // The model was called for each of its turns; the tool's output is the recorded one.
  expect([model.requests.length, tools.calls.length]).toEqual([asked[0]! + 2, asked[1]!]);

  await server.fetch(`/v1/agents/${agent}`, { method: "DELETE" });
  const failed = await inSuite(server, "run", "weather");
  expect([failed.code, failed.stdout]).toEqual([1, expect.stringContaining("The agent was deleted.")]);
});

test("live cases together stay within the budget", async () => {
  await using model = startModelServer();
  await using server = await startRunnel({ environment: stubConnection(model.url) });
  const name = "openai_compatible/stub/words-50-0";
  await server.command("models", "prices", "set", name, "--input", "10", "--output", "10");
  const agent = await createAgent(server, "words-50-0");
  const runs = [await runToEnd(server, agent), await runToEnd(server, agent), await runToEnd(server, agent)];
  await pin(server, "words", runs);
  await change(server, agent, { instructions: "Be verbose.", model_settings: { max_output_tokens: 60 } });
  const before = model.requests.length;
  const { code, stdout } = await inSuite(server, "run", "words", "--live", "--max-cost-usd", "0.002");
  expect(code).toBe(1);
  expect(stdout).toMatch(/the same output \(run_\w+, \$0\.0007\)/);
  expect(stdout).toMatch(/budget/);
  const { body } = await server.get("/v1/runs?origin=fork");
  const cost = body.data.reduce((sum: number, { usage }: Json) => sum + usage.cost_usd, 0);
  expect(cost).toBeLessThanOrEqual(0.002);
  expect(cost).toBeGreaterThan(0);
  expect(model.requests.length - before).toBeLessThan(3);
});

test("exit code 2 means no result: wrong usage, a refusal, or no server", async () => {
  await using server = await startRunnel();
  const told = async (args: string[], environment: Record<string, string> = {}): Promise<[number, string]> => {
    const env = { ...process.env, RUNNEL_API_KEY: server.keys.test, RUNNEL_DATA_DIR: server.dataDir, ...environment };
    const { code, stderr } = await runCommand(["suite", ...args], {
      cwd: server.cwd,
      env: env as Record<string, string>,
    });
    return [code, stderr];
  };
  const says = (text: string) => [2, expect.stringContaining(text)] as [number, string];
  expect(await told(["run"])).toEqual(says("suite"));
  expect(await told(["run", "x", "--max-cost-usd", "1"])).toEqual(says("--live"));
  expect(await told(["run", "x", "--timeout", "soon"])).toEqual(says("--timeout"));
  expect(await told(["run", "missing"])).toEqual(says('There is no suite "missing".'));
  expect(await told(["run", "missing"], { RUNNEL_API_KEY: "rk_test_wrong" })).toEqual(says("key"));
  expect(await told(["create", "x", "run_nonsense"])).toEqual(says("run_ids"));
  const gone = await told(["run", "x"], { RUNNEL_URL: "https://127.0.0.1:1" });
  expect(gone).toEqual(says("The server at https://127.0.0.1:1 cannot be reached"));
  expect(gone[1].trim().split("\n")).toHaveLength(1);
});

test("a build that takes too long is cancelled, with the forks that it started", async () => {
  await using model = startModelServer();
  await using server = await startRunnel({ environment: stubConnection(model.url) });
  const agent = await createAgent(server, "words-5-0");
  await pin(server, "slow", [await runToEnd(server, agent)]);
  await change(server, agent, { model: "openai_compatible/stub/words-5000-20" });
  const { code, stderr } = await inSuite(server, "run", "slow", "--live", "--timeout", "10s");
  expect([code, stderr]).toEqual([2, expect.stringContaining("was not over in time and is cancelled")]);
  await model.requests.at(-1)!.aborted;
  const { body } = await server.get("/v1/runs?origin=fork");
  expect(body.data).toMatchObject([{ status: "cancelled" }]);
});

test("a suite run continues after kill -9, with the fork that it had started, and the build waits for it", async () => {
  await using model = startModelServer();
  const flags = ["--port", String(freePort())]; // The build keeps its address.
  await using server = await startRunnel({ environment: stubConnection(model.url), flags });
  const agent = await createAgent(server, "words-40-0");
  await pin(server, "words", [await runToEnd(server, agent), await runToEnd(server, agent)]);
  await change(server, agent, { model: "openai_compatible/stub/words-40-20" });
  const build = inSuite(server, "run", "words", "--live", "--json");
  while (model.count("words-40-20") === 0) await Bun.sleep(5);
  await server.kill9();
  await server.restart();
  const { code, stdout } = await build;
  expect(code).toBe(1);
  const done = JSON.parse(stdout);
  expect(done).toMatchObject({ status: "diverged", counts: { total: 2, pending: 0, diverged: 2 } });
  for (const { live } of done.cases) expect(live).toMatchObject({ status: "completed", output_equal: true });
  const { body } = await server.get("/v1/runs?origin=fork&order=asc");
  expect(body.data.map(({ id }: Json) => id)).toEqual(done.cases.map(({ live }: Json) => live.run_id));
});

test("Ctrl-C cancels a suite run and its current fork", async () => {
  await using model = startModelServer();
  await using server = await startRunnel({ environment: stubConnection(model.url) });
  const agent = await createAgent(server, "words-5-0");
  await pin(server, "slow", [await runToEnd(server, agent)]);
  await change(server, agent, { model: "openai_compatible/stub/words-5000-20" });
  const env = { ...process.env, RUNNEL_API_KEY: server.keys.test, RUNNEL_DATA_DIR: server.dataDir };
  const build = Bun.spawn([executable, "suite", "run", "slow", "--live"], { env, stdout: "pipe", stderr: "ignore" });
  while (model.count("words-5000-20") === 0) await Bun.sleep(5);
  build.kill("SIGINT");
  expect(await new Response(build.stdout).text()).toMatch(/\n {2}live: cancelled \(run_.*\ncancelled: /);
  expect(await build.exited).toBe(2);
  await model.requests.at(-1)!.aborted;
});

test.each(["before_suite.case:2", "after_suite.case:2"])(
  "a process that dies at %s leaves a suite run that ends",
  async (failpoint) => {
    await using server = await startRunnel({ environment: { RUNNEL_FAILPOINT: failpoint } });
    const agent = await createAgent(server, "test/echo");
    const suite = await pin(server, "echo", await three(server, agent));
    const begun = server.post(`/v1/suites/${suite.id}/runs`, {}).catch(() => {}); // The response may be lost.
    expect(await server.died()).toBe("SIGKILL");
    await begun;
    await server.restart({});
    const { data } = (await server.get(`/v1/suites/${suite.id}/runs`)).body;
    expect(data).toHaveLength(1);
    expect(await ended(server, data[0])).toMatchObject({ status: "passed", counts: { total: 3, equal: 3 } });
  },
);

const three = async (server: Runnel, agent: string): Promise<Json[]> => [
  await runToEnd(server, agent),
  await runToEnd(server, agent),
  await runToEnd(server, agent),
];
