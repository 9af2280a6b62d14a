import { describe, expect, test } from "bun:test";
import {
  allowance,
  type BudgetFacts,
  budgetFrom,
  findExceeded,
  fitWorstCase,
  promptTokens,
  remainingBudget,
  tightestBudget,
  worstCase,
  worstCost,
} from "./budget.ts";
import type { Budget } from "./budget-schema.ts";
import { costOf, nanoUsd } from "./cost.ts";
import type { ModelRequest, ModelSettings } from "./model-call.ts";
import type { ModelPrice } from "./price.ts";
import { noUsage } from "./usage.ts";

const price: ModelPrice = { input: 2, cached_input: 0.5, output: 8, as_of: "2026-04", source: "built_in" };
const asking = (content: string, settings: ModelSettings = {}): ModelRequest => ({
  messages: [{ role: "user", content }],
  tools: [],
  settings,
});
/** A prompt of a given number of tokens by our estimate. */
const promptOf = (tokens: number, settings: ModelSettings = {}): ModelRequest => {
  const request = asking("x".repeat(2 * tokens - 2 * promptTokens(asking(""))), settings);
  expect(promptTokens(request)).toBe(tokens);
  return request;
};
const used = (total_tokens: number | null, cost_usd: number | null = 0) => ({ ...noUsage, total_tokens, cost_usd });

describe("a prompt", () => {
  test.each([
    ["prose", "Nobody ever saw the stream stop, for it went around every stone. ".repeat(20), 300],
    ["Chinese", "河水绕过每一块石头从未停下来".repeat(20), 300],
    ["JSON", JSON.stringify(Array.from({ length: 40 }, (_, id) => ({ id, name: `item ${id}` }))), 400],
  ])("of %s has no more tokens than are counted", (_, text, tokens) => {
    expect(promptTokens(asking(text))).toBeGreaterThanOrEqual(tokens);
  });

  test("counts its tools and the requested output format", () => {
    const bare = asking("Hi");
    const tools = [{ name: "clock", description: "x".repeat(200), parameters: {} }];
    expect(promptTokens({ ...bare, tools })).toBeGreaterThan(promptTokens(bare) + 100);
    expect(promptTokens({ ...bare, output_schema: { title: "x".repeat(200) } })).toBeGreaterThan(
      promptTokens(bare) + 100,
    );
  });
});

describe("the worst case", () => {
  test("is a prompt without a discount and the longest answer", () => {
    const worst = worstCase(promptOf(1000, { max_output_tokens: 500 }), price);
    expect(worst).toEqual({ input_tokens: 1000, max_output_tokens: 500, fixed: true, price: { input: 2, output: 8 } });
    expect(worstCost(worst)).toBe(6_000_000);
  });

  test("is a prompt that is written to a cache as a whole", () => {
    const writing = { ...price, cache_write_5m: 2.5, cache_write_1h: 4 };
    expect(worstCase(promptOf(1000), writing).price).toEqual({ input: 2.5, output: 8 });
  });

  test("is a prompt that is written for an hour only if the settings ask for that", () => {
    const writing = { ...price, cache_write_5m: 2.5, cache_write_1h: 4 };
    const hour = { stop: ["1h"] }; // Stands for settings that are passed on to a provider.
    expect(worstCase({ ...promptOf(1000), settings: hour }, writing).price).toEqual({ input: 4, output: 8 });
  });

  test("of an answer without a limit is the model's maximal output", () => {
    const request = promptOf(1000);
    expect(worstCase(request, { ...price, max_output_tokens: 32_768 })).toMatchObject({
      max_output_tokens: 32_768,
      fixed: false,
    });
    expect(worstCase(request, price).max_output_tokens).toBe(8192);
  });

  test("has no cost where the price is unknown, also by the prompt's length", () => {
    expect(worstCost(worstCase(promptOf(1000), null))).toBeNull();
    expect(worstCost(worstCase(promptOf(1000), { ...price, priced_up_to: 999 }))).toBeNull();
    expect(worstCost(worstCase(promptOf(1000), { ...price, priced_up_to: 1000 }))).not.toBeNull();
  });

  test("costs at least as much as any call within it", () => {
    for (let n = 0; n < 2000; n++) {
      const any = (max: number) => Math.round(Math.random() * max) / 1000;
      const odd: ModelPrice = {
        ...price,
        input: any(9000),
        cached_input: any(9000),
        output: any(9000),
        ...(n % 2 === 0 && { cache_write_5m: any(9000) }),
      };
      const worst = worstCase(promptOf(500 + (n % 500), { max_output_tokens: 1 + n }), odd);
      const cost = costOf(odd, {
        input_tokens: worst.input_tokens,
        cached_input_tokens: Math.floor(Math.random() * worst.input_tokens),
        cache_write_5m_tokens: Math.floor(Math.random() * worst.input_tokens),
        output_tokens: worst.max_output_tokens,
        reasoning_tokens: null,
      })!;
      expect(nanoUsd(cost)).toBeLessThanOrEqual(worstCost(worst)!);
    }
  });
});

