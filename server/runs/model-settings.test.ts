import { afterAll, beforeAll, expect, test } from "bun:test";
import type { ConnectionProvider } from "../domain/providers.ts";
import { modelPrefix } from "../runtime/models/registry.ts";
import { type ProviderRequest, startProviders } from "../testing/provider-server.ts";
import { wires } from "../testing/provider-wire.ts";
import { testActor } from "../testing/test-actor.ts";
import { type Client, type TestApp, testApp } from "../testing/test-app.ts";

type Say = (asked: ProviderRequest) => Response | string[];

/** Answers by model, and the requests that each model got. */
const answers = new Map<string, Say>();
const requests = new Map<string, ProviderRequest[]>();
const providers = startProviders((asked) => {
  const model = asked.body.model ?? /models\/([^:]+)/.exec(asked.request.url)?.[1];
  requests.set(model, [...(requests.get(model) ?? []), asked]);
  return answers.get(model)!(asked);
});

let server: TestApp;
let client: Client;
beforeAll(async () => {
  server = testApp();
  client = await server.client();
  for (const connection of providers.connections) await server.connections.put(connection, testActor);
  await client.put("/v1/secrets/TEAM_KEY", { value: "canary-4711-value" });
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  await providers[Symbol.asyncDispose]();
});

const hello: Say = ({ provider }) => [wires[provider].begin(), wires[provider].text("Hello."), wires[provider].end()];

function modelOf(provider: ConnectionProvider, say: Say = hello): { model: string; asked: () => ProviderRequest[] } {
  const name = `m-${crypto.randomUUID()}`;
  answers.set(name, say);
  const model = `${modelPrefix(providers.connectionOf(provider))}/${name}`;
  return { model, asked: () => requests.get(name) ?? [] };
}

async function run(model: string, model_settings: object, more: object = {}) {
  const agent = await client.post("/v1/agents", {
    name: "a",
    instructions: "Be brief.",
    model,
    model_settings,
    ...more,
  });
  expect(agent.status).toBe(201);
  const { body } = await client.post("/v1/runs?wait=60", { agent_id: agent.body.id, input: "Hi." });
  const trace = (await client.get(`/v1/traces/${body.id}?include=raw,prompt`)).body;
  return { run: body, trace, agent: agent.body };
}

test.each<[ConnectionProvider, object, string]>([
  ["openai", { seed: 7 }, "seed"],
  ["openai", { stop: ["END"] }, "stop"],
  ["anthropic", { seed: 7 }, "seed"],
  ["google", { parallel_tool_calls: false }, "parallel_tool_calls"],
  ["deepseek", { seed: 7 }, "seed"],
])("an agent of %s with %j is refused when it is saved", async (provider, model_settings, name) => {
  const { model } = modelOf(provider);
  const agent = { name: "a", instructions: "", model };
  const refused = await client.post("/v1/agents", { ...agent, model_settings });
  expect([refused.status, refused.body.error.param]).toEqual([400, `model_settings.${name}`]);
  const { body: saved } = await client.post("/v1/agents", agent);
  expect((await client.patch(`/v1/agents/${saved.id}`, { model_settings })).body.error.param).toBe(
    `model_settings.${name}`,
  );
  const { body: other } = await client.post("/v1/agents", { ...agent, model: "test/echo", model_settings });
  expect((await client.patch(`/v1/agents/${other.id}`, { model })).body.error.param).toBe(`model_settings.${name}`);
});

