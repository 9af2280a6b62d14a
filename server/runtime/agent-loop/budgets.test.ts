import { describe, expect, test } from "bun:test";
import { created } from "../../domain/__fixtures__/events.ts";
import type { AgentSnapshot, GuardrailPoint } from "../../domain/agent-snapshot.ts";
import { promptTokens, type WorstCase } from "../../domain/budget.ts";
import type { Budget } from "../../domain/budget-schema.ts";
import { nanoUsd } from "../../domain/cost.ts";
import type { ModelRequest, ModelUsage } from "../../domain/model-call.ts";
import type { ModelPrice } from "../../domain/price.ts";
import type { JournalEntry, RunCreated, RunEvent } from "../../domain/run-event.ts";
import { fold } from "../../domain/run-state.ts";
import { httpTool, tool } from "../../testing/run-fixture.ts";
import { type ModelEvent, unknownUsage } from "../models/model.ts";
import { testConnection } from "../models/registry.ts";
import type { Reserved, RunStart } from "./messages.ts";
import { Superseded } from "./run-context.ts";
import { runLoop } from "./run-loop.ts";

const price: ModelPrice = { input: 2, cached_input: 0.5, output: 8, as_of: "2026-04", source: "operator" };
const counts = (input_tokens: number | null, output_tokens: number | null): ModelUsage => ({
  input_tokens,
  output_tokens,
  cached_input_tokens: 0,
  reasoning_tokens: 0,
});
const says = (usage: ModelUsage, text = "So."): ModelEvent[] => [
  { type: "delta", part: 0, kind: "output", text },
  { type: "done", finish: "stop", usage },
];
const calls = (count: number, usage: ModelUsage): ModelEvent[] => [
  { type: "delta", part: 0, kind: "output", text: "I look." },
  ...Array.from(
    { length: count },
    (_, index): ModelEvent => ({ type: "tool_call", part: index + 1, name: "look", arguments: "{}" }),
  ),
  { type: "done", finish: "tool_calls", usage },
];
const fails = (usage: ModelUsage, text = ""): ModelEvent[] => [
  ...(text ? says(usage, text).slice(0, 1) : []),
  {
    type: "error",
    usage,
    error: {
      code: "model_error",
      message: "503",
      retryable: true,
      retry_after_ms: 1,
      aborted: false,
      request: "answered",
    },
  },
];

/** Settings of every request. */
const caching = { prompt_caching: "auto" as const, prompt_cache_key: expect.any(String) };

type Answer = ModelEvent[] | ((request: ModelRequest) => ModelEvent[]);

