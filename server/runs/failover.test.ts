import { afterEach, describe, expect, test } from "bun:test";
import type { TraceStep } from "../domain/api-types/trace.ts";
import { capsuleOf, importCapsule } from "../testing/capsules.ts";
import { visitorOf } from "../testing/console-visitor.ts";
import { breaksOff, calls, hangs, refuses, says, startModelServer } from "../testing/model-servers.ts";
import { testActor } from "../testing/test-actor.ts";
import { type Client, type TestAppOptions, testApp } from "../testing/test-app.ts";

type ModelServer = ReturnType<typeof startModelServer>;

const open: AsyncDisposable[] = [];
afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one[Symbol.asyncDispose]();
});

const server = (...given: Parameters<typeof startModelServer>): ModelServer => {
  const started = startModelServer(...given);
  open.push(started);
  return started;
};

/** Starts a server with these models, and an agent that has them in this order. */
async function openApp(models: ModelServer[], agent: object = {}, options: TestAppOptions = {}) {
  const environment = Object.assign({}, ...models.map((model) => model.environment), options.environment);
  const app = testApp({ ...options, environment });
  open.push(app);
  const client = await app.client();
  const named = models.length > 1 ? { models: models.map(({ model }) => model) } : { model: models[0]?.model };
  const made = await client.post("/v1/agents", { name: "Clerk", instructions: "", ...named, ...agent });
  expect(made.body.error).toBeUndefined();
  return { app, client, agent_id: made.body.id as string };
}

const run = async (client: Client, agent_id: string, more: object = {}) =>
  (await client.post("/v1/runs?wait=60", { agent_id, input: "Hello", ...more })).body;

const stepsOf = async (client: Client, id: string): Promise<TraceStep[]> =>
  (await client.get(`/v1/traces/${id}`)).body.steps;

const price = (input: number, output: number) => ({ input, cached_input: input, output, context_window: null });
const http = (url: string) => ({ name: "look", type: "http", url });

