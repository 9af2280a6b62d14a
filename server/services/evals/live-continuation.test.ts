import { expect, test } from "bun:test";
import { echoRun, runSuite, suiteOf, weatherAgent, weatherRun } from "../../testing/suites.ts";
import { testApp } from "../../testing/test-app.ts";
import { budgetLeft, skippedResult } from "./live-continuation.ts";
import type { LiveResult } from "./row.ts";

test("live, a diverged case continues as a fork, and tools are answered from the record", async () => {
  await using server = testApp();
  const client = await server.client();
  const { agent } = await weatherAgent(client);
  const run = await weatherRun(client, agent);
  const suite = await suiteOf(client, [run]);
  await client.patch(`/v1/agents/${agent}`, { instructions: "Sing it." });
  const { status, cases, live } = await runSuite(client, suite, { live: { max_cost_usd: 1 } });
  expect([status, live]).toEqual(["diverged", { max_cost_usd: 1 }]);
  expect(cases[0].live).toMatchObject({
    status: "completed",
    output_equal: true,
    output: "21 degrees.",
    error: null,
    diff: { equal: expect.any(Number), changed: expect.any(Number), only_a: 0, only_b: 0 },
  });
  const fork = (await client.get(`/v1/runs/${cases[0].live.run_id}`)).body;
  expect(fork).toMatchObject({ origin: "fork", forked_from: { run_id: run, step_index: -1 }, agent_version: 2 });
  expect(fork.tool_calls).toMatchObject([{ name: "weather", output: { celsius: 21 } }]);
  expect(fork.budget).toEqual({ max_cost_usd: 1 });
});

test("live, a different output is reported", async () => {
  await using server = testApp();
  const client = await server.client();
  const { agent } = await weatherAgent(client);
  const suite = await suiteOf(client, [await weatherRun(client, agent)]);
  const script = [{ tool_calls: [{ name: "weather", arguments: { city: "Oslo" } }] }, { text: "Warm!" }];
  await client.patch(`/v1/agents/${agent}`, { instructions: "Sing it.", model_settings: { script } });
  const { cases } = await runSuite(client, suite, { live: {} });
  expect(cases[0].live).toMatchObject({ status: "completed", output_equal: false, output: "Warm!" });
});

test("live, a call that the record does not know and that needs an answer ends the fork", async () => {
  await using server = testApp();
  const client = await server.client();
  const { agent } = await weatherAgent(client);
  const suite = await suiteOf(client, [await weatherRun(client, agent)]);
  const script = [{ tool_calls: [{ name: "weather", arguments: { city: "Bergen" } }] }, { text: "Warm!" }];
  await client.patch(`/v1/agents/${agent}`, { instructions: "Sing it.", model_settings: { script } });
  const { cases } = await runSuite(client, suite, { live: {} });
  expect(cases[0].live).toMatchObject({ status: "cancelled", output_equal: false });
});

test("live, the number of cases is limited, and each gets the budget left by the others", async () => {
  await using server = testApp();
  const client = await server.client();
  const { agent } = await weatherAgent(client);
  const suite = await suiteOf(client, [await weatherRun(client, agent), await weatherRun(client, agent)]);
  await client.patch(`/v1/agents/${agent}`, { instructions: "Sing it." });
  const one = await runSuite(client, suite, { live: { max_runs: 1 } });
  expect(one.cases.map((each: { live: { status: string } }) => each.live.status)).toEqual(["completed", "skipped"]);
  expect(one.cases[1].live).toMatchObject({ run_id: null, error: { code: "max_runs_reached" } });
  const { cases } = await runSuite(client, suite, { live: { max_total_tokens: 100_000 } });
  const [first, second] = cases.map(({ live }: { live: object }) => live);
  expect(first.total_tokens).toBeGreaterThan(0);
  const fork = (await client.get(`/v1/runs/${second.run_id}`)).body;
  expect(fork.budget).toEqual({ max_total_tokens: 100_000 - first.total_tokens });
  const poor = await runSuite(client, suite, { live: { max_total_tokens: 1 } });
  expect(poor.cases[0].live).toMatchObject({ status: "failed", error: { code: "budget_exceeded" }, total_tokens: 0 });
});

test("live, equal cases cost nothing", async () => {
  await using server = testApp();
  const client = await server.client();
  const suite = await suiteOf(client, [(await echoRun(client)).run]);
  const { status, cases } = await runSuite(client, suite, { live: {} });
  expect([status, cases[0].live]).toEqual(["passed", null]);
  expect(server.db.sqlite.query("SELECT count(*) AS n FROM runs").get()).toEqual({ n: 1 });
});

test("live, an unknown cost of a fork counts as all of the budget", () => {
  const fork = (cost_usd: number | null, total_tokens: number | null): LiveResult => ({
    ...skippedResult("none", ""),
    run_id: "run_1",
    status: "completed",
    cost_usd,
    total_tokens,
  });
  expect(budgetLeft({ max_runs: 3 }, [fork(null, null)])).toEqual({});
  expect(budgetLeft({ max_cost_usd: 0.3 }, [fork(0.1, 5), fork(0.1, null)])).toEqual({ max_cost_usd: 0.1 });
  expect(budgetLeft({ max_cost_usd: 0.3 }, [fork(0.1, 5), fork(0.2, 5)])).toBeNull();
  expect(budgetLeft({ max_cost_usd: 1 }, [fork(null, 5)])).toBeNull();
  expect(budgetLeft({ max_cost_usd: 1, max_total_tokens: 10 }, [fork(0, null)])).toBeNull();
});

test("live, cancelling a suite run cancels its fork, and its cost is recorded", async () => {
  await using server = testApp();
  const client = await server.client();
  const { agent } = await weatherAgent(client);
  const suite = await suiteOf(client, [await weatherRun(client, agent)]);
  const script = [{ text: "word ".repeat(10_000), delta_ms: 20 }];
  await client.patch(`/v1/agents/${agent}`, { instructions: "Sing it.", model_settings: { script } });
  const path = `/v1/suites/${suite}/runs`;
  const { id } = (await client.post(path, { live: {} })).body;
  const forkOf = async () => (await client.get("/v1/runs?origin=fork")).body.data[0];
  while ((await forkOf())?.status !== "in_progress") await Bun.sleep(1);
  const { body } = await client.post(`${path}/${id}/cancel`);
  const fork = await forkOf();
  expect([body.status, fork.status]).toEqual(["cancelled", "cancelled"]);
  expect(body.cases[0]).toMatchObject({ status: "pending", live: { run_id: fork.id, status: "cancelled" } });
});

test("live, a fork whose agent cannot start is reported, and the suite run still ends", async () => {
  await using server = testApp({ environment: { OPENAI_API_KEY: "none" } });
  const client = await server.client();
  const { agent, run } = await echoRun(client);
  const suite = await suiteOf(client, [run]);
  server.db.sqlite.query("UPDATE agents SET model = 'gone/model' WHERE id = ?").run(agent);
  const { status, cases } = await runSuite(client, suite, { live: {} });
  expect([status, cases[0].status]).toEqual(["diverged", "diverged"]);
  expect(cases[0].live.status).not.toBe("completed");
  expect(cases[0].live.error).not.toBeNull();
});
