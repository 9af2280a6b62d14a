import { describe, expect, test } from "bun:test";
import type { AgentSnapshot } from "../domain/agent-snapshot.ts";
import { isOver } from "../domain/run-state.ts";
import { withEnoughTime } from "../testing/enough-time.ts";
import type { Answer } from "../testing/expect-declared.ts";
import { startChatServer } from "../testing/model-server.ts";
import { agentTool, runFixture, tool } from "../testing/run-fixture.ts";
import { testActor } from "../testing/test-actor.ts";
import { type Client, type TestApp, testApp } from "../testing/test-app.ts";

const price = { input: 10, cached_input: 10, output: 100, context_window: null };
const model = "openai_compatible/stub/priced";

/** Starts a server at noon, so that the day does not end during the test. */
async function openPriced(environment: Record<string, string>): Promise<{ server: TestApp; client: Client }> {
  const [noon, began] = [Date.UTC(2026, 10, 21, 12), performance.now()];
  const server = testApp({ environment, now: () => Math.floor(noon + performance.now() - began) });
  await server.prices.set(model, price, testActor);
  return { server, client: await server.client() };
}

const agentOf = async (client: Client, more: object = {}): Promise<string> =>
  (await client.post("/v1/agents", { name: "a", instructions: "", model, ...more })).body.id;

const run = async (client: Client, agent_id: string, more: object = {}) =>
  (await client.post("/v1/runs?wait=60", { agent_id, input: "Go.", ...more })).body;

describe("the budget of POST /v1/runs", () => {
  test.each([
    [{}],
    [null],
    [{ max_cost_usd: 0 }],
    [{ max_total_tokens: 1.5 }],
    [{ max_tool_calls: -1 }],
    [{ max_wall_ms: "5" }],
    [{ max_days: 1 }],
  ])("is rejected as %j", async (budget) => {
    await using server = testApp();
    const client = await server.client();
    const agent_id = await agentOf(client, { model: "test/echo" });
    const { status, body } = await client.post("/v1/runs", { agent_id, input: "Hi", budget });
    expect([status, body.error.param]).toMatchObject([400, expect.stringMatching(/^budget/)]);
  });

  test("is shown with its run, and is null if there is none", async () => {
    await using server = testApp();
    const client = await server.client();
    const agent_id = await agentOf(client, { model: "test/echo" });
    const budget = { max_total_tokens: 5000, max_wall_ms: 60_000 };
    const bounded = await run(client, agent_id, { budget });
    expect([bounded.status, bounded.budget]).toEqual(["completed", budget]);
    expect((await run(client, agent_id)).budget).toBeNull();
  });

  test("excludes refused calls: invalid arguments, unknown tool, rejected by a person, over budget", async () => {
    await using server = testApp();
    const client = await server.client();
    const make = async (name: string, more: object) =>
      (await client.post("/v1/tools", { name, type: "client", ...more })).body.id;
    const parameters = { type: "object", properties: { n: { type: "number" } }, required: ["n"] };
    const tools = [await make("add", { parameters }), await make("pay", { approval: "always" })];
    const call = (name: string, args: object = {}) => ({ name, arguments: args });
    const script = [
      { tool_calls: [call("add"), call("none"), call("pay"), call("add", { n: 1 })] },
      { tool_calls: [call("pay"), call("pay")] },
    ];
    const agent_id = await agentOf(client, { model: "test/script", model_settings: { script }, tools });
    const waiting = await run(client, agent_id, { budget: { max_tool_calls: 2 } });
    expect(waiting).toMatchObject({ status: "requires_action", usage: { tool_calls: 2 } });
    const tool_outputs = waiting.required_action.submit_tool_outputs.tool_calls.map(
      ({ tool_call_id, needs }: { tool_call_id: string; needs: string }) =>
        needs === "approval" ? { tool_call_id, decision: "reject" } : { tool_call_id, output: 1 },
    );
    await client.post(`/v1/runs/${waiting.id}/submit_tool_outputs`, { tool_outputs, stream: true });
    const ended = (await client.get(`/v1/runs/${waiting.id}`)).body;
    expect(ended).toMatchObject({ status: "failed", error: { code: "budget_exceeded" }, usage: { tool_calls: 1 } });
    expect((await client.get("/v1/usage")).body.totals.tool_calls).toBe(1);
  });

  test("of an agent applies to its runs until it is removed", async () => {
    await using server = testApp();
    const client = await server.client();
    const budget = { max_total_tokens: 50 };
    const agent_id = await agentOf(client, { model: "test/echo", budget });
    expect(await run(client, agent_id)).toMatchObject({ budget, status: "failed", error: { code: "budget_exceeded" } });
    await client.patch(`/v1/agents/${agent_id}`, { budget: null });
    expect(await run(client, agent_id)).toMatchObject({ budget: null, status: "completed" });
  });

  test("combines with the agent's: the lower limit applies, limit by limit", async () => {
    using fixture = runFixture();
    const { budget } = await fixture.start([{ text: "Hi." }], {
      agent: { budget: { max_total_tokens: 5000, max_tool_calls: 3 } },
      run: { budget: { max_total_tokens: 9000, max_tool_calls: 2, max_cost_usd: 1 } },
    });
    expect(budget).toEqual({ max_total_tokens: 5000, max_tool_calls: 2, max_cost_usd: 1 });
  });
});

