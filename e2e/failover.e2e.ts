import { expect, test } from "bun:test";
import { textsOf } from "./event-stream.ts";
import { createTool, stubConnection } from "./fixtures.ts";
import { type Json, type Runnel, startRunnel } from "./harness.ts";
import { startModelServer } from "./model-server.ts";
import { startToolServer } from "./tool-server.ts";

// Several models of an agent, on the executable: the first model's server is away, or dies, or the process does.

const spare = (url: string): Record<string, string> => ({
  RUNNEL_MODEL_SPARE_BASE_URL: url,
  RUNNEL_MODEL_SPARE_API_KEY: "none",
});

const models = (first: string, second: string) => [
  `openai_compatible/stub/${first}`,
  `openai_compatible/spare/${second}`,
];

async function agentOf(server: Runnel, named: string[], more: Json = {}): Promise<string> {
  const { body } = await server.post("/v1/agents", {
    name: "Clerk",
    instructions: "Be brief.",
    models: named,
    ...more,
  });
  expect(body).toMatchObject({ object: "agent", model: named[0], models: named });
  return body.id;
}

const modelsIn = async (server: Runnel, id: string): Promise<string[]> =>
  (await server.get(`/v1/traces/${id}`)).body.steps.flatMap(({ type, model }: Json) =>
    type === "model_call" ? [model] : [],
  );

test("a model server that dies in mid-stream fails no run: its text is void, and the next model's is the output", async () => {
  const first = startModelServer();
  await using second = startModelServer();
  await using server = await startRunnel({ environment: { ...stubConnection(first.url), ...spare(second.url) } });
  const named = models("half-40-0", "words-5-0");
  const agent_id = await agentOf(server, named);
  await using stream = await server.stream("/v1/runs", { body: { agent_id, input: "Go", stream: true } });
  const { data } = await stream.until((frame) => frame.event === "token" && frame.data.offset > 20);
  await first[Symbol.asyncDispose]();
  const frames = await stream.rest();
  const { body: run } = await server.get(`/v1/runs/${data.run_id}`);
  expect([run.status, run.models]).toEqual(["completed", named]);
  expect(textsOf(frames)).toEqual([run.output]);
  expect(frames.filter(({ event, data }) => event === "step.restarted" && data.model === named[1])).toHaveLength(1);
  expect(await modelsIn(server, run.id)).toEqual([named[1]!]);
});

test("kill -9 between the move and the answer: the run continues with the model that it had chosen, and no tool runs twice", async () => {
  const first = startModelServer();
  await first[Symbol.asyncDispose]();
  await using second = startModelServer();
  await using tools = startToolServer();
  const environment = {
    ...stubConnection(first.url),
    ...spare(second.url),
    RUNNEL_FAILPOINT: "after_failover.model_call",
  };
  await using server = await startRunnel({ environment });
  const { id: tool_id } = await createTool(server, { url: `${tools.url}/seen` });
  const named = models("words-3-0", "turns-0");
  const agent_id = await agentOf(server, named, { tools: [tool_id] });
  const { body } = await server.post("/v1/runs", { agent_id, input: "Go" });
  await server.died();
  await server.restart({ ...stubConnection(first.url), ...spare(second.url) });
  const ended = await settled(server, body.id);
  expect(ended).toMatchObject({ status: "completed", attempt: 2 });
  expect(new Set(await modelsIn(server, body.id))).toEqual(new Set([named[1]!]));
  expect(ended.tool_calls.every(({ attempts }: Json) => attempts === 1)).toBe(true);
  const { steps } = (await server.get(`/v1/traces/${body.id}`)).body;
  expect(steps[0].retries.map(({ model }: Json) => model ?? null)).toEqual([named[0], null]);
});

test("while a server is away, runs of all worker threads use the next model at once, and doctor and metrics say so", async () => {
  const first = startModelServer();
  await first[Symbol.asyncDispose]();
  await using second = startModelServer();
  const environment = { ...stubConnection(first.url), ...spare(second.url) };
  await using server = await startRunnel({ environment });
  const agent_id = await agentOf(server, models("words-3-0", "words-3-0"));
  const start = async () => (await server.post("/v1/runs?wait=60", { agent_id, input: "Go" })).body;
  const runs = await Promise.all(Array.from({ length: 20 }, start));
  expect(runs.map(({ status }) => status)).toEqual(Array.from({ length: 20 }, () => "completed"));
  const { retries } = (await server.get(`/v1/traces/${(await start()).id}`)).body.steps[0];
  expect(retries.map(({ reason }: Json) => reason.code)).toEqual(["model_circuit_open"]);
  expect(await (await server.fetch("/metrics")).text()).toContain(
    'runnel_model_circuits_open{connection="openai_compatible/stub"} 1',
  );
  const { stdout } = await server.command("doctor", "--json");
  const { result, detail } = JSON.parse(stdout).findings.find(({ check }: Json) => check === "models");
  expect([result, detail]).toEqual([
    "warn",
    expect.stringContaining("openai_compatible/stub/words-3-0 has not answered"),
  ]);
});

async function settled(server: Runnel, id: string): Promise<Json> {
  for (;;) {
    const { body } = await server.get(`/v1/runs/${id}`);
    if (body.status !== "in_progress" && body.status !== "queued") return body;
    await Bun.sleep(20);
  }
}