test.each<[ConnectionProvider, object, string[]]>([
  ["openai", { seed: 7, stop: ["END"] }, ["seed", "stop"]],
  ["anthropic", { seed: 7 }, ["seed", "max_output_tokens"]], // The limit of a model that the SDK does not know.
  ["deepseek", { seed: 7 }, ["seed"]],
  ["groq", { reasoning_effort: "high" }, ["reasoning_effort"]],
  ["mistral", { reasoning_effort: "low" }, ["reasoning_effort"]],
])("a run of %s that is given %j names in its trace which of them were not sent", async (provider, settings, names) => {
  const { model, asked } = modelOf(provider);
  const { body: agent } = await client.post("/v1/agents", { name: "a", instructions: "", model });
  const order = { agent_id: agent.id, input: "Hi.", overrides: { model_settings: settings } };
  const { body } = await client.post("/v1/runs?wait=60", order);
  expect([body.status, body.output]).toEqual(["completed", "Hello."]);
  const [step] = (await client.get(`/v1/traces/${body.id}`)).body.steps;
  expect(step.adjustments.map(({ field }: { field: string }) => field)).toEqual(names);
  expect(asked()).toHaveLength(1);
});

test("a step without a difference has no adjustments", async () => {
  const { trace } = await run(modelOf("mistral").model, { seed: 7, temperature: 0.5 });
  expect(trace.steps[0]).not.toHaveProperty("adjustments");
});

test("what a server refuses is in the trace of the run that learnt it", async () => {
  const { model, asked } = modelOf("openai_compatible", (each) =>
    "stream_options" in each.body
      ? Response.json({ error: { message: "Unrecognized request argument supplied: stream_options" } }, { status: 400 })
      : hello(each),
  );
  const { run: body, trace } = await run(model, {});
  expect(body.output).toBe("Hello.");
  expect(trace.steps[0].adjustments).toEqual([
    { field: "stream_options", message: "The server refused stream_options, so it was not sent." },
  ]);
  expect(asked()).toHaveLength(2);
});

test("a budget holds behind a gateway that takes another name for the limit", async () => {
  const refuse = () =>
    Response.json(
      {
        error: {
          message: "Unsupported parameter: 'max_tokens' is not supported with this model.",
          param: "max_tokens",
        },
      },
      { status: 400 },
    );
  const { model, asked } = modelOf("openai_compatible", (each) => ("max_tokens" in each.body ? refuse() : hello(each)));
  const { run: body } = await run(model, {}, { budget: { max_total_tokens: 2000 } });
  expect([body.status, body.output]).toEqual(["completed", "Hello."]);
  const [first, second] = asked().map((each) => each.body);
  expect(second.max_completion_tokens).toBe(first.max_tokens);
  expect(first.max_tokens).toBeLessThan(2000);
});

const headers = { "x-team": "Team {{secret.TEAM_KEY}}", "x-plain": "blue" };

test("headers with secrets and fields go to no other server, if a run or a fork names a model of another connection", async () => {
  const [own, sibling, other] = [
    modelOf("openai_compatible"),
    modelOf("openai_compatible"),
    modelOf("anthropic"),
  ] as const;
  const model_settings = { seed: 7, headers, extra_body: { top_k: 5 } };
  const { run: first } = await run(own.model, model_settings);
  const overridden = (model: string) =>
    client.post("/v1/runs?wait=60", { agent_id: first.agent_id, input: "Hi.", overrides: { model } });
  await overridden(sibling.model);
  await overridden(other.model);
  await client.post(`/v1/runs/${first.id}/fork?wait=60`, { step_index: -1, edits: { model: other.model } });
  const sent = ({ asked }: typeof own) =>
    asked().map(({ request, body }) => [request.headers.get("x-team"), body.top_k]);
  expect(sent(own)).toEqual([["Team canary-4711-value", 5]]);
  expect(sent(sibling)).toEqual([["Team canary-4711-value", 5]]);
  expect(sent(other)).toEqual([
    [null, undefined],
    [null, undefined],
  ]);
});