describe("the cost of a run", () => {
  test("uses the price at the run's start, and stays within the budget", async () => {
    await using chat = startChatServer((_, index) => ({
      ...(index % 2 === 0 ? { calls: ["look"] } : { text: "Seen." }),
      prompt_tokens: 100,
      completion_tokens: 10,
    }));
    const { server, client } = await openPriced(chat.environment);
    await using _ = server;
    const { body: look } = await client.post("/v1/tools", { name: "look", type: "client" });
    const agent_id = await agentOf(client, { tools: [look.id] });
    const waiting = await run(client, agent_id, { budget: { max_cost_usd: 1 } });
    await server.prices.set(model, { ...price, input: 20 }, testActor);
    expect(await goOn(client, waiting)).toMatchObject({ status: "completed", usage: { cost_usd: 0.004 } });
    expect((await run(client, agent_id)).usage.cost_usd).toBe(0.003);
    const refused = await run(client, agent_id, { budget: { max_cost_usd: 0.000001 } });
    expect(refused).toMatchObject({ status: "failed", error: { code: "budget_exceeded" }, usage: { model_calls: 0 } });
    const { steps } = (await client.get(`/v1/traces/${refused.trace_id}`)).body;
    expect(steps).toMatchObject([{ type: "model_call", status: "failed", error: { code: "budget_exceeded" } }]);
    expect(chat.requests.map(({ max_tokens }) => max_tokens! > 0 || max_tokens)).toEqual([true, true, undefined]);
  });

  test("cannot have a limit if the price is unknown, which is said before it begins, unless the project allows token limits alone", async () => {
    await using chat = startChatServer(() => ({ text: "Hi.", prompt_tokens: 5, completion_tokens: 5 }));
    const server = testApp({ environment: chat.environment });
    await using _ = server;
    const client = await server.client();
    const agent_id = await agentOf(client);
    const budget = { max_cost_usd: 1 };
    expect(await run(client, agent_id, { budget })).toMatchObject({
      error: {
        code: "budget_needs_price",
        param: "budget.max_cost_usd",
        message: expect.stringContaining(`runnel models prices set ${model} --input`),
      },
    });
    expect(chat.requests).toEqual([]);
    await server.projects.update(client.scope.project_id, { unknown_price: "allow" });
    const allowed = await run(client, agent_id, { budget });
    expect(allowed).toMatchObject({ status: "completed", usage: { cost_usd: null, total_tokens: 10 } });
  });
});