describe("a run moves on to its next model", () => {
  test("if the first one's server is away, and the trace says why and which one answered", async () => {
    const [first, second] = [server("first", () => says("Never.")), server("second", () => says("Hi."))];
    const { client, agent_id } = await openApp([first, second]);
    await first.stop();
    const ran = await run(client, agent_id);
    expect(ran).toMatchObject({
      status: "completed",
      output: "Hi.",
      model: first.model,
      models: [first.model, second.model],
      usage: { model_calls: 2, input_tokens: 100, output_tokens: 10 },
    });
    const [step] = await stepsOf(client, ran.id);
    expect(step).toMatchObject({
      type: "model_call",
      model: second.model,
      name: second.model,
      attempt: 2,
      retries: [{ attempt: 1, model: first.model, reason: { message: "The model's server cannot be reached." } }],
    });
  });

  test.each([
    ["a server error, after one more attempt", () => refuses(500, "broken"), 2],
    ["an overloaded server, after one more attempt", () => refuses(529, "overloaded"), 2],
    ["a rate limit, after its four attempts", () => refuses(429, "slow down", { "retry-after-ms": "1" }), 4],
    ["a rate limit for an hour, at once", () => refuses(429, "slow down", { "retry-after": "3600" }), 1],
    ["an exhausted account, at once", () => refuses(429, "no quota", {}, "insufficient_quota"), 1],
    ["refused credentials, at once", () => refuses(401, "wrong key"), 1],
    ["a model that the provider does not have, at once", () => refuses(404, "no such model"), 1],
    ["a payment that is due, at once", () => refuses(402, "insufficient balance"), 1],
    ["answers that break off, after one more attempt", () => breaksOff({ content: "Half of " }), 2],
  ])("after %s", async (_, respond, attempts) => {
    const [first, second] = [server("first", respond), server("second", () => says("Hi."))];
    const { client, agent_id } = await openApp([first, second]);
    const ran = await run(client, agent_id);
    expect([ran.status, ran.output, first.requests.length, second.requests.length]).toEqual([
      "completed",
      "Hi.",
      attempts,
      1,
    ]);
    expect((await stepsOf(client, ran.id))[0]).toMatchObject({ model: second.model, attempt: attempts + 1 });
  });

  test("after a silence, at once: the time is the connection's idle timeout", async () => {
    const first = server("first", (_, __, signal) => hangs(signal));
    const second = server("second", () => says("Hi."));
    const environment = { RUNNEL_MODEL_FIRST_IDLE_TIMEOUT_MS: "1000" };
    const { client, agent_id } = await openApp([first, second], {}, { environment });
    const ran = await run(client, agent_id);
    expect([ran.output, first.requests.length]).toEqual(["Hi.", 1]);
    expect((await stepsOf(client, ran.id))[0]?.retries).toMatchObject([
      { model: first.model, reason: { message: "The model sent nothing for 1 seconds." } },
    ]);
  });

  test("with a larger window after an overflow, and without a loss of the conversation", async () => {
    const tooLong = () =>
      refuses(400, "This model's maximum context length is 10 tokens.", {}, "context_length_exceeded");
    const [first, small, large] = [
      server("first", tooLong),
      server("small", tooLong),
      server("large", () => says("Hi.")),
    ];
    const { app, client, agent_id } = await openApp([first, small, large]);
    for (const [{ model }, context_window] of [
      [first, 8000],
      [small, 4000],
      [large, 200_000],
    ] as const)
      await app.prices.set(model, { ...price(0, 0), context_window }, testActor);
    const ran = await run(client, agent_id);
    expect([ran.output, first.requests.length, small.requests.length]).toEqual(["Hi.", 1, 0]);
    expect((await stepsOf(client, ran.id)).map(({ type, model }) => [type, model])).toEqual([
      ["model_call", large.model],
    ]);
  });

  test("with room for the prompt, before the first one is asked in vain or the conversation is shortened", async () => {
    const [first, large] = [server("first", () => says("Never.")), server("large", () => says("Hi."))];
    const { app, client, agent_id } = await openApp([first, large]);
    await app.prices.set(first.model, { ...price(0, 0), context_window: 1000 }, testActor);
    await app.prices.set(large.model, { ...price(0, 0), context_window: 100_000 }, testActor);
    const ran = await run(client, agent_id, { input: "word ".repeat(2000) });
    expect([ran.output, first.requests.length]).toEqual(["Hi.", 0]);
    expect((await stepsOf(client, ran.id))[0]).toMatchObject({
      model: large.model,
      retries: [{ model: first.model, reason: { code: "context_length_exceeded" } }],
    });
  });

  test("after a content filter only if its agent says so", async () => {
    const stopped = () => says("I will", "content_filter");
    const [first, second] = [server("first", stopped), server("second", () => says("Hi."))];
    const { client, agent_id } = await openApp([first, second]);
    expect((await run(client, agent_id)).output).toBe("I will");
    const failover_on = ["content_filter"];
    expect((await client.patch(`/v1/agents/${agent_id}`, { failover_on })).body.failover_on).toEqual(failover_on);
    expect((await run(client, agent_id)).output).toBe("Hi.");
    second.behave(stopped);
    expect((await run(client, agent_id)).output).toBe("I will");
  });

  test("after a prompt that Azure's filter refused, if its agent says so", async () => {
    const refused = () => refuses(400, "The response was filtered.", {}, "content_filter");
    const [first, second] = [server("first", refused), server("second", () => says("Hi."))];
    const { client, agent_id } = await openApp([first, second], { failover_on: ["content_filter"] });
    expect((await run(client, agent_id)).output).toBe("Hi.");
  });

  test("if the first one's connection was removed, and the trace says so", async () => {
    const second = server("second", () => says("Hi."));
    const key = { name: "openai", provider: "openai", base_url: null, api_key: "sk-unused" } as const;
    const { app, client, agent_id } = await openApp([second]);
    await app.connections.put(key, testActor);
    await client.patch(`/v1/agents/${agent_id}`, { models: ["openai/gpt-5", second.model] });
    await app.connections.remove("openai", testActor);
    const ran = await run(client, agent_id);
    expect(ran.output).toBe("Hi.");
    expect((await stepsOf(client, ran.id))[0]?.retries).toMatchObject([
      {
        model: "openai/gpt-5",
        reason: { code: "model_not_available", message: "There is no connection for openai/gpt-5." },
      },
    ]);
  });
});