/** Runs the loop with this budget over a model that gives these answers, one per call. */
async function run(
  answers: Answer[],
  budget: Budget | null,
  more: {
    run?: Partial<RunCreated>;
    start?: Partial<RunStart>;
    agent?: Partial<AgentSnapshot>;
    reserve?: () => Reserved | null;
    /** Usage of each verdict. */
    verdict?: ModelUsage;
  } = {},
) {
  const entries: JournalEntry[] = [];
  const requests: ModelRequest[] = [];
  const asked: number[] = [];
  const judged: ModelRequest[] = [];
  let tools = 0;
  const append = async (events: RunEvent[]) => {
    const seq = entries.length + 1;
    entries.push(...events.map((event, index) => ({ seq: seq + index, at: 0, event })));
    return { seq, at: 0 };
  };
  async function* stream(request: ModelRequest): AsyncGenerator<ModelEvent> {
    const answer = answers[requests.push(request) - 1]!;
    yield* typeof answer === "function" ? answer(request) : answer;
  }
  async function* verdicts(request: ModelRequest): AsyncGenerator<ModelEvent> {
    judged.push(request);
    await Promise.resolve(); // Another model call may be made at the same time.
    yield* says(more.verdict!, JSON.stringify({ verdict: "pass", reason: "" }));
  }
  const agent: AgentSnapshot = {
    id: "agt_1",
    version: 1,
    name: "Agent",
    model: "openai/priced",
    instructions: "",
    settings: {},
    tools: [httpTool("look", "")],
    max_turns: 100,
    output_schema: null,
    ...more.agent,
  };
  await append([created({ model: agent.model, max_turns: agent.max_turns, price, budget, ...more.run })]);
  const start: RunStart = {
    drive: 1,
    run_id: "run_1",
    attempt: 1,
    history: [...entries],
    agent,
    connection: testConnection,
    model: "priced",
    secrets: {},
    egress: { allow: [], loopback: false },
    ...more.start,
  };
  const never = () => Promise.reject(new Error("Nobody asks for this."));
  const ports = {
    append,
    outlet: { push() {}, pushLater: (collect: () => void) => collect() },
    model: { stream },
    keepFile: never,
    startChild: never,
    inPlace: <T>(call: () => Promise<T>) => call(),
    sleep: async () => {},
    ask: never,
    now: () => 0,
    modelNamed: async () => {
      if (!more.verdict) throw new Error("There is no judge.");
      return { stream: verdicts };
    },
    reserve: async (worst: () => WorstCase) => {
      if (!more.reserve) return null;
      const { input_tokens, unrecorded } = worst();
      asked.push(input_tokens + (unrecorded?.tokens ?? 0));
      return more.reserve();
    },
    runTool: async () => {
      tools++;
      return { output: "seen", error: null, attempts: 1 } as const;
    },
  };
  await runLoop(start, ports, new AbortController().signal).catch((error) => {
    if (!(error instanceof Superseded)) throw error;
  });
  const events = entries.map(({ event }) => event);
  return { state: fold(entries), requests, judged, events, asked, ran: () => tools };
}

const exceeded = (message: string) => ({
  status: "failed",
  error: { code: "budget_exceeded", message: expect.stringContaining(message) },
});

describe("before a model call", () => {
  test("a call is made only if prompt and answer fit; otherwise the run ends with the text so far as output", async () => {
    const { state, requests, events } = await run([calls(1, counts(900, 50)), says(counts(1, 1))], {
      max_total_tokens: 1000,
    });
    expect(requests).toHaveLength(1);
    expect(state).toMatchObject({
      ...exceeded("budget.max_total_tokens: The run has used 950 of 1000"),
      output: "I look.",
    });
    expect(events.at(-2)).toMatchObject({
      type: "step.completed",
      step_type: "model_call",
      status: "failed",
      answer: null,
      error: { code: "budget_exceeded" },
    });
    expect(state.usage).toMatchObject({ model_calls: 1, total_tokens: 950 });
  });

  test("the answer's maximum length is the rest of the budget, whatever the agent allows", async () => {
    const long = { model_settings: {}, settings: { max_output_tokens: 100 } };
    const free = await run([says(counts(10, 5))], { max_total_tokens: 1000 });
    const left = 1000 - promptTokens(free.requests[0]!);
    expect(free.requests[0]!.settings).toEqual({ ...caching, max_output_tokens: left });
    const fixed = await run([says(counts(10, 5))], { max_total_tokens: 1000 }, { agent: long });
    expect(fixed.requests[0]!.settings).toEqual({ ...caching, max_output_tokens: 100 });
    const tooLittle = await run([says(counts(10, 5))], { max_total_tokens: 100 }, { agent: long });
    expect(tooLittle.requests).toEqual([]);
    expect(tooLittle.state).toMatchObject(exceeded("budget.max_total_tokens"));
  });

  test("the maximum cost of a call has to be available in USD", async () => {
    const { state, requests } = await run([calls(1, counts(1000, 100)), says(counts(1, 1))], { max_cost_usd: 0.003 });
    expect(requests).toHaveLength(1);
    expect(state.usage.cost_usd).toBe(0.0028);
    expect(state).toMatchObject(exceeded("budget.max_cost_usd: The run has cost 0.0028 of 0.003 USD"));
  });

  test("an unknown price is refused under a budget in USD, unless the project allows it", async () => {
    const unknown = { run: { price: null } };
    const budget = { max_cost_usd: 1 };
    const refused = await run([says(counts(1, 1))], budget, unknown);
    expect([refused.requests.length, refused.state]).toMatchObject([
      0,
      exceeded("budget.max_cost_usd: The model has no known price"),
    ]);
    const { state } = await run([says(counts(1, 1))], budget, { ...unknown, start: { unknown_price: "allow" } });
    expect(state).toMatchObject({ status: "completed", usage: { cost_usd: null, total_tokens: 2 } });
  });

  test("without a budget nothing is counted and the request is unchanged", async () => {
    for (const budget of [null, {}, { max_tool_calls: 9 }]) {
      const { requests, state } = await run([says(counts(10, 5))], budget);
      expect([requests[0]!.settings, state.status]).toEqual([caching, "completed"]);
    }
  });

  test("a failed attempt is charged: the next one gets only the rest", async () => {
    const { state, requests, events } = await run([fails(counts(890, 60), "Half"), says(counts(1, 1))], {
      max_total_tokens: 1000,
    });
    expect(requests).toHaveLength(1);
    expect(state).toMatchObject({ ...exceeded("The run has used 950 of 1000"), usage: { model_calls: 1 } });
    expect(events.map(({ type }) => type)).toContain("step.restarted");
  });
});

