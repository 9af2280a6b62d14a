import { expect, test } from "bun:test";
import type { ModelPrice } from "../../domain/price.ts";
import type { ProjectSettings } from "../../domain/project-settings.ts";
import type { ModelSpend } from "../../domain/run-event.ts";
import { noUsage } from "../../domain/usage.ts";
import { silentLog } from "../../lib/log.ts";
import { read, readingOf, type SpendGuard } from "../../runtime/models/spend-guard.ts";
import { openUsageJournal } from "../../testing/usage-journal.ts";
import { createDayBudgets } from "./day-budgets.ts";
import { createPaidCalls } from "./paid-calls.ts";
import { createUsageStore } from "./store.ts";
import { createUsageSums } from "./usage-projection.ts";

const noon = Date.parse("2026-11-21T12:00:00Z");
const price: ModelPrice = { input: 2, cached_input: 1, output: 8, as_of: "2026-04", source: "operator" };
const request = readingOf(["x".repeat(400)]);

async function open(settings: Pick<ProjectSettings, "budget_per_day" | "unknown_price"> = {}) {
  const { db, project, ...journal } = await openUsageJournal(noon);
  const usage = createUsageStore({ db });
  const dayBudgets = createDayBudgets({ spentOn: usage.spentOn, settings: () => settings, now: () => noon });
  const priceOf = (model: string) => (model === "openai/priced" ? price : null);
  const inPlace = <T>(_: unknown, __: string, ___: AbortSignal, call: () => Promise<T>) => call();
  const parts = {
    db,
    inPlace,
    sumOf: createUsageSums(db),
    dayBudgets,
    settingsOf: () => settings,
    priceOf,
    log: silentLog,
  };
  const payer: SpendGuard = { project_id: project.id, environment: "test" };
  return {
    payer,
    ...createPaidCalls({ ...parts, now: () => noon }),
    spent: () => usage.spentOn(payer, "2026-11-21"),
    rows: () => db.sqlite.query("SELECT agent_id, model, model_calls, estimated, unknown_cost FROM usage_days").all(),
    [Symbol.dispose]: () => journal[Symbol.dispose](),
  };
}

test("a call is counted in the day's usage by its own model and price, also one that fails in the middle", async () => {
  using it = await open();
  const told: ModelSpend[] = [];
  const payer = { ...it.payer, told: (spent: ModelSpend) => void told.push(spent) };
  const call = { model: "openai/priced", request };
  const found = await it.pay(payer, call, async (count) => {
    count(read(100));
    return "found";
  });
  expect(found).toBe("found");
  expect(told).toMatchObject([{ usage: { input_tokens: 100, output_tokens: 0 }, cost_usd: 0.0002, estimated: false }]);
  const half = it.pay(payer, call, async (count) => {
    count(read(50));
    throw new Error("The second half was lost.");
  });
  await expect(half).rejects.toThrow("second half");
  expect(it.spent()).toEqual({ total_tokens: 150, cost_nano_usd: 300_000 });
  await it.pay(payer, call, async () => null); // There was no answer, so nothing is paid.
  expect(it.rows()).toEqual([{ agent_id: "", model: "openai/priced", model_calls: 2, estimated: 0, unknown_cost: 0 }]);
});

test("without a reported usage the input is estimated; an unknown price is counted as unknown", async () => {
  using it = await open();
  const standing = { run_id: "run_1", agent_id: "agt_1", budget: null, usage: noUsage };
  const call = { model: "ollama/unknown", request };
  await it.pay({ ...it.payer, run: standing }, call, async (count) => count(read(null)));
  expect(it.rows()).toEqual([
    { agent_id: "agt_1", model: "ollama/unknown", model_calls: 1, estimated: 1, unknown_cost: 1 },
  ]);
  expect(it.spent().total_tokens).toBeGreaterThan(100);
});

test("a call that exceeds the budget of the day or of its run is not made", async () => {
  using it = await open({ budget_per_day: { max_total_tokens: 1000 } });
  const call = { model: "openai/priced", request };
  const never = async () => {
    throw new Error("It was made.");
  };
  const standing = { run_id: "run_1", agent_id: "agt_1", budget: { max_total_tokens: 100 }, usage: noUsage };
  await expect(it.pay({ ...it.payer, run: standing }, call, never)).rejects.toMatchObject({
    code: "budget_exceeded",
    message: expect.stringContaining("The run has used 0 of 100 tokens"),
  });
  await it.pay(it.payer, call, async (count) => count(read(900)));
  await expect(it.pay(it.payer, call, never)).rejects.toMatchObject({
    code: "budget_exceeded",
    message: expect.stringContaining("900 are spent and 0 reserved"),
  });
});

test("concurrent calls never exceed the day's budget together", async () => {
  using it = await open({ budget_per_day: { max_total_tokens: 500 } });
  const call = { model: "openai/priced", request }; // At most some 240 tokens.
  const answered = Promise.withResolvers<void>();
  const made = Array.from({ length: 5 }, () => it.pay(it.payer, call, () => answered.promise));
  answered.resolve();
  const ends = await Promise.allSettled(made);
  expect(ends.map(({ status }) => status)).toEqual(["fulfilled", "fulfilled", "rejected", "rejected", "rejected"]);
  await it.pay(it.payer, call, async (count) => count(read(1))); // The reservation is free again.
});

test("under a budget in USD an unknown price is refused, unless the project allows it", async () => {
  const budget_per_day = { max_cost_usd: 1 };
  const call = { model: "ollama/unknown", request };
  using strict = await open({ budget_per_day });
  await expect(strict.pay(strict.payer, call, async () => {})).rejects.toMatchObject({ code: "budget_exceeded" });
  using lax = await open({ budget_per_day, unknown_price: "allow" });
  await lax.pay(lax.payer, call, async (count) => count(read(10)));
});

test("concurrent searches of one run never exceed its budget together, including usage not yet written", async () => {
  using it = await open();
  const run = { run_id: "run_1", agent_id: "agt_1", budget: { max_total_tokens: 500 }, usage: noUsage };
  const payer = () => ({ ...it.payer, run }); // Each search has a payer of its own, and sees the same record.
  const call = { model: "openai/priced", request }; // At most some 240 tokens.
  const answered = Promise.withResolvers<void>();
  const made = Array.from({ length: 3 }, () =>
    it.pay(payer(), call, async (count) => {
      await answered.promise;
      count(read(200));
    }),
  );
  answered.resolve();
  expect((await Promise.allSettled(made)).map(({ status }) => status)).toEqual(["fulfilled", "fulfilled", "rejected"]);
  await expect(it.pay(payer(), call, async () => {})).rejects.toMatchObject({ code: "budget_exceeded" });
  await it.pay({ ...it.payer, run: { ...run, run_id: "run_2" } }, call, async () => {});
  it.committed("run_1", [{ event: { type: "memory.retrieved" } } as never]); // From now on it is in the run's usage.
  await it.pay(payer(), call, async () => {});
});

test("a follower gets each call's cost with its model", async () => {
  using it = await open();
  const heard: [string, number | null][] = [];
  it.onPaid((model, { usage }) => heard.push([model, usage.input_tokens]));
  await it.pay(it.payer, { model: "openai/priced", request }, async (count) => count(read(7)));
  expect(heard).toEqual([["openai/priced", 7]]);
});