/** Returns the finished run, after submitting an answer. */
async function goOn(client: Client, { id, required_action }: Answer["body"]): Promise<Answer["body"]> {
  const tool_outputs = [{ tool_call_id: required_action.submit_tool_outputs.tool_calls[0].tool_call_id, output: 1 }];
  await client.post(`/v1/runs/${id}/submit_tool_outputs`, { tool_outputs, stream: true });
  return (await client.get(`/v1/runs/${id}`)).body;
}

describe("the daily budget", () => {
  const settings = (tokens: number) => ({ budget_per_day: { max_total_tokens: tokens } });

  test("is never exceeded by runs that begin at once: a run waits while the rest is reserved", async () => {
    let inside = 0;
    const two = Promise.withResolvers<void>();
    await using chat = startChatServer(async (body) => {
      if (++inside === 2) two.resolve();
      await two.promise; // The first call is answered once a second one is in flight.
      inside--;
      return { text: "Hi.", prompt_tokens: 20, completion_tokens: Math.min(30, body.max_tokens!) };
    });
    const { server, client } = await openPriced(chat.environment);
    await using _ = server;
    await server.projects.update(client.scope.project_id, settings(420));
    const agent_id = await agentOf(client, { model_settings: { max_output_tokens: 100 } });
    const all = await Promise.all(Array.from({ length: 12 }, () => run(client, agent_id)));
    const codes = all.map(({ status, error }) => error?.code ?? status);
    expect(new Set(codes)).toEqual(new Set(["completed", "budget_exceeded"]));
    const { totals } = (await client.get("/v1/usage")).body;
    expect(totals.total_tokens).toBe(50 * chat.requests.length);
    expect(totals.total_tokens).toBeLessThanOrEqual(420);
    // 420 allow two concurrent calls of some 130 tokens each, but no third; the rest is left for the next.
    expect(chat.requests.length).toBeGreaterThan(3);
    expect(all.find(({ error }) => error)!.error).toMatchObject({
      retryable: true,
      message: expect.stringContaining("next day begins"),
    });
  });

  test("applies from the next model call if it is set during one", async () => {
    let set = async (): Promise<unknown> => undefined;
    await using chat = startChatServer(async () => {
      await set();
      return { calls: ["nothing"], prompt_tokens: 20, completion_tokens: 30 };
    });
    const { server, client } = await openPriced(chat.environment);
    await using _ = server;
    set = () => server.projects.update(client.scope.project_id, settings(60));
    const { error } = await run(client, await agentOf(client));
    expect([error.code, chat.requests.length]).toEqual(["budget_exceeded", 1]);
  });

  test("applies to a run that waited while it was set", async () => {
    await using chat = startChatServer(() => ({ calls: ["look"], prompt_tokens: 20, completion_tokens: 30 }));
    const { server, client } = await openPriced(chat.environment);
    await using _ = server;
    const { body: look } = await client.post("/v1/tools", { name: "look", type: "client" });
    const agent_id = await agentOf(client, { tools: [look.id] });
    const waiting = await run(client, agent_id);
    await server.projects.update(client.scope.project_id, settings(60));
    expect(await goOn(client, waiting)).toMatchObject({ error: { code: "budget_exceeded" } });
    expect(chat.requests).toHaveLength(1);
  });

  test.each(["cancel", "timeout"])("is free again after a %s, and a waiting run continues", async (end) => {
    const hold = Promise.withResolvers<void>();
    const began = Promise.withResolvers<void>();
    await using chat = startChatServer(async (_, index) => {
      if (index > 0) return { text: "Hi.", prompt_tokens: 20, completion_tokens: 30 };
      began.resolve();
      await hold.promise;
      return { text: "", prompt_tokens: 0, completion_tokens: 0 };
    });
    const { server, client } = await openPriced(chat.environment);
    await using _ = server;
    await server.projects.update(client.scope.project_id, settings(300));
    const agent_id = await agentOf(client, { model_settings: { max_output_tokens: 200 } });
    const first = (await client.post("/v1/runs", { agent_id, input: "Go." })).body;
    await began.promise;
    const second = run(client, agent_id);
    if (end === "cancel") await client.post(`/v1/runs/${first.id}/cancel`, {});
    else {
      const expire = "UPDATE runs SET expires_at_ms = ? WHERE id = ?"; // A short timeout might expire early.
      await server.db.write(() => server.db.sqlite.run(expire, [0, first.id]));
      server.watches.committed(first.id, []);
    }
    expect((await second).status).toBe("completed");
    hold.resolve();
  });

  test("does not make a cancelled run wait", async () => {
    const hold = Promise.withResolvers<void>();
    const began = Promise.withResolvers<void>();
    await using chat = startChatServer(async () => {
      began.resolve();
      await hold.promise;
      return { text: "Hi.", prompt_tokens: 20, completion_tokens: 30 };
    });
    const { server, client } = await openPriced(chat.environment);
    await using _ = server;
    await server.projects.update(client.scope.project_id, settings(400));
    const agent_id = await agentOf(client, { model_settings: { max_output_tokens: 200 } });
    const first = run(client, agent_id);
    await began.promise;
    const { body: second } = await client.post("/v1/runs", { agent_id, input: "Go." });
    await client.post(`/v1/runs/${second.id}/cancel`, {});
    hold.resolve();
    expect((await first).status).toBe("completed");
    expect((await run(client, agent_id)).status).toBe("completed");
    expect(chat.requests).toHaveLength(2);
  });
});