test("secret headers of an agent reach only the server of its own model, also once that has no connection", async () => {
  const headers: (string | null)[] = [];
  await using other = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch(request) {
      headers.push(request.headers.get("x-team"));
      return request.method === "GET" ? new Response(null, { status: 404 }) : says("Hi.");
    },
  });
  const key = { name: "openai", provider: "openai", base_url: null, api_key: "sk-unused" } as const;
  const environment = { RUNNEL_MODEL_OTHER_BASE_URL: `http://127.0.0.1:${other.port}/v1` };
  const { app, client, agent_id } = await openApp([server("first", () => says("No."))], {}, { environment });
  await app.connections.put(key, testActor);
  await client.put("/v1/secrets/TEAM_KEY", { value: "canary-4711-value" });
  const { body } = await client.patch(`/v1/agents/${agent_id}`, {
    models: ["openai/gpt-5", "openai_compatible/other/m"],
    model_settings: { headers: { "x-team": "{{secret.TEAM_KEY}}" } },
  });
  expect(body.error).toBeUndefined();
  await app.connections.remove("openai", testActor);
  expect((await run(client, agent_id)).output).toBe("Hi.");
  expect(headers.filter((value) => value !== null)).toEqual([]);
});

describe("a run does not move on", () => {
  test("after a request that the server calls faulty: another model would only hide the fault", async () => {
    const [first, second] = [
      server("first", () => refuses(400, "no such parameter")),
      server("second", () => says("Hi.")),
    ];
    const { client, agent_id } = await openApp([first, second]);
    const ran = await run(client, agent_id);
    expect([ran.status, ran.error.code, second.requests.length]).toEqual(["failed", "model_error", 0]);
  });

  test("after failures that its agent leaves out", async () => {
    const [first, second] = [server("first", () => refuses(401, "wrong key")), server("second", () => says("Hi."))];
    const { client, agent_id } = await openApp([first, second], { failover_on: ["rate_limit"] });
    const ran = await run(client, agent_id);
    expect([ran.status, ran.error.code, second.requests.length]).toEqual(["failed", "model_not_available", 0]);
  });

  test("when it is cancelled", async () => {
    const first = server("first", (_, __, signal) => hangs(signal));
    const second = server("second", () => says("Hi."));
    const { client, agent_id } = await openApp([first, second]);
    const { body: begun } = await client.post("/v1/runs", { agent_id, input: "Hello" });
    await first.asked(1);
    expect((await client.post(`/v1/runs/${begun.id}/cancel`, {})).body.status).toBe("cancelled");
    expect((await run(client, agent_id, { overrides: { model: second.model } })).output).toBe("Hi.");
    expect(second.requests).toHaveLength(1);
  });
});

test("a run whose models all fail asks each a few times, and its error has what each answered", async () => {
  const [first, second] = [
    server("first", () => refuses(500, "broken")),
    server("second", () => refuses(401, "wrong key")),
  ];
  const { client, agent_id } = await openApp([first, second]);
  const ran = await run(client, agent_id);
  expect(ran.status).toBe("failed");
  expect(ran.error.message).toContain(`${first.model}: The provider returned HTTP 500: broken`);
  expect(ran.error.message).toContain(`${second.model}: The provider refused the credentials`);
  expect(second.requests).toHaveLength(1);
  expect(first.requests.length).toBeLessThanOrEqual(6);
});