describe("allowance", () => {
  const cases: [string, Parameters<typeof allowance>, number | null | string][] = [
    ["no budget leaves the request as it is", [null, used(9e9), price, promptOf(100)], null],
    ["no budget keeps what the agent says", [null, used(9e9), price, promptOf(100, { max_output_tokens: 7 })], 7],
    ["limits of other things do not bound an answer", [{ max_tool_calls: 0 }, used(9e9), price, promptOf(100)], null],
    ["the answer gets what is left", [{ max_total_tokens: 1000 }, used(300), price, promptOf(100)], 600],
    [
      "the answer gets no more than the model gives",
      [{ max_total_tokens: 1e6 }, used(0), { ...price, max_output_tokens: 4096 }, promptOf(100)],
      4096,
    ],
    [
      "what the agent says fits exactly",
      [{ max_total_tokens: 1000 }, used(300), price, promptOf(100, { max_output_tokens: 600 })],
      600,
    ],
    [
      "what the agent says does not fit by one",
      [{ max_total_tokens: 1000 }, used(301), price, promptOf(100, { max_output_tokens: 600 })],
      "max_total_tokens",
    ],
    ["an answer of sixteen tokens is one", [{ max_total_tokens: 416 }, used(300), price, promptOf(100)], 16],
    ["one of fifteen is none", [{ max_total_tokens: 415 }, used(300), price, promptOf(100)], "max_total_tokens"],
    ["a prompt that does not fit", [{ max_total_tokens: 99 }, used(0), price, promptOf(100)], "max_total_tokens"],
    [
      "unknown tokens use up a budget",
      [{ max_total_tokens: 1e6 }, used(null), price, promptOf(100)],
      "max_total_tokens",
    ],
    // 1000 tokens of prompt cost 0.002 USD, 1000 of an answer 0.008.
    ["money buys an answer", [{ max_cost_usd: 0.011 }, used(0, 0.001), price, promptOf(1000)], 1000],
    [
      "the tighter of tokens and money",
      [{ max_cost_usd: 0.01, max_total_tokens: 1500 }, used(0), price, promptOf(1000)],
      500,
    ],
    ["money for the prompt alone", [{ max_cost_usd: 0.002 }, used(0), price, promptOf(1000)], "max_cost_usd"],
    [
      "money that lacks a nano-dollar",
      [{ max_cost_usd: 0.01 }, used(0, 1e-9), price, promptOf(1000, { max_output_tokens: 1000 })],
      "max_cost_usd",
    ],
    [
      "free models need no money",
      [{ max_cost_usd: 0 }, used(0), { ...price, input: 0, cached_input: 0, output: 0 }, promptOf(100)],
      8192,
    ],
    ["an unknown price is refused", [{ max_cost_usd: 1e6 }, used(0), null, promptOf(100)], "max_cost_usd"],
    ["an unknown price does not matter to tokens", [{ max_total_tokens: 1000 }, used(0), null, promptOf(100)], 900],
    ["unknown cost so far is refused", [{ max_cost_usd: 1e6 }, used(0, null), price, promptOf(100)], "max_cost_usd"],
    ["by setting an unknown price is taken", [{ max_cost_usd: 1 }, used(0), null, promptOf(100), "allow"], 8192],
    [
      "tokens count also where the price does not",
      [{ max_cost_usd: 1, max_total_tokens: 1000 }, used(0, null), null, promptOf(100), "allow"],
      900,
    ],
  ];
  test.each(cases)("%s", (_, asked, expected) => {
    const answer = allowance(...asked);
    const outcome: string | number | null = "exceeded" in answer ? answer.exceeded : answer.max_output_tokens;
    expect(outcome).toBe(expected);
    if ("exceeded" in answer) expect(answer.message).toMatch(/^[A-Z].{15,}\.$/);
    else if (answer.max_output_tokens !== null) expect(answer.worst.max_output_tokens).toBe(answer.max_output_tokens);
  });

  test("never allows more than the budget, whatever the prices", () => {
    for (let n = 0; n < 2000; n++) {
      const any = (max: number) => Math.round(Math.random() * max) / 1000;
      const odd: ModelPrice = { ...price, input: any(9000), cached_input: 0, output: any(9000) };
      const [spent, max_cost_usd] = [any(5), any(20)];
      const answer = allowance({ max_cost_usd }, used(0, spent), odd, promptOf(500 + (n % 500)));
      if (!("exceeded" in answer))
        expect(nanoUsd(spent) + worstCost(answer.worst)!).toBeLessThanOrEqual(nanoUsd(max_cost_usd));
    }
  });
});

