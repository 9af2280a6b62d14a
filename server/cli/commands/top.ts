import { requireValue } from "../../lib/require-value.ts";
import { createLeaderClient } from "../cluster/leader-client.ts";
import { type ClientFlags, openProbe } from "./client-options.ts";
import { CliError, usageError } from "./exit-code.ts";
import { writeOut } from "./output.ts";
import { print, table } from "./print.ts";
import { parseMetrics, quantileOf, rateOf, type Scrape, sumOf } from "./read-metrics.ts";

export interface TopFlags extends Omit<ClientFlags, "apiKey"> {
  metricsToken?: string;
  interval: string;
  cluster?: string;
  cell: string;
}

/** Values shown for one interval. Rates are per second, times in milliseconds; null if nothing was measured. */
type TopSample = ReturnType<typeof sampleOf>;

/** Shows live figures of a server until interrupted; once with `--json` or without a terminal. */
export async function top(flags: TopFlags): Promise<void> {
  const interval_ms = readInterval(flags.interval);
  const scrape = await openScraper(flags);
  let from = await scrape();
  for (const once = flags.json || !process.stdout.isTTY; ; ) {
    await Bun.sleep(interval_ms);
    const to = await scrape();
    const sample = sampleOf(from, to);
    if (!once) writeOut("\x1b[2J\x1b[H"); // Clears the screen and moves the cursor home.
    print(flags.json, sample, () => textOf(sample));
    if (once) return;
    from = to;
  }
}

function readInterval(text: string): number {
  const seconds = Number(text);
  if (!(seconds >= 0.1 && seconds <= 3600))
    throw usageError(`--interval takes seconds from 0.1 to 3600, not "${text}".`);
  return seconds * 1000;
}

async function openScraper(flags: TopFlags): Promise<() => Promise<Scrape>> {
  const read = flags.cluster !== undefined && flags.url === undefined ? atLeader(flags) : await atServer(flags);
  return async () => ({ at: performance.now(), samples: parseMetrics(await read()) });
}

/** Reads the metrics of the current leader. */
const atLeader =
  ({ cluster, cell }: TopFlags) =>
  async (): Promise<string> =>
    await (
      await (await createLeaderClient({ cluster: requireValue(cluster, "--cluster"), cell })).read("/metrics")
    ).text();

async function atServer({ metricsToken, ...flags }: TopFlags): Promise<() => Promise<string>> {
  const { url, unproven, ask } = await openProbe(flags, "/metrics");
  const headers: Record<string, string> = metricsToken && !unproven ? { authorization: `Bearer ${metricsToken}` } : {};
  return async () => {
    const response = await ask({ headers });
    if (response.status === 401)
      throw new CliError("From another machine, give --metrics-token or RUNNEL_METRICS_TOKEN.");
    if (!response.ok) throw new CliError(`${url} returned ${response.status}.`);
    return await response.text();
  };
}

const ms = (seconds: number | null): number | null =>
  seconds === null || seconds === Number.POSITIVE_INFINITY ? null : seconds * 1000;

export function sampleOf(from: Scrape, to: Scrape) {
  const rate = (name: string, labels?: Record<string, string>) => Math.max(0, rateOf(from, to, name, labels));
  const times = (name: string) => ({
    p50_ms: ms(quantileOf(from, to, name, 0.5)),
    p99_ms: ms(quantileOf(from, to, name, 0.99)),
  });
  return {
    runs: {
      in_progress: sumOf(to, "runnel_runs", { status: "in_progress" }),
      queued: sumOf(to, "runnel_runs", { status: "queued" }),
      requires_action: sumOf(to, "runnel_runs", { status: "requires_action" }),
      oldest_queued_seconds: sumOf(to, "runnel_queue_oldest_seconds"),
      ended_per_second: rate("runnel_runs_ended_total"),
      failed_per_second: rate("runnel_runs_ended_total", { status: "failed" }),
      ...times("runnel_run_duration_seconds"),
    },
    models: {
      calls_per_second: rate("runnel_model_calls_total"),
      failed_per_second: rate("runnel_model_calls_total", { outcome: "failed" }),
      output_tokens_per_second: rate("runnel_model_tokens_total", { type: "output" }),
      cost_usd_per_hour: rate("runnel_model_cost_usd_total") * 3600,
      unpriced_per_second: rate("runnel_model_calls_unpriced_total"),
      first_token: times("runnel_model_time_to_first_token_seconds"),
    },
    tools: { calls_per_second: rate("runnel_tool_calls_total"), ...times("runnel_tool_call_duration_seconds") },
    requests: {
      per_second: rate("http_server_request_duration_seconds_count"),
      ...times("http_server_request_duration_seconds"),
    },
    database: {
      commits_per_second: rate("runnel_db_commit_duration_seconds_count"),
      bytes: sumOf(to, "runnel_db_size_bytes"),
      ...times("runnel_db_commit_duration_seconds"),
    },
    webhooks: { pending: sumOf(to, "runnel_webhook_deliveries_pending") },
    process: {
      cores: rate("process_cpu_seconds_total"),
      resident_bytes: sumOf(to, "process_resident_memory_bytes"),
      event_loop_lag_ms: sumOf(to, "runnel_event_loop_lag_seconds") * 1000,
    },
  };
}

const short = (value: number): string => (value === 0 ? "0" : value >= 100 ? value.toFixed(0) : value.toPrecision(2));
const time = (value: number | null): string =>
  value === null ? "–" : value >= 1000 ? `${short(value / 1000)} s` : `${short(value)} ms`;
const size = (bytes: number): string => `${short(bytes / 2 ** 20)} MiB`;

/** Formats the cost. With unpriced calls the known sum is a lower bound, and a sum of 0 is unknown. */
function costOf({ cost_usd_per_hour: usd, unpriced_per_second }: TopSample["models"]): string {
  if (unpriced_per_second === 0) return `$${usd.toFixed(2)}`;
  return usd === 0 ? "–" : `≥ $${usd.toFixed(2)}`;
}

export function textOf({ runs, models, tools, requests, database, webhooks, process }: TopSample): string {
  return [
    `runs  ${runs.in_progress} in progress   ${runs.queued} queued   ${runs.requires_action} waiting for an action   oldest queued ${time(runs.oldest_queued_seconds * 1000)}`,
    `cost  ${costOf(models)} an hour   ${short(models.output_tokens_per_second)} output tokens/s   first token ${time(models.first_token.p50_ms)}, p99 ${time(models.first_token.p99_ms)}`,
    `host  ${short(process.cores)} cores   ${size(process.resident_bytes)} memory   ${size(database.bytes)} database   lag ${time(process.event_loop_lag_ms)}   ${webhooks.pending} webhook deliveries pending`,
    "",
    table(
      ["", "per second", "failed", "p50 ≤", "p99 ≤"],
      [
        [
          "runs ended",
          short(runs.ended_per_second),
          short(runs.failed_per_second),
          time(runs.p50_ms),
          time(runs.p99_ms),
        ],
        ["model calls", short(models.calls_per_second), short(models.failed_per_second), "", ""],
        ["tool calls", short(tools.calls_per_second), "", time(tools.p50_ms), time(tools.p99_ms)],
        ["requests", short(requests.per_second), "", time(requests.p50_ms), time(requests.p99_ms)],
        ["commits", short(database.commits_per_second), "", time(database.p50_ms), time(database.p99_ms)],
      ],
    ),
  ].join("\n");
}