test("a run waits for the first model that comes back while all servers are away", async () => {
  const [first, second] = [server("first", () => says("One.")), server("second", () => says("Two."))];
  const { app, client, agent_id } = await openApp([first, second]);
  await Promise.all([first.stop(), second.stop()]);
  const { body: begun } = await client.post("/v1/runs", { agent_id, input: "Hello" });
  const watch = app.watches.join(begun.id);
  const retries = async () => (await stepsOf(client, begun.id))[0]?.retries.length ?? 0;
  while ((await retries()) < 2) await watch.next(60_000);
  first.restart();
  const now = async () => (await client.get(`/v1/runs/${begun.id}`)).body;
  while ((await now()).status === "in_progress") await watch.next(60_000);
  watch.leave();
  expect((await now()).output).toBe("One.");
});

test("readers of the stream see the first model's partial text voided, and only the second one's text is the output", async () => {
  const [first, second] = [
    server("first", () => breaksOff({ content: "The answer is " }, { content: "fo" })),
    server("second", () => says("It is 42.")),
  ];
  const { app, client, agent_id } = await openApp([first, second]);
  const response = await app.app.handle(
    new Request("http://localhost/v1/runs", {
      method: "POST",
      headers: { authorization: `Bearer ${client.key.secret}`, "content-type": "application/json" },
      body: JSON.stringify({ agent_id, input: "Hello", stream: true }),
    }),
  );
  const frames = (await response.text()).split("\n\n").flatMap((block) => {
    const [, event, data] = /event: (.+)\n(?:id: .+\n)?data: (.+)/.exec(block) ?? [];
    return data ? [{ event, data: JSON.parse(data) }] : [];
  });
  const texts = new Map<number, string>();
  for (const { event, data } of frames) {
    if (event === "token") texts.set(data.seq, (texts.get(data.seq) ?? "") + data.delta);
    if (event === "step.restarted") texts.delete(data.discards);
  }
  expect([...texts.values()]).toEqual(["It is 42."]);
  const moves = frames.filter(({ event, data }) => event === "step.restarted" && data.model);
  expect(moves).toMatchObject([{ data: { model: second.model, reason: { code: "model_incomplete" } } }]);
  const { output, messages } = frames.find(({ event }) => event === "run.completed")?.data ?? {};
  expect([output, messages]).toEqual(["It is 42.", undefined]);
});

test("no tool runs twice: calls of an answer that broke off are not made, and those of the second model are made once", async () => {
  let made = 0;
  const tools = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => Response.json({ made: ++made }) });
  const call = { index: 0, id: "call_1", type: "function", function: { name: "look", arguments: "{}" } };
  const first = server("first", () => breaksOff({ tool_calls: [call] }));
  const second = server("second", (_, index) => (index === 0 ? calls("look") : says("Done.")));
  const { client, agent_id } = await openApp([first, second]);
  const { body: tool } = await client.post("/v1/tools", http(`http://127.0.0.1:${tools.port}/`));
  await client.patch(`/v1/agents/${agent_id}`, { tools: [tool.id] });
  const ran = await run(client, agent_id);
  expect([ran.status, ran.output, made, ran.tool_calls.length]).toEqual(["completed", "Done.", 1, 1]);
  await tools.stop(true);
});

test("a run stays with the model that answers until that one fails, and then goes back", async () => {
  const tools = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => Response.json({}) });
  const first = server("first", () => refuses(401, "wrong key"));
  const second = server("second", (_, index) => {
    first.behave(() => says("From the first."));
    return index < 2 ? calls("look") : refuses(401, "wrong key");
  });
  const { client, agent_id } = await openApp([first, second]);
  const { body: tool } = await client.post("/v1/tools", http(`http://127.0.0.1:${tools.port}/`));
  await client.patch(`/v1/agents/${agent_id}`, { tools: [tool.id] });
  const ran = await run(client, agent_id);
  expect([ran.output, first.requests.length, second.requests.length]).toEqual(["From the first.", 2, 3]);
  const models = (await stepsOf(client, ran.id)).flatMap(({ type, model }) => (type === "model_call" ? [model] : []));
  expect(models).toEqual([second.model, second.model, first.model]);
  await tools.stop(true);
});

