import { expect, test } from "bun:test";
import { createInstruments } from "../metrics/instruments.ts";
import { parseMetrics, quantileOf, rateOf, type Scrape, sumOf } from "./read-metrics.ts";
import { sampleOf } from "./top.ts";

test("what is read of metrics is what was measured", () => {
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
    ...[0.25, 0.25, 5, 5],
  ]);
  expect(quantileOf(after, after, "runnel_run_duration_seconds", 0.5)).toBeNull();
  expect(sampleOf(before, after)).toMatchObject({
    runs: { in_progress: 7, queued: 0, ended_per_second: 10, failed_per_second: 0.2, p50_ms: 250, p99_ms: 5000 },
    requests: { per_second: 0.1, p50_ms: 5, p99_ms: 5 },
    tools: { calls_per_second: 0, p50_ms: null, p99_ms: null },
  });
});