test.each<[ConnectionProvider, object, object]>([
  ["openai", { user: "ada" }, { user: "ada" }],
  ["anthropic", { metadata: { userId: "ada" } }, { metadata: { user_id: "ada" } }],
  ["google", { serviceTier: "flex" }, { serviceTier: "flex" }],
  ["openrouter", { provider: { order: ["a"] } }, { provider: { order: ["a"] } }],
  ["openai_compatible", { top_k: 20 }, { top_k: 20 }],
])("headers, fields and options reach %s, and no secret reaches the journal", async (provider, options, sent) => {
  const { model, asked } = modelOf(provider);
  const extra_body = { own_field: { deep: 12345678901234 }, max_price: 3 };
  const { run: body, trace, agent } = await run(model, { headers, extra_body, provider_options: options });
  expect(body.output).toBe("Hello.");
  const [{ request, body: got } = expect.unreachable("no request")] = asked();
  expect([request.headers.get("x-team"), request.headers.get("x-plain")]).toEqual(["Team canary-4711-value", "blue"]);
  expect(got).toMatchObject({ ...extra_body, ...sent });
  expect(JSON.stringify([body, trace, agent])).not.toContain("canary-4711");
  expect(server.db.sqlite.serialize().includes("canary-4711")).toBe(false);
});

test("a secret that a server repeats is hidden in the answer and in its errors", async () => {
  const said = modelOf("openai_compatible", (asked) => {
    const wire = wires[asked.provider];
    return [wire.begin(), wire.text(`You are ${asked.request.headers.get("x-team")}.`), wire.end()];
  });
  const { run: told } = await run(said.model, { headers });
  expect(told.output).toStartWith("You are Team ");
  expect(told.output).not.toContain("canary-4711");
  const refused = modelOf("openai_compatible", ({ request }) =>
    Response.json({ error: { message: `No ${request.headers.get("x-team")}` } }, { status: 400 }),
  );
  const { run: failed, trace } = await run(refused.model, { headers });
  expect(failed.status).toBe("failed");
  expect(JSON.stringify([failed, trace])).not.toContain("canary-4711");
});

test("a run whose agent names a deleted secret fails with its name, and sends nothing", async () => {
  await client.put("/v1/secrets/SHORT_LIVED", { value: "soon-gone-value" });
  const { model, asked } = modelOf("openai_compatible");
  const agent = {
    name: "a",
    instructions: "",
    model,
    model_settings: { headers: { "x-a": "{{secret.SHORT_LIVED}}" } },
  };
  const { body: saved } = await client.post("/v1/agents", agent);
  await client.delete("/v1/secrets/SHORT_LIVED");
  const { body } = await client.post("/v1/runs?wait=60", { agent_id: saved.id, input: "Hi." });
  expect(body.error).toMatchObject({ code: "model_not_available", retryable: false });
  expect(body.error.message).toContain("SHORT_LIVED");
  expect(asked()).toHaveLength(0);
});

test.each<[object, string]>([
  [{ extra_body: { model: "other" } }, "extra_body.model"],
  [{ extra_body: { messages: [] } }, "extra_body.messages"],
  [{ extra_body: { stream: false } }, "extra_body.stream"],
  [{ extra_body: { max_tokens: 9 } }, "extra_body.max_tokens"],
  [{ extra_body: { n: 30 } }, "extra_body.n"],
  [{ extra_body: { generationConfig: { candidateCount: 8 } } }, "extra_body.generationConfig.candidateCount"],
  [{ provider_options: { thinking: { type: "enabled", budgetTokens: 9000 } } }, "provider_options.thinking"],
  [{ headers: { Authorization: "Bearer x" } }, "headers.Authorization"],
  [{ headers: { "X-Api-Key": "x" } }, "headers.X-Api-Key"],
  [{ headers: { "x-a": "{{secret.NONE}}" } }, "headers.x-a"],
  [{ headers: { "x-a": "{{ secret.TEAM_KEY }}" } }, "headers.x-a"],
  [{ headers: { host: "evil" } }, "headers"],
])("%j is refused at its field", async (model_settings, param) => {
  const { model } = modelOf("anthropic");
  const { status, body } = await client.post("/v1/agents", { name: "a", instructions: "", model, model_settings });
  expect([status, body.error.param]).toEqual([400, `model_settings.${param}`]);
});