test("another model gets the text, calls and results of the first, but not its reasoning", async () => {
  const tools = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => Response.json({ seen: "rain" }) });
  const first = server("first", (_, index) =>
    index === 0 ? calls("look", "{}", "secret thoughts") : refuses(401, "no"),
  );
  const second = server("second", () => says("It rains."));
  const { client, agent_id } = await openApp([first, second]);
  const { body: tool } = await client.post("/v1/tools", http(`http://127.0.0.1:${tools.port}/`));
  await client.patch(`/v1/agents/${agent_id}`, { tools: [tool.id] });
  expect((await run(client, agent_id)).output).toBe("It rains.");
  const [sent] = second.requests;
  expect(JSON.stringify(sent)).not.toContain("secret thoughts");
  expect(JSON.stringify(first.requests[1])).toContain("secret thoughts");
  expect(sent?.messages.map(({ role }) => role)).toEqual(first.requests[1]?.messages.map(({ role }) => role) ?? []);
  expect(JSON.stringify(sent?.messages)).toContain("rain");
  await tools.stop(true);
});

describe("while a model's server is away", () => {
  test("runs with another model move on at once, metrics and connections say so, and its first answer ends that", async () => {
    const [first, second] = [server("first", () => says("One.")), server("second", () => says("Two."))];
    const clock = { ms: Date.now() };
    const { app, client, agent_id } = await openApp([first, second], {}, { dashboard: true, now: () => clock.ms });
    const circuits = async () => {
      const { body } = await app.send("GET", "/metrics");
      return /^runnel_model_circuits_open{connection="openai_compatible\/first"} (\d+)$/m.exec(body)?.[1];
    };
    await first.stop();
    for (let count = 0; count < 5; count++) expect((await run(client, agent_id)).output).toBe("Two.");
    expect(await circuits()).toBe("1");
    const left = await run(client, agent_id);
    expect((await stepsOf(client, left.id))[0]?.retries).toMatchObject([
      { model: first.model, reason: { code: "model_circuit_open" }, usage: null },
    ]);
    expect(left.usage.model_calls).toBe(1);
    const owner = await visitorOf(app, "owner");
    const outages = async () => {
      const { body } = await owner.send("GET", "/connections");
      return body.data.find(({ name }: { name: string }) => name === "first").outages;
    };
    expect(await outages()).toMatchObject([
      { model: first.model, error: { message: "The model's server cannot be reached." } },
    ]);
    first.restart();
    clock.ms += 120_000; // The longest pause before a run with another model tries it.
    expect((await run(client, agent_id)).output).toBe("One.");
    expect([await circuits(), await outages()]).toEqual(["0", []]);
  });

  test("another key of its connection ends the outage: the next run asks it at once", async () => {
    const first = server("first", () => refuses(500, "broken"));
    const second = server("second", () => says("Two."));
    const clock = { ms: Date.now() };
    const { app, client, agent_id } = await openApp([first, second], {}, { now: () => clock.ms });
    const base_url = first.environment.RUNNEL_MODEL_FIRST_BASE_URL ?? "";
    const connection = { name: "first", provider: "openai_compatible" as const, base_url, api_key: "first-key-0123" };
    await app.connections.put(connection, testActor);
    for (let count = 0; count < 5; count++) expect((await run(client, agent_id)).output).toBe("Two.");
    const asked = first.requests.length;
    first.behave(() => says("One."));
    expect((await run(client, agent_id)).output).toBe("Two.");
    expect(first.requests.length).toBe(asked);
    await app.connections.update("first", { api_key: "second-key-0123" }, testActor);
    expect((await run(client, agent_id)).output).toBe("One.");
  });

  test("runs without another model wait, and its server is not asked by each of them again and again", async () => {
    const first = server("first", (_, index) => (index < 22 ? refuses(500, "broken") : says("Hi.")));
    const { client, agent_id } = await openApp([first]);
    const runs = await Promise.all(Array.from({ length: 20 }, () => run(client, agent_id)));
    expect(runs.map(({ output }) => output)).toEqual(Array.from({ length: 20 }, () => "Hi."));
    expect(first.requests.length).toBeLessThanOrEqual(22 + 20);
  });
});