describe("budget of the day", () => {
  const granted = (max_output_tokens: number | null): Reserved => ({ granted: true, max_output_tokens });

  test("each attempt reserves its share, which limits the length of its answer", async () => {
    const { requests, asked } = await run([fails(unknownUsage), says(counts(10, 5))], null, {
      reserve: () => granted(77),
    });
    expect(requests.map(({ settings }) => settings)).toEqual([
      { ...caching, max_output_tokens: 77 },
      { ...caching, max_output_tokens: 77 },
    ]);
    expect(asked).toEqual(requests.map(promptTokens));
  });

  test("without a share the call is not made: the run fails with the refusal's message and is retryable", async () => {
    const { state, requests } = await run([says(counts(10, 5))], null, {
      reserve: () => ({ granted: false, message: "Come back tomorrow." }),
    });
    expect([requests.length, state]).toMatchObject([
      0,
      { status: "failed", error: { code: "budget_exceeded", message: "Come back tomorrow.", retryable: true } },
    ]);
  });

  test("nothing is reserved for a call that the run's own budget refuses", async () => {
    const { asked, state } = await run([], { max_total_tokens: 1 }, { reserve: () => granted(77) });
    expect([asked, state.status]).toEqual([[], "failed"]);
  });
});

describe("judges", () => {
  const judges = (count: number, ...on: GuardrailPoint[]): Partial<AgentSnapshot> => ({
    guardrails: Array.from({ length: count }, () => ({
      type: "llm_judge",
      on,
      action: "block",
      config: { prompt: "Be good.", model: "openai/judge" },
    })),
  });
  const used = ({ state }: Awaited<ReturnType<typeof run>>) => state.usage.total_tokens!;

  test("usage of the judged answer and of other judges counts", async () => {
    const verdict = counts(400, 200);
    const more = { agent: judges(3, "output"), verdict };
    const short = await run([says(counts(900, 90))], { max_total_tokens: 1000 }, more);
    expect([short.judged.length, used(short), short.state.error?.code]).toEqual([0, 990, "guardrail_blocked"]);
    const two = await run([says(counts(100, 90))], { max_total_tokens: 1500 }, more);
    expect([two.judged.length, used(two), two.state.error?.code]).toEqual([2, 1390, "guardrail_blocked"]);
    const enough = await run([says(counts(100, 90))], { max_total_tokens: 9000 }, more);
    expect([enough.judged.length, enough.state.status]).toEqual([3, "completed"]);
  });

  test.each(["tool_call", "tool_output"] as const)("concurrent calls share it (%s)", async (on) => {
    const more = { agent: judges(1, on), verdict: counts(400, 200) };
    const ran = await run([calls(5, counts(100, 90))], { max_total_tokens: 2000 }, more);
    expect([ran.judged.length, used(ran), ran.state.error?.code]).toEqual([3, 1990, "guardrail_blocked"]);
    const none = await run([calls(1, counts(900, 90))], { max_total_tokens: 1000 }, more);
    expect([none.judged.length, used(none)]).toEqual([0, 990]);
  });

  test("a judge is charged the price of its own model, not of the run's model", async () => {
    const verdict = counts(40, 20);
    const [guardrail] = judges(1, "output").guardrails!;
    const config = { ...guardrail!.config, model: "openai/gpt-4o" };
    const agent = { guardrails: [{ ...guardrail!, config }] };
    const cheap = { ...price, input: 0.001, cached_input: 0.001, output: 0.001 };
    const more = { agent, verdict, run: { price: cheap } };
    const short = await run([says(counts(100, 90))], { max_cost_usd: 0.0005 }, more);
    expect([short.judged.length, short.state.error?.code]).toEqual([0, "guardrail_blocked"]);
    const enough = await run([says(counts(100, 90))], { max_cost_usd: 0.5 }, more);
    expect([enough.judged.length, enough.state.status]).toEqual([1, "completed"]);
  });

  test("a judge is charged the price that the operator set for its model", async () => {
    const [guardrail] = judges(1, "output").guardrails!;
    const config = { ...guardrail!.config, model: "openai/judge" };
    const more = {
      agent: { guardrails: [{ ...guardrail!, config }] },
      verdict: counts(1000, 100),
      start: { judge_prices: { "openai/judge": { ...price, input: 100, cached_input: 100 } } },
    };
    const { state } = await run([says(counts(0, 0))], { max_cost_usd: 9 }, more);
    expect([state.status, state.usage.cost_usd]).toEqual(["completed", 0.1 + 0.0008]);
  });

  test("a run at an estimated price says so in its usage, its steps and its trace", async () => {
    const { state, events } = await run([calls(1, counts(1000, 100)), says(counts(1, 1))], null, {
      run: { price: { ...price, estimated: true } },
    });
    expect(state.usage).toMatchObject({ cost_usd: 0.00281, cost_estimated: true, estimated: false });
    const answers = events.flatMap((event) => (event.type === "step.completed" && event.answer ? [event.answer] : []));
    expect(answers.map(({ cost_estimated }) => cost_estimated)).toEqual([true, true]);
    expect((await run([says(counts(1, 1))], null)).state.usage).not.toHaveProperty("cost_estimated");
  });

  test("a call in another service tier costs an estimate, and its dearest price is reserved", async () => {
    const connection = { name: "openai", provider: "openai" as const, base_url: null, api_key: null };
    const start = { connection, model: "priced" };
    const asks = { start, agent: { settings: { extra_body: { service_tier: "priority" } } } };
    const spent = async (usage: ModelUsage, more: object = asks, budget: Budget | null = null) =>
      (await run([says(usage)], budget, more)).state;
    const plain = counts(1000, 100);
    // Without the provider's word it is charged as asked: 2.5 times the standard price.
    expect((await spent(plain)).usage).toMatchObject({ cost_usd: 0.007, cost_estimated: true });
    const served = (service_tier: string) => ({ ...plain, service_tier });
    expect((await spent(served("priority"), { start })).usage).toMatchObject({ cost_usd: 0.007, cost_estimated: true });
    expect((await spent(served("flex"), { start })).usage).toMatchObject({ cost_usd: 0.0014, cost_estimated: true });
    const standard = (await spent(served("default"))).usage;
    expect(standard).toMatchObject({ cost_usd: 0.0028 });
    expect(standard).not.toHaveProperty("cost_estimated");
    // A budget for a call in the standard tier has no room for one in a dearer tier.
    const budget = { max_cost_usd: 0.0004 };
    expect((await spent(counts(1, 1), {}, budget)).status).toBe("completed");
    expect(await spent(counts(1, 1), asks, budget)).toMatchObject({ error: { code: "budget_exceeded" } });
    const flex = { start, agent: { settings: { provider_options: { serviceTier: "flex" } } } };
    expect((await spent(counts(1, 1), flex, budget)).status).toBe("completed");
  });

  test("usage that the day does not know yet is reserved with the call", async () => {
    const reserve = (): Reserved => ({ granted: true, max_output_tokens: 500 });
    const more = { agent: judges(2, "output"), verdict: counts(40, 20), reserve };
    const { asked, requests, judged } = await run([says(counts(100, 90))], null, more);
    const [model, first, second] = [...requests, ...judged].map(promptTokens);
    expect(asked).toEqual([model!, first! + 190, second! + 250]);
  });
});

