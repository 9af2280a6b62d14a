import { describe, expect, test } from "bun:test";
import type { WorstCase } from "../../domain/budget.ts";
import { worstCost } from "../../domain/budget.ts";
import type { DayBudget, ProjectSettings } from "../../domain/project-settings.ts";
import type { Environment, Scope } from "../../domain/scope.ts";
import { type CallGrant, createDayBudgets } from "./day-budgets.ts";

const noon = Date.parse("2026-11-21T12:00:00Z");
const scope: Scope = { project_id: "proj_a", environment: "test" };

/** Opens a table of usage in memory, a clock, and the budgets. */
function open(budget: DayBudget | undefined, more: Pick<ProjectSettings, "unknown_price"> = {}) {
  const spent = new Map<string, { total_tokens: number; cost_nano_usd: number }>();
  const clock = { at: noon };
  const world = { settings: { budget_per_day: budget, ...more }, clock };
  const keyOf = ({ project_id, environment }: Scope, day: string) => `${project_id} ${environment} ${day}`;
  const spentOn = (of: Scope, day: string) => spent.get(keyOf(of, day)) ?? { total_tokens: 0, cost_nano_usd: 0 };
  const budgets = createDayBudgets({ spentOn, settings: () => world.settings, now: () => clock.at });
  return {
    ...world,
    ...budgets,
    world,
    spentOn,
    /** Adds a call's cost as the projection does at its commit. */
    spend(of: Scope, total_tokens: number, cost_nano_usd = 0): void {
      const day = new Date(clock.at).toISOString().slice(0, 10);
      const before = spentOn(of, day);
      spent.set(keyOf(of, day), {
        total_tokens: before.total_tokens + total_tokens,
        cost_nano_usd: before.cost_nano_usd + cost_nano_usd,
      });
    },
  };
}

const call = (input_tokens: number, max_output_tokens: number, more: Partial<WorstCase> = {}): WorstCase => ({
  input_tokens,
  max_output_tokens,
  fixed: true,
  price: { input: 1, output: 1 },
  ...more,
});

describe("a day's budget", () => {
  test("is unlimited if it is not set", () => {
    for (const budget of [undefined, {}]) {
      const { reserve } = open(budget);
      expect(reserve(scope, "run_a", call(1e12, 1e12))).toEqual({ granted: true, max_output_tokens: null });
    }
  });

  test("allows one call that takes all of it, and none beside it", () => {
    const { reserve } = open({ max_total_tokens: 1000 });
    expect(reserve(scope, "run_a", call(600, 400))).toEqual({ granted: true, max_output_tokens: 400 });
    expect(reserve(scope, "run_b", call(1, 1))).toMatchObject({ granted: false, because: "reserved" });
  });

  test("refuses a call that exceeds it alone", () => {
    const { reserve } = open({ max_total_tokens: 1000 });
    expect(reserve(scope, "run_a", call(600, 401))).toMatchObject({ granted: false, because: "spent" });
    const { reserve: reserveUsd } = open({ max_cost_usd: 0.001 });
    expect(reserveUsd(scope, "run_a", call(600, 400)).granted).toBe(true);
    expect(reserveUsd(scope, "run_b", call(600, 401))).toMatchObject({ granted: false, because: "spent" });
  });

  test("gives the rest to an answer without a length limit", () => {
    const { reserve, spend } = open({ max_total_tokens: 1000 });
    spend(scope, 300);
    expect(reserve(scope, "run_a", call(100, 64_000, { fixed: false }))).toEqual({
      granted: true,
      max_output_tokens: 600,
    });
  });

  test("returns what a call did not use", () => {
    const { reserve, release, spend } = open({ max_total_tokens: 1000 });
    reserve(scope, "run_a", call(100, 900));
    spend(scope, 150);
    release(scope, "run_a");
    expect(reserve(scope, "run_b", call(450, 400)).granted).toBe(true);
    expect(reserve(scope, "run_c", call(0, 1)).granted).toBe(false);
  });

  test("recognizes the next attempt of a call, beside the cost of the failed one", () => {
    const { reserve, spend } = open({ max_total_tokens: 1000 });
    expect(reserve(scope, "run_a", call(500, 400)).granted).toBe(true);
    expect(reserve(scope, "run_a", call(500, 400)).granted).toBe(true);
    spend(scope, 500);
    expect(reserve(scope, "run_a", call(500, 400)).granted).toBe(false);
    expect(reserve(scope, "run_b", call(250, 250)).granted).toBe(true);
  });

  test("is separate for test and live, and for every project", () => {
    const { reserve, spend } = open({ max_total_tokens: 1000 });
    spend(scope, 1000);
    expect(reserve(scope, "run_a", call(1, 1)).granted).toBe(false);
    for (const other of [
      { ...scope, environment: "live" as Environment },
      { ...scope, project_id: "proj_b" },
    ])
      expect(reserve(other, "run_b", call(500, 500)).granted).toBe(true);
  });

  test("resets at midnight in UTC, except for calls in progress", () => {
    const { reserve, spend, release, clock } = open({ max_total_tokens: 1000 });
    clock.at = Date.parse("2026-11-21T23:59:59.999Z");
    spend(scope, 400);
    expect(reserve(scope, "run_a", call(300, 300)).granted).toBe(true);
    expect(reserve(scope, "run_b", call(500, 500))).toMatchObject({ resets_at: "2026-11-22T00:00:00.000Z" });
    clock.at++;
    expect(reserve(scope, "run_b", call(500, 500))).toMatchObject({ granted: false, because: "reserved" });
    spend(scope, 600);
    release(scope, "run_a");
    expect(reserve(scope, "run_b", call(200, 200)).granted).toBe(true);
  });

  test("counts calls that began before it was set, and is read at every call", () => {
    const { reserve, world } = open(undefined);
    reserve(scope, "run_a", call(500, 400));
    world.settings = { budget_per_day: { max_total_tokens: 1000 } };
    expect(reserve(scope, "run_b", call(50, 51)).granted).toBe(false);
    expect(reserve(scope, "run_b", call(50, 50)).granted).toBe(true);
  });

  test("in USD refuses an unknown price, unless the project allows it; the tokens count", () => {
    const unknown = call(100, 100, { price: null });
    expect(open({ max_cost_usd: 1 }).reserve(scope, "run_a", unknown)).toMatchObject({ because: "unknown_price" });
    const both = { max_cost_usd: 1, max_total_tokens: 300 };
    const { reserve } = open(both, { unknown_price: "allow" });
    expect(reserve(scope, "run_a", unknown).granted).toBe(true);
    expect(reserve(scope, "run_b", unknown)).toMatchObject({ granted: false, because: "reserved" });
    expect(open({ max_total_tokens: 300 }).reserve(scope, "run_a", unknown).granted).toBe(true);
  });

  test("reports its amount, the spent part and the time of its reset", () => {
    const { reserve, spend } = open({ max_cost_usd: 0.5 });
    spend(scope, 10, 400_000_000);
    reserve(scope, "run_a", call(50_000, 40_000));
    const refused = reserve(scope, "run_b", call(10_000, 1));
    expect("message" in refused && refused.message).toBe(
      "The project may spend 0.5 USD a day: 0.4 are spent and 0.09 reserved for other calls, which leaves too little for this one. The next day begins at 2026-11-22T00:00:00.000Z.",
    );
  });
});