describe("what a run costs", () => {
  test("counts each call at its own model's price, the failed attempt included, and for that model in usage and analytics", async () => {
    const [first, second] = [
      server("first", () => breaksOff({ content: "Half of the answer. " })),
      server("second", () => says("Hi.")),
    ];
    const { app, client, agent_id } = await openApp([first, second]);
    await app.prices.set(first.model, price(1000, 1000), testActor);
    await app.prices.set(second.model, price(10, 100), testActor);
    const ran = await run(client, agent_id);
    const [step] = await stepsOf(client, ran.id);
    expect(step?.usage).toMatchObject({ cost_usd: 0.002, estimated: false });
    const failed = step?.retries.map(({ usage }) => usage?.cost_usd ?? 0) ?? [];
    expect(failed.every((cost) => cost > 0)).toBe(true);
    expect(ran.usage.cost_usd).toBeCloseTo(0.002 + failed.reduce((sum, cost) => sum + cost), 9);
    const { body: usage } = await client.get("/v1/usage?group_by=model");
    const byModel = Object.fromEntries(
      usage.data.map((row: { model: string; model_calls: number; cost_usd: number }) => [row.model, row]),
    );
    expect(byModel[second.model]).toMatchObject({ model_calls: 1, cost_usd: 0.002 });
    expect(byModel[first.model]).toMatchObject({ model_calls: 2 });
  });

  test("is bounded by the budget at the price of the model that is called", async () => {
    const [first, second] = [server("first", () => refuses(401, "no")), server("second", () => says("Hi."))];
    const { app, client, agent_id } = await openApp([first, second], { budget: { max_cost_usd: 0.05 } });
    await app.prices.set(first.model, price(1, 1), testActor);
    await app.prices.set(second.model, price(10, 100), testActor);
    const ran = await run(client, agent_id);
    expect([ran.status, ran.usage.cost_usd]).toEqual(["completed", 0.002]);
    const most = second.requests[0]?.max_tokens ?? 0;
    expect(most).toBeGreaterThan(0);
    expect(most * 0.0001).toBeLessThanOrEqual(0.05);
  });

  test("leaves out a replacement that the budget cannot pay, and asks the next", async () => {
    const [first, dear, cheap] = [
      server("first", () => refuses(401, "no")),
      server("dear", () => says("Dear.")),
      server("cheap", () => says("Cheap.")),
    ];
    const { app, client, agent_id } = await openApp([first, dear, cheap], { budget: { max_cost_usd: 0.05 } });
    await app.prices.set(first.model, price(1, 1), testActor);
    await app.prices.set(dear.model, price(90_000, 90_000), testActor);
    await app.prices.set(cheap.model, price(1, 1), testActor);
    const ran = await run(client, agent_id);
    expect([ran.output, dear.requests.length]).toEqual(["Cheap.", 0]);
    expect((await stepsOf(client, ran.id))[0]?.retries).toMatchObject([
      { model: first.model },
      { model: dear.model, reason: { code: "budget_exceeded" } },
    ]);
  });
});

test("a budget that cannot pay a replacement does not end a run whose own model is back a moment later", async () => {
  // The run asks its next model after the second failure.
  let failures = 2;
  const first = server("first", () => (failures-- > 0 ? refuses(503, "starting") : says("Back.")));
  const dear = server("dear", () => says("Dear."));
  const { app, client, agent_id } = await openApp([first, dear], { budget: { max_cost_usd: 0.05 } });
  await app.prices.set(first.model, price(1, 1), testActor);
  await app.prices.set(dear.model, price(90_000, 90_000), testActor);
  const ran = await run(client, agent_id);
  expect([ran.status, ran.output, dear.requests.length]).toEqual(["completed", "Back.", 0]);
});