describe("tool calls", () => {
  test("the budgeted number of calls runs", async () => {
    const { state, ran } = await run([calls(1, counts(1, 1)), calls(1, counts(1, 1)), says(counts(1, 1))], {
      max_tool_calls: 2,
    });
    expect([ran(), state.status]).toEqual([2, "completed"]);
  });

  test("if one of several concurrent calls exceeds the budget, none of them runs", async () => {
    const { state, ran } = await run([calls(1, counts(1, 1)), calls(2, counts(1, 1))], { max_tool_calls: 2 });
    expect(ran()).toBe(1);
    expect(state).toMatchObject({ ...exceeded("budget.max_tool_calls: The run may make 2"), output: "I look." });
    expect(state.calls.map(({ status }) => status)).toEqual(["completed", "cancelled", "cancelled"]);
  });

  test("calls over budget are not shown to the client, and the run does not wait for an answer it could not use", async () => {
    const client = { tools: [tool("look")] };
    const { state, events } = await run([calls(2, counts(1, 1))], { max_tool_calls: 1 }, { agent: client });
    expect(state).toMatchObject(exceeded("budget.max_tool_calls"));
    expect(events.map(({ type }) => type)).not.toContain("run.requires_action");
  });
});

describe("a provider that reports no usage", () => {
  test.each([
    ["the prompt", counts(null, 7), { output_tokens: 7 }],
    ["the answer", counts(7, null), { input_tokens: 7 }],
  ])("%s: tokens and cost are estimated", async (_, usage, known) => {
    const { state } = await run([says(usage, "one two three four")], null, {
      agent: { instructions: "Be brief. ".repeat(9) },
    });
    expect(state.usage).toMatchObject({ ...known, estimated: true });
    expect(state.usage.total_tokens).toBeGreaterThan(10);
    expect(state.usage.cost_usd).toBeGreaterThan(0);
  });
});