test("a call that fits all limits is unchanged", () => {
  const worst = worstCase(promptOf(100), price);
  expect(fitWorstCase(worst, { tokens: Number.POSITIVE_INFINITY, nano_usd: Number.POSITIVE_INFINITY })).toEqual(worst);
});

describe("the facts of a run", () => {
  const facts = (usage: Partial<BudgetFacts["usage"]>, wall_ms = 0): BudgetFacts => ({
    usage: { ...noUsage, ...usage },
    wall_ms,
  });
  const cases: [Budget | null, BudgetFacts, keyof Budget | null][] = [
    [null, facts({ total_tokens: 1e9, cost_usd: 1e9, tool_calls: 1e9 }, 1e9), null],
    [{ max_tool_calls: 2 }, facts({ tool_calls: 2 }), null],
    [{ max_tool_calls: 2 }, facts({ tool_calls: 3 }), "max_tool_calls"],
    [{ max_tool_calls: 0 }, facts({ tool_calls: 1 }), "max_tool_calls"],
    [{ max_wall_ms: 100 }, facts({}, 99), null],
    [{ max_wall_ms: 100 }, facts({}, 100), "max_wall_ms"],
    [{ max_total_tokens: 10 }, facts({ total_tokens: 10 }), null],
    [{ max_total_tokens: 10 }, facts({ total_tokens: 11 }), "max_total_tokens"],
    [{ max_cost_usd: 0.3 }, facts({ cost_usd: 0.1 + 0.2 }), null],
    [{ max_cost_usd: 0.3 }, facts({ cost_usd: 0.300000001 }), "max_cost_usd"],
    [{ max_cost_usd: 0.3, max_total_tokens: 1 }, facts({ cost_usd: null, total_tokens: null }), null],
  ];
  test.each(cases)("%p holds against %p: %p", (budget, given, exceeded) => {
    expect(findExceeded(budget, given)?.exceeded ?? null).toBe(exceeded);
  });

  test("the rest for a child is never negative, and zero if usage is unknown", () => {
    const budget = { max_cost_usd: 0.3, max_total_tokens: 100, max_tool_calls: 2, max_wall_ms: 50 };
    expect(remainingBudget(budget, facts({ cost_usd: 0.1, total_tokens: 30, tool_calls: 1 }, 20))).toEqual({
      max_cost_usd: 0.2,
      max_total_tokens: 70,
      max_tool_calls: 1,
      max_wall_ms: 30,
    });
    const nothing = { max_cost_usd: 0, max_total_tokens: 0, max_tool_calls: 0, max_wall_ms: 0 };
    expect(remainingBudget(budget, facts({ cost_usd: 9, total_tokens: 900, tool_calls: 9 }, 900))).toEqual(nothing);
    expect(remainingBudget(budget, facts({ cost_usd: null, total_tokens: null, tool_calls: 9 }, 900))).toEqual(nothing);
    expect(remainingBudget({}, facts({}))).toEqual({});
    expect(remainingBudget(null, facts({}))).toBeNull();
  });
});

test.each([
  [null, undefined, null],
  [{}, {}, null],
  [{ max_cost_usd: 2 }, null, { max_cost_usd: 2 }],
  [null, { max_cost_usd: 0 }, { max_cost_usd: 0 }],
  [
    { max_cost_usd: 2, max_tool_calls: 1 },
    { max_cost_usd: 3, max_wall_ms: 5 },
    { max_cost_usd: 2, max_tool_calls: 1, max_wall_ms: 5 },
  ],
] as const)("the tightest of %p and %p is %p", (a, b, both) => {
  expect(tightestBudget(a, b)).toEqual(both);
  expect(tightestBudget(b, a)).toEqual(both);
});

test("the next agent of a run may use what it has itself, and never more than the run has left", () => {
  const used = { usage: { ...noUsage, total_tokens: 100, cost_usd: 0.5, tool_calls: 2 }, wall_ms: 1000 };
  const own = { max_total_tokens: 50, max_cost_usd: 0.25, max_tool_calls: 3, max_wall_ms: 500 };
  const after = { max_total_tokens: 150, max_cost_usd: 0.75, max_tool_calls: 5, max_wall_ms: 1500 };
  expect(budgetFrom(own, null, used)).toEqual(after);
  expect(budgetFrom(own, { max_total_tokens: 120 }, used)).toEqual({ ...after, max_total_tokens: 120 });
  expect(budgetFrom({}, { max_total_tokens: 120 }, used)).toEqual({ max_total_tokens: 120 });
});