test("a judge whose model is away is replaced too, because without a verdict the run would end", async () => {
  const judgement = '{"verdict": "pass", "reason": "Nothing found."}';
  const [first, second] = [
    server("first", () => refuses(401, "no")),
    server("second", ({ messages }) => says(JSON.stringify(messages).includes("No insults") ? judgement : "Hi.")),
  ];
  const judge = (model?: string) => ({
    type: "llm_judge",
    on: ["input"],
    action: "block",
    config: { prompt: "No insults.", ...(model && { model }) },
  });
  const { client, agent_id } = await openApp([first, second], {
    guardrails: [judge(), judge("openai_compatible/first/j")],
  });
  const ran = await run(client, agent_id);
  expect([ran.status, ran.output]).toEqual(["completed", "Hi."]);
  const judges = (await stepsOf(client, ran.id)).filter(({ type }) => type === "guardrail");
  expect(judges.map(({ model }) => model)).toEqual([second.model, second.model]);
});

describe("a server that says when it can be asked again", () => {
  test("is not waited for beyond the run's own time: the run fails at once, and says so", async () => {
    const first = server("first", () => refuses(429, "slow down", { "retry-after": "3600" }));
    const { client, agent_id } = await openApp([first]);
    const ran = await run(client, agent_id, { timeout_ms: 60_000 });
    expect([ran.status, ran.error.code, first.requests.length]).toEqual(["failed", "model_rate_limited", 1]);
    expect(ran.error.message).toMatch(/It asks to wait 3600 seconds, and the run has \d+ left\.$/);
  });
});

describe("replays, forks, comparisons, exports and imports", () => {
  async function movedRun() {
    const [first, second] = [server("first", () => refuses(401, "no")), server("second", () => says("Hi."))];
    const opened = await openApp([first, second]);
    const ran = await run(opened.client, opened.agent_id);
    expect(ran.output).toBe("Hi.");
    return { ...opened, first, second, ran };
  }

  test("a replay of a run that moved on equals its record, and shows the model of each call", async () => {
    const { client, ran, second } = await movedRun();
    const replayed = (await client.post(`/v1/runs/${ran.id}/replay`, { mode: "strict" })).body;
    expect([replayed.status, replayed.replay.divergences]).toEqual(["completed", []]);
    expect((await stepsOf(client, replayed.id))[0]?.model).toBe(second.model);
    const { body: diff } = await client.get(`/v1/runs/${ran.id}/diff/${replayed.id}`);
    expect(diff.steps.map(({ change }: { change: string }) => change)).toEqual(["equal"]);
  });

  test("a fork starts with the first model again, or with the one of its edit alone", async () => {
    const { client, ran, first, second } = await movedRun();
    first.behave(() => says("From the first."));
    const fork = async (edits?: object) => {
      const { body } = await client.post(`/v1/runs/${ran.id}/fork?wait=60`, {
        step_index: -1,
        ...(edits && { edits }),
      });
      return body;
    };
    expect(await fork()).toMatchObject({ output: "From the first.", models: [first.model, second.model] });
    const edited = await fork({ model: second.model });
    expect([edited.output, edited.model, edited.models]).toEqual(["Hi.", second.model, undefined]);
  });

  test("a trace moves to another server with its models", async () => {
    const { app, client, ran, first, second } = await movedRun();
    const { app: there, client: other } = await openApp([second]);
    const { status, body } = await importCapsule(there, other, await capsuleOf(app, client, ran.id));
    expect([status, (await stepsOf(other, body.run_id))[0]?.model]).toEqual([201, second.model]);
    const { body: imported } = await other.get(`/v1/runs/${body.run_id}`);
    expect(imported.models).toEqual([first.model, second.model]);
  });

  test("OpenTelemetry has the model of each call, and that of the attempt that failed", async () => {
    const { client, ran, second } = await movedRun();
    const { body } = await client.get(`/v1/traces/${ran.id}?format=otlp`);
    const text = JSON.stringify(body);
    expect(text).toContain(`{"key":"gen_ai.request.model","value":{"stringValue":"second/m"}}`);
    expect(text).toContain(`{"key":"gen_ai.request.model","value":{"stringValue":"first/m"}}`);
    expect(second.requests).toHaveLength(1);
  });
});

