import { expect, test } from "bun:test";
import { createAgent, runToEnd, stubConnection } from "./fixtures.ts";
import { type Json, startRunnel } from "./harness.ts";
import { startModelServer } from "./model-server.ts";

// Costs of models and usage of runs, on the executable.

test("a price set while the server runs applies from the next request on, and a removed one no longer", async () => {
  await using server = await startRunnel();
  const prices = (...args: string[]) => server.command("models", "prices", ...args, "--json");
  const shown = async (id: string): Promise<Json | null> =>
    (await server.get("/v1/models")).body.data.find((model: Json) => model.id === id) ?? null;
  const model = "openai_compatible/gpu/llama";
  expect(await shown(model)).toBeNull();
  const { code, stdout } = await prices("set", model, "--input", "0.25", "--output", "1");
  expect([code, JSON.parse(stdout)]).toEqual([
    0,
    { model, input: 0.25, cached_input: 0.25, output: 1, context_window: null },
  ]);
  expect(await shown(model)).toMatchObject({ prices: { input: 0.25, output: 1, source: "operator" } });
  expect((await prices("reset", model)).code).toBe(0);
  expect(await shown(model)).toBeNull();
});

test("the usage of a run is counted once, though the server was killed during its model call", async () => {
  await using model = startModelServer();
  await using server = await startRunnel({ environment: stubConnection(model.url) });
  const agent_id = await createAgent(server, "half-60-10");
  await using stream = await server.stream("/v1/runs", { body: { agent_id, input: "Go.", stream: true } });
  const { data } = await stream.until((frame) => frame.event === "token" && frame.data.offset > 50);
  await server.kill9();
  model.release();
  await server.restart();
  await using later = await server.stream(`/v1/runs/${data.run_id}/events`);
  await later.rest();
  const whole = await runToEnd(server, agent_id);
  const { body: recovered } = await server.get(`/v1/runs/${data.run_id}`);
  expect(recovered).toMatchObject({ status: "completed", attempt: 2 });
  const totals = { runs: { started: 2, completed: 2, failed: 0, cancelled: 0 }, model_calls: 2 };
  const total_tokens = whole.usage.total_tokens + recovered.usage.total_tokens;
  expect((await server.get("/v1/usage?group_by=agent")).body).toMatchObject({
    data: [{ agent_id, total_tokens, ...totals }],
    totals: { total_tokens, ...totals },
  });
});