describe("the wall time of a run", () => {
  const waits = [{ tool_calls: [{ name: "look", arguments: {} }] }, { text: "Seen." }];
  const failedOf = async (fixture: ReturnType<typeof runFixture>, id: string) => {
    const { event } = await fixture.until(id, (entry) => entry.event.type === "run.failed");
    return event;
  };

  test("ends a model call in progress, and its partial output is the run's output", async () => {
    const said = await withEnoughTime(500, async (max_wall_ms) => {
      using fixture = runFixture();
      const { id } = await fixture.start([{ text: "word ".repeat(20_000), delta_ms: 2 }], {
        run: { budget: { max_wall_ms } },
      });
      const { status, error, output } = await fixture.settled(id);
      expect([status, error!.code, error!.message]).toEqual([
        "failed",
        "budget_exceeded",
        `budget.max_wall_ms: The run has taken its ${max_wall_ms} ms.`,
      ]);
      expect(fixture.pool.driving()).toBe(0);
      return output || null;
    });
    expect(said).toStartWith("word ");
  });

  test("includes the time in requires_action", async () => {
    using fixture = runFixture();
    const { id } = await fixture.start(waits, { tools: [tool("look")], run: { budget: { max_wall_ms: 20 } } });
    expect(await failedOf(fixture, id)).toMatchObject({ error: { code: "budget_exceeded" } });
  });

  test("excludes the time in the queue", async () => {
    let at = Date.UTC(2026, 0, 1);
    using fixture = runFixture({ now: () => at, slots: 1 });
    const first = await fixture.start(waits, { tools: [tool("look")], agent: { model: "test/timeout" } });
    const { id } = await fixture.start([{ ...waits[0], delay_ms: 20 }, waits[1]!], {
      tools: [tool("look")],
      run: { budget: { max_wall_ms: 60_000 }, on_concurrency_limit: "queue" },
    });
    expect(fixture.runs.expiry(id)).toBeNull();
    at += 3_600_000;
    await fixture.service.cancel(fixture.scope, first.id, null);
    for (const type of ["run.started", "run.requires_action"]) {
      await fixture.until(id, ({ event }) => event.type === type);
      expect(fixture.runs.expiry(id)).toBe(at + 60_000);
    }
    const { required_action } = fixture.runs.get(fixture.scope, id);
    const [call] = required_action!.submit_tool_outputs.tool_calls;
    const began = at;
    at += 10_000;
    await fixture.service.submit(fixture.scope, id, [{ tool_call_id: call!.tool_call_id, output: 1 }]);
    const resumed = fixture.journal.read(id).find(({ event }) => event.type === "run.resumed");
    expect(resumed!.at - began).toBe(10_000);
    expect((await fixture.settled(id)).status).toBe("completed");
  });

  test("keeps its remainder after a wait, and the error names the deadline that passed", async () => {
    let at = Date.UTC(2026, 0, 1);
    using fixture = runFixture({ now: () => at });
    const begun = at;
    const look = tool("look");
    const starts = (run: object) => fixture.start([waits[0]!, waits[0]!, waits[1]!], { tools: [look], run });
    const wall = await starts({ timeout_ms: 50_000, budget: { max_wall_ms: 60_000 } });
    const { required_action } = await fixture.settled(wall.id);
    expect(fixture.runs.expiry(wall.id)).toBe(begun + 60_000);
    at += 30_000;
    const [call] = required_action!.submit_tool_outputs.tool_calls;
    await fixture.service.submit(fixture.scope, wall.id, [{ tool_call_id: call!.tool_call_id, output: 1 }]);
    expect(fixture.runs.expiry(wall.id)).toBe(begun + 60_000);
    const tight = await fixture.start([{ text: "word ".repeat(1000), delta_ms: 2 }], {
      run: { timeout_ms: 20, budget: { max_wall_ms: 60_000 } },
    });
    expect(await failedOf(fixture, tight.id)).toMatchObject({ error: { code: "run_timeout" } });
  });
});