describe("a connection's fallbacks", () => {
  test("are asked by agents with one model: other models, or another connection's model of the same name", async () => {
    const [first, second] = [server("first", () => refuses(401, "no")), server("second", () => says("Hi."))];
    const environment = {
      ...second.environment,
      RUNNEL_MODEL_FIRST_FALLBACKS: "openai/gpt-5, openai_compatible/second",
    };
    const { client, agent_id } = await openApp([first], {}, { environment });
    const ran = await run(client, agent_id);
    expect([ran.output, ran.models]).toEqual(["Hi.", [first.model, second.model]]);
    expect((await client.get(`/v1/agents/${agent_id}`)).body.models).toBeUndefined();
    expect(second.requests[0]?.model).toBe("m");
  });
});

describe("an agent's models", () => {
  test("are several in place of one, and one replaces them", async () => {
    await using app = testApp();
    const client = await app.client();
    const base = { name: "Clerk", instructions: "" };
    const models = ["test/echo", "test/script"];
    const { body: agent } = await client.post("/v1/agents", { ...base, models });
    expect(agent).toMatchObject({ model: "test/echo", models });
    const path = `/v1/agents/${agent.id}`;
    const { body: listed } = await client.get("/v1/agents");
    expect(listed.data[0]).toMatchObject({ model: "test/echo", models });
    expect((await client.patch(path, { models: ["test/script", "test/echo"] })).body).toMatchObject({
      model: "test/script",
      version: 2,
    });
    const { body: one } = await client.patch(path, { model: "test/echo" });
    expect([one.model, one.models, one.version]).toEqual(["test/echo", undefined, 3]);
    expect((await client.get(`${path}/versions/2`)).body).toMatchObject({ models: ["test/script", "test/echo"] });
  });

  test.each([
    [{}, "model"],
    [{ model: "test/script", models: ["test/echo", "test/script"] }, "models"],
    [{ models: ["test/echo"] }, "models"],
    [{ models: ["test/echo", "test/echo"] }, "models"],
    [{ models: Array.from({ length: 6 }, (_, i) => `test/${i}`) }, "models"],
    [{ models: ["test/echo", "openai/gpt-5"] }, "models[1]"],
    [{ model: "test/echo", failover_on: [] }, "failover_on"],
    [{ model: "test/echo", failover_on: ["bad_request"] }, "failover_on[0]"],
  ])("are rejected as %j", async (given, param) => {
    await using app = testApp();
    const client = await app.client();
    const { status, body } = await client.post("/v1/agents", { name: "Clerk", instructions: "", ...given });
    expect([status, body.error.param]).toEqual([400, param]);
  });

  test("may be others for one run, within what its key may use", async () => {
    await using app = testApp();
    const client = await app.client();
    const base = { name: "Clerk", instructions: "" };
    const { body: agent } = await client.post("/v1/agents", { ...base, models: ["test/echo", "test/script"] });
    const override = (models: string[], by = client) =>
      by.post("/v1/runs?wait=60", { agent_id: agent.id, input: "Hi", overrides: { models } });
    expect((await override(["test/script", "test/echo"])).body).toMatchObject({
      model: "test/script",
      models: ["test/script", "test/echo"],
    });
    expect(
      (await client.post("/v1/runs?wait=60", { agent_id: agent.id, input: "Hi", overrides: { model: "test/echo" } }))
        .body.models,
    ).toBeUndefined();
    const bound = await app.client({ agent_ids: [agent.id] });
    expect((await override(["test/script", "test/echo"], bound)).body.output ?? null).toBeNull();
    const refused = await override(["test/echo", "test/judge"], bound);
    expect([refused.status, refused.body.error.param]).toEqual([400, "overrides.models"]);
  });
});
