import { expect, test } from "bun:test";
import { createInstruments } from "../../services/metrics/instruments.ts";
import { createSpending } from "../../services/metrics/spending.ts";
import { parseMetrics, quantileOf, rateOf, type Scrape, sumOf } from "./read-metrics.ts";
import { sampleOf, textOf } from "./top.ts";

test("metrics are read back as they were recorded", () => {
  const { registry, runs, http } = createInstruments();
  const scrape = (at: number): Scrape => ({ at, samples: parseMetrics(registry.text()) });
  const run = (status: string, seconds: number) => {
    runs.ended.inc({ environment: "test", status, error_code: status === "failed" ? 'a "quoted" one' : "" });
    runs.duration.observe({ environment: "test", status }, seconds);
  };
  run("completed", 1000);
  runs.now.set({ status: "in_progress" }, 7);
  const before = scrape(0);
  for (let i = 0; i < 98; i++) run("completed", 0.2);
  for (let i = 0; i < 2; i++) run("failed", 4);
  http.duration.observe(
    { http_request_method: "GET", http_route: "/v1/runs/:id", http_response_status_code: 200 },
    0.004,
  );
  const after = scrape(10_000);
  expect(sumOf(after, "runnel_runs_ended_total")).toBe(101);
  expect(rateOf(before, after, "runnel_runs_ended_total", { status: "failed" })).toBe(0.2);
  expect([0.5, 0.98, 0.99, 1].map((q) => quantileOf(before, after, "runnel_run_duration_seconds", q))).toEqual([
    0.25, 0.25, 5, 5,
  ]);
  expect(quantileOf(after, after, "runnel_run_duration_seconds", 0.5)).toBeNull();
  expect(sampleOf(before, after)).toMatchObject({
    runs: { in_progress: 7, queued: 0, ended_per_second: 10, failed_per_second: 0.2, p50_ms: 250, p99_ms: 5000 },
    requests: { per_second: 0.1, p50_ms: 5, p99_ms: 5 },
    tools: { calls_per_second: 0, p50_ms: null, p99_ms: null },
  });
});

test("an unknown cost is not shown as zero, and a partly known one is shown as a lower bound", () => {
  const instruments = createInstruments();
  const { spend } = createSpending(instruments);
  const scrape = (at: number): Scrape => ({ at, samples: parseMetrics(instruments.registry.text()) });
  const usage = { input_tokens: 5, output_tokens: 5, cached_input_tokens: 0, reasoning_tokens: 0 };
  const call = (cost_usd: number | null) => spend("ollama/llama3.2", { usage, cost_usd, estimated: false });
  for (const cost of [0, null]) call(cost);
  const costAfter = (...costs: (number | null)[]): string => {
    const before = scrape(0);
    for (const cost of costs) call(cost);
    return /^cost {2}(.+?) an hour/m.exec(textOf(sampleOf(before, scrape(3_600_000))))![1]!;
  };
  expect(costAfter()).toBe("$0.00");
  expect(costAfter(0)).toBe("$0.00");
  expect(costAfter(null)).toBe("–");
  expect(costAfter(null, 0.5)).toBe("≥ $0.50");
});