// Property test: whatever the model does and however often it fails, a run never exceeds its budget.
test.each(Array.from({ length: 60 }, (_, index) => [index + 1]))("no run passes its budget (%p)", async (seed) => {
  const random = generator(seed);
  const any = (max: number) => Math.floor(random() * (max + 1));
  const budget = { max_total_tokens: 200 + any(20_000), max_cost_usd: (200 + any(40_000)) / 1e6 };
  const settings = random() < 0.5 ? { max_output_tokens: 1 + any(2000) } : {};
  const answer = (request: ModelRequest): ModelEvent[] => {
    const usage = counts(any(promptTokens(request)), any(request.settings.max_output_tokens!));
    const kind = random();
    return kind < 0.3 ? fails(usage, "Half") : kind < 0.98 ? calls(1, usage) : says(usage);
  };
  const { state } = await run(Array(400).fill(answer), budget, { agent: { settings } });
  const { total_tokens, cost_usd } = state.usage;
  expect(["completed", "failed"]).toContain(state.status);
  expect(total_tokens!).toBeLessThanOrEqual(budget.max_total_tokens);
  expect(nanoUsd(cost_usd!)).toBeLessThanOrEqual(nanoUsd(budget.max_cost_usd));
});

/** Seeded generator of numbers from 0 to 1. */
function generator(seed: number): () => number {
  let state = Math.imul(seed, 2_654_435_761);
  return () => {
    state = (Math.imul(state ^ (state >>> 15), 2_246_822_519) + 0x9e3779b9) >>> 0;
    return ((state ^ (state >>> 13)) >>> 0) / 2 ** 32;
  };
}