describe("a child run", () => {
  const agent = (more: Partial<AgentSnapshot>): Partial<AgentSnapshot> => ({ name: "Helper", ...more });
  const calling = [{ tool_calls: [{ name: "helper", arguments: { input: "Do it." } }] }, { text: "Done." }];
  const helper = agentTool("helper", "agt_helper");

  test("gets at most the rest of its parent's budget, and the price of its own model", async () => {
    using fixture = runFixture({ agents: { agt_helper: agent({ settings: { script: [{ text: "Hi." }] } }) } });
    const budget = { max_total_tokens: 10_000, max_tool_calls: 4, max_wall_ms: 60_000 };
    const { id } = await fixture.start(calling, { tools: [helper], run: { budget, timeout_ms: 3_600_000 } });
    const parent = await fixture.settled(id);
    const child = fixture.runs.get(fixture.scope, parent.tool_calls[0]!.subagent_run_id!);
    expect([parent.status, child.status]).toEqual(["completed", "completed"]);
    const { max_total_tokens, max_tool_calls, max_wall_ms } = child.budget!;
    expect(max_tool_calls).toBe(3);
    expect(max_total_tokens!).toBeLessThan(10_000);
    expect(max_wall_ms!).toBeGreaterThan(50_000);
    expect(max_wall_ms!).toBeLessThanOrEqual(60_000);
    const [created] = fixture.journal.read(child.id);
    expect(created!.event).toMatchObject({ price: { source: "built_in" } });
  });

  test("cannot bypass a parent's exhausted budget", async () => {
    const looping = { settings: { script: Array(9).fill({ tool_calls: [{ name: "look", arguments: {} }] }) } };
    using fixture = runFixture({ agents: { agt_helper: agent({ ...looping, tools: [tool("look")] }) } });
    const { id } = await fixture.start(calling, { tools: [helper], run: { budget: { max_tool_calls: 1 } } });
    const parent = await fixture.settled(id);
    expect(isOver(parent.status)).toBe(true);
    const child = fixture.runs.get(fixture.scope, parent.tool_calls[0]!.subagent_run_id!);
    expect(child).toMatchObject({ status: "failed", error: { code: "budget_exceeded" } });
  });
});