describe("waiting for a reservation", () => {
  test("resolves as soon as the budget is free, and at once when none is held", async () => {
    const { reserve, release, freed } = open({ max_total_tokens: 1000 });
    await freed(scope);
    reserve(scope, "run_a", call(500, 500));
    reserve(scope, "run_b", call(1, 1));
    let heard = false;
    const waiting = freed(scope).then(() => {
      heard = true;
    });
    release(scope, "run_b"); // Has reserved nothing.
    await Promise.resolve();
    expect(heard).toBe(false);
    release(scope, "run_a");
    await waiting;
    await freed(scope);
  });
});

// In any interleaving of runs, the spent amount never exceeds the budget, by not a token and not a nano-dollar.
test.each(Array.from({ length: 40 }, (_, index) => [index + 1]))("no interleaving exceeds the budget (%p)", (seed) => {
  const random = generator(seed);
  const any = (max: number) => Math.floor(random() * (max + 1));
  const limit = { max_total_tokens: 1 + any(50_000), max_cost_usd: (1 + any(50_000)) / 1e6 };
  const { reserve, release, spend, spentOn, clock } = open(limit);
  const running = new Map<string, WorstCase>();
  let [granted, refused] = [0, 0];
  for (let n = 0; n < 2000; n++) {
    const run = `run_${any(7)}`;
    const going = running.get(run);
    if (going) {
      const tokens = any(going.input_tokens + going.max_output_tokens);
      spend(scope, tokens, any(worstCost(going)!));
      if (random() < 0.7) {
        release(scope, run);
        running.delete(run);
        continue;
      }
    }
    const price = { input: any(5000) / 1000, output: any(5000) / 1000 };
    const worst: WorstCase = {
      input_tokens: any(3000),
      max_output_tokens: 1 + any(3000),
      fixed: random() < 0.5,
      price,
    };
    const answer = reserve(scope, run, worst);
    running.delete(run);
    if (answer.granted) running.set(run, { ...worst, max_output_tokens: (answer as CallGrant).max_output_tokens! });
    if (answer.granted) granted++;
    else refused++;
    const { total_tokens, cost_nano_usd } = spentOn(scope, new Date(clock.at).toISOString().slice(0, 10));
    expect(total_tokens).toBeLessThanOrEqual(limit.max_total_tokens);
    expect(cost_nano_usd).toBeLessThanOrEqual(Math.round(limit.max_cost_usd * 1e9));
    if (random() < 0.002) clock.at += 24 * 3_600_000;
  }
  expect(granted).toBeGreaterThan(0);
  expect(refused).toBeGreaterThan(0);
});

/** Returns a deterministic generator of numbers from 0 to 1. */
function generator(seed: number): () => number {
  let state = seed * 2_654_435_761;
  return () => {
    state = (Math.imul(state ^ (state >>> 15), 2_246_822_519) + 0x9e3779b9) >>> 0;
    return ((state ^ (state >>> 13)) >>> 0) / 2 ** 32;
  };
}

test("usage of a run that is not written yet is held with its next call", () => {
  const day = open({ max_total_tokens: 1000 });
  const judging = call(100, 100, { unrecorded: { tokens: 700, nano_usd: 0 } });
  expect(day.reserve(scope, "run_1", judging)).toMatchObject({ granted: true });
  expect(day.reserve(scope, "run_2", call(100, 100))).toMatchObject({ granted: false, because: "reserved" });
  day.release(scope, "run_1");
  expect(day.reserve(scope, "run_2", call(100, 100))).toMatchObject({ granted: true });
  expect(day.reserve(scope, "run_1", { ...judging, unrecorded: { tokens: 900, nano_usd: 0 } })).toMatchObject({
    because: "spent",
  });
});
