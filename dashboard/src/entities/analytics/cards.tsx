import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { type ReactNode, useState } from "react";
import type { AnalyticsGrouping } from "../../../../server/domain/api-types/enums.ts";
import type { AnalyticsReport } from "../../../../server/domain/api-types/usage.ts";
import { useNow } from "../../hooks/use-now.ts";
import { formatCount, formatDuration, plural } from "../../lib/format.ts";
import {
  countAxis,
  dollarAxis,
  durationAxis,
  formatCompact,
  formatDollars,
  formatKnown,
  share,
} from "../../lib/numbers.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { Chart, Line, Stacks } from "../../ui/charts/chart.tsx";
import { ChartCard } from "../../ui/charts/chart-card.tsx";
import { BarLegend } from "../../ui/charts/chart-legend.tsx";
import { Card } from "../../ui/data/card.tsx";
import { NumberTable } from "../../ui/data/number-table.tsx";
import { ErrorNote } from "../../ui/feedback/error-note.tsx";
import { Skeleton } from "../../ui/feedback/skeleton.tsx";
import type { RunsSearch } from "../run/runs-search.ts";
import { spanUsageQuery, type UsageCounts } from "../usage/usage-api.ts";
import { type AnalyticsFilter, analyticsQuery, type Span } from "./analytics-api.ts";
import { StackChart } from "./stack-chart.tsx";
import {
  bucketLabel,
  bucketsOf,
  outcomesOf,
  rangeLabel,
  rangesOf,
  type StackedSeries,
  seriesOf,
  shortTime,
  unfinishedCount,
} from "./stacks.ts";
import { useSeriesNames } from "./use-named.ts";

/** Props of every analytics card. */
interface CardProps {
  span: Span;
  /** Filter by agent or series; absent for all. */
  narrowed?: AnalyticsFilter;
  /** The list's filters, if they are more than an agent. */
  listed?: RunsSearch;
  asTable?: boolean;
}

/** Fetches a report; `missing` renders the loading or error state. */
function useReport(group_by: AnalyticsGrouping, { span, narrowed }: CardProps) {
  const reportResult = useQuery(analyticsQuery(useWorkspace(), { ...span, ...narrowed, group_by }));
  const missing = (title: string): ReactNode => (
    <Card title={title}>
      {reportResult.error ? (
        <div className="px-4 py-3">
          <ErrorNote
            title="This cannot be shown"
            error={reportResult.error}
            onRetry={() => void reportResult.refetch()}
          />
        </div>
      ) : (
        <div className="flex h-52 flex-col gap-3 p-4" role="status" aria-label={`Loading: ${title}`}>
          <Skeleton className="w-1/4" />
          <Skeleton className="w-3/4" />
        </div>
      )}
    </Card>
  );
  return { report: reportResult.data, missing };
}

const runsOf = ({ narrowed, listed }: CardProps): RunsSearch =>
  listed ?? (narrowed?.agent_id ? { agent: narrowed.agent_id } : {});

/** Stacked bars over time with a title, or a table of them. Shows an empty state without data. */
function StackCard({
  title,
  stacked,
  none,
  say,
  axis,
  search,
  choice,
  note,
  asTable,
  about,
}: {
  title: string;
  stacked: StackedSeries;
  none: string;
  say: (value: number) => string;
  axis?: typeof countAxis;
  search?: RunsSearch;
  choice?: ReactNode;
  /** Note about data that the sums exclude. */
  note?: string;
  asTable?: boolean;
  /** Visually hidden suffix of the title for screen readers. */
  about: string;
}) {
  const { parts, bars } = stacked;
  const isEmpty = bars.every(({ values }) => values.every((value) => value === 0));
  if (isEmpty)
    return (
      <Card title={title} aside={choice}>
        <p className="flex min-h-52 items-center justify-center px-4 py-8 text-center text-muted">{none}</p>
      </Card>
    );
  return (
    <ChartCard
      title={title}
      choice={choice}
      asTable={asTable}
      legend={
        <>
          {parts.map(({ name, tone }) => (
            <BarLegend key={name} tone={tone}>
              {name}
            </BarLegend>
          ))}
          {note && <span>{note}</span>}
        </>
      }
      columns={["Time", ...parts.map(({ name }) => name)]}
      rows={bars
        .map((bar) => ({ key: String(bar.at), cells: [bucketLabel(bar), ...bar.values.map(say)] }))
        .toReversed()}
    >
      <StackChart
        label={`${title}. ${about}`}
        stacked={stacked}
        axis={axis?.(bars.map(({ values }) => sum(values)))}
        say={say}
        searchOf={search}
      />
    </ChartCard>
  );
}

/** Ended runs by outcome. */
export function OutcomesCard(props: CardProps & { group_by?: AnalyticsGrouping }) {
  const { report, missing } = useReport(props.group_by ?? "model", props);
  const now = useNow(false);
  if (!report) return missing("Runs over time");
  return (
    <StackCard
      title="Runs over time"
      none="No runs ended in this period."
      about={`${formatCount(report.totals.count)} in total, ${formatCount(report.totals.failed)} failed.`}
      stacked={outcomesOf(report, ["Completed", "Cancelled", "Failed"], now)}
      say={formatCount}
      search={runsOf(props)}
      asTable={props.asTable}
    />
  );
}

/** Failed runs by error code. */
export function ErrorsCard(props: CardProps) {
  const { report, missing } = useReport("error", props);
  const now = useNow(false);
  if (!report) return missing("Errors by code");
  return (
    <StackCard
      title="Errors by code"
      none="No runs failed in this period."
      about={`${formatCount(report.totals.count)} in total.`}
      stacked={seriesOf(report, ({ count }) => count, now)}
      say={formatCount}
      search={{ ...runsOf(props), status: "failed" }}
      asTable={props.asTable}
    />
  );
}

const measures = {
  cost: {
    word: "Cost",
    read: ({ cost_usd }: Counts) => cost_usd,
    say: formatDollars,
    axis: dollarAxis,
    unknownCalls: ({ unknown_cost_calls }: UsageCounts) => unknown_cost_calls,
    isUnknown: "a known price",
  },
  tokens: {
    word: "Tokens",
    read: ({ input_tokens, output_tokens }: Counts) => input_tokens + output_tokens,
    say: formatCompact,
    axis: countAxis,
    unknownCalls: ({ unknown_token_calls }: UsageCounts) => unknown_token_calls,
    isUnknown: "known tokens",
  },
};
type Counts = AnalyticsReport["totals"];
type Measure = keyof typeof measures;
const groupWords = { model: "model", agent: "agent", key: "API key", user: "user" } as const;
type Group = keyof typeof groupWords;

/** Cost or tokens, stacked by model, agent, key or user. */
export function SpendCard({ groups = ["model", "agent", "key", "user"], ...props }: CardProps & { groups?: Group[] }) {
  const [group_by, setGroup] = useState<Group>(groups[0]!);
  const [measure, setMeasure] = useState<Measure>("cost");
  const { report, missing } = useReport(group_by, props);
  const now = useNow(false);
  const { word, read, say, axis, unknownCalls, isUnknown } = measures[measure];
  const unknownCount = useUnknownCalls(props, unknownCalls);
  const stacked = useSeriesNames(group_by, report && seriesOf(report, read, now));
  const title = `${word} by ${groupWords[group_by]}`;
  if (!report || !stacked) return missing(title);
  const pick = "h-(--control-sm) rounded-md border border-line-control bg-surface px-1.5 text-xs text-ink";
  const choice = (
    <span className="inline-flex gap-2">
      <select
        aria-label="Show"
        className={pick}
        value={measure}
        onChange={({ target }) => setMeasure(target.value as Measure)}
      >
        <option value="cost">Cost</option>
        <option value="tokens">Tokens</option>
      </select>
      {groups.length > 1 && (
        <select
          aria-label="By"
          className={pick}
          value={group_by}
          onChange={({ target }) => setGroup(target.value as Group)}
        >
          {groups.map((group) => (
            <option key={group} value={group}>
              by {groupWords[group]}
            </option>
          ))}
        </select>
      )}
    </span>
  );
  return (
    <StackCard
      title={title}
      choice={choice}
      none={
        unknownCount === null
          ? `No known ${word.toLowerCase()} in this period.`
          : unknownCount > 0
            ? `The ${word.toLowerCase()} of ${plural(unknownCount, "call")} is not known.`
            : measure === "cost"
              ? "No costs in this period."
              : "No tokens used in this period."
      }
      about={`${formatKnown(read(report.totals), unknownCount ?? 0, say)} in total.`}
      note={unknownCount ? `${plural(unknownCount, "call")} without ${isUnknown} not included` : undefined}
      stacked={stacked}
      say={say}
      axis={axis}
      search={runsOf(props)}
      asTable={props.asTable}
    />
  );
}

/** Number of calls whose usage is partly or wholly unknown. Null if this grouping has no usage. */
function useUnknownCalls({ span, narrowed }: CardProps, read: (usage: UsageCounts) => number): number | null {
  const { data } = useQuery(spanUsageQuery(useWorkspace(), span));
  if (narrowed?.name !== undefined) return null;
  if (!data) return 0;
  const agent = narrowed?.agent_id;
  if (agent === undefined) return read(data.totals);
  const found = data.data.find(({ agent_id }) => agent_id === agent);
  return found ? read(found) : 0;
}

/** Webhook deliveries or schedule runs by outcome. Empty without any. */
export function OwnedCard({ of, ...props }: CardProps & { of: "webhook" | "schedule" }) {
  const { report } = useReport(of, props);
  const now = useNow(false);
  if (!report || report.totals.count === 0) return null;
  const isWebhook = of === "webhook";
  const { count, completed } = report.totals;
  return (
    <StackCard
      title={isWebhook ? "Webhook deliveries" : "Scheduled runs"}
      none=""
      about={`${share(completed, count)} of ${formatCount(count)} succeeded.`}
      stacked={outcomesOf(
        report,
        isWebhook
          ? ["Delivered", "Pending", "Failed or retrying"]
          : ["Completed", "Skipped or cancelled", "Failed or missed"],
        now,
        isWebhook ? unfinishedCount : undefined,
      )}
      say={formatCount}
      asTable={props.asTable}
    />
  );
}

/** Histogram of run durations or of the time to first token. */
export function DurationsCard({ of, ...props }: CardProps & { of: "duration" | "first_token" }) {
  const { report, missing } = useReport(of, props);
  const navigate = useNavigate();
  const title = of === "duration" ? "Latency of runs" : "Time to first token";
  if (!report) return missing(title);
  const ranges = rangesOf(report);
  const { p50 = null, p95 = null, p99 = null } = report.percentiles_ms ?? {};
  const words = `Median ${formatDuration(p50)}, 95th percentile ${formatDuration(p95)}, 99th ${formatDuration(p99)}`;
  if (ranges.length === 0)
    return (
      <Card title={title}>
        <p className="flex min-h-52 items-center justify-center px-4 py-8 text-center text-muted">
          {of === "duration" ? "No runs ended in this period." : "No model calls in this period."}
        </p>
      </Card>
    );
  const noun = of === "duration" ? "Runs" : "Model calls";
  const open = (index: number) => {
    const { from, to } = ranges[index]!;
    const range = `${from}..${Number.isFinite(to) ? to - 1 : ""}`;
    const search = { ...runsOf(props), [of === "duration" ? "duration" : "first"]: range };
    void navigate({ to: "/runs", search: { ...search, ...timesOf(props.span) } });
  };
  return (
    <ChartCard
      title={title}
      asTable={props.asTable}
      legend={<span>{words}</span>}
      columns={["Time", noun]}
      rows={ranges.map((range) => ({ key: String(range.from), cells: [rangeLabel(range), formatCount(range.count)] }))}
    >
      <Chart
        label={`${title}. ${words}.`}
        points={ranges.map(({ from }) => shortTime(from))}
        axis={countAxis(ranges.map(({ count }) => count))}
        tips={ranges.map((range) => ({
          label: rangeLabel(range),
          rows: [{ name: noun, value: formatCount(range.count) }],
        }))}
        onOpen={open}
      >
        {(plot) => <Stacks plot={plot} bars={ranges.map(({ count }) => [count])} series={["model"]} />}
      </Chart>
    </ChartCard>
  );
}

/** Converts two UTC days to timestamps. */
function timesOf({ from, to }: Span): RunsSearch {
  const isDay = /^\d{4}-\d\d-\d\d$/;
  return {
    since: isDay.test(from) ? `${from}T00:00:00.000Z` : from,
    until: isDay.test(to) ? `${to}T23:59:59.999Z` : to,
  };
}

const mostTools = 12;

/** Calls, failures and durations by tool name. */
export function ToolsCard({ of, ...props }: CardProps & { /** Only these tools. */ of?: readonly { name: string }[] }) {
  const { report, missing } = useReport("tool", props);
  if (!report) return missing("Tools");
  const among = of ? report.data.filter(({ name }) => of.some((tool) => tool.name === name)) : report.data;
  const tools = among.toSorted((a, b) => b.count - a.count).slice(0, mostTools);
  if (tools.length === 0 && !of) return null;
  if (tools.length === 0)
    return (
      <Card title="Tools">
        <p className="px-4 py-8 text-center text-muted">No calls in this period.</p>
      </Card>
    );
  return (
    <Card title="Tools" aside={among.length > mostTools && `Top ${mostTools} by calls`}>
      <NumberTable
        label="Tools"
        columns={["Tool", "Calls", "Failed", "Success", "Average latency"]}
        rows={tools.map(({ name, count, completed, failed, average_ms }) => ({
          key: name,
          cells: [
            <Link
              key="name"
              to="/runs"
              search={{ ...runsOf(props), tool: name, ...timesOf(props.span) }}
              title={`Runs that called ${name}`}
              className="cut block hover:underline hover:underline-offset-2"
            >
              {name}
            </Link>,
            formatCount(count),
            formatCount(failed),
            <Success key="success" completed={completed} count={count} />,
            formatDuration(average_ms),
          ],
        }))}
      />
    </Card>
  );
}

const barWidth = 48;

function Success({ completed, count }: { completed: number; count: number }) {
  const width = (barWidth * completed) / Math.max(count, 1);
  return (
    <span className="inline-flex items-center gap-2">
      <svg width={barWidth} height={6} aria-hidden className="max-rail:hidden">
        <rect width={barWidth} height={6} rx={3} className={completed < count ? "fill-bad" : "fill-line"} />
        <rect width={width} height={6} rx={3} className="fill-(--step-model)" />
      </svg>
      <span className="min-w-10">{share(completed, count)}</span>
    </span>
  );
}

/** Outcomes and durations of one tool's calls. */
export function ToolCards(props: CardProps & { name: string }) {
  const narrowed = { name: props.name };
  const { report, missing } = useReport("tool", { ...props, narrowed });
  const now = useNow(false);
  if (!report) return missing("Calls");
  const search = { tool: props.name };
  return (
    <>
      <StackCard
        title="Calls"
        none="No calls in this period."
        about={`${share(report.totals.completed, report.totals.count)} of ${formatCount(report.totals.count)} succeeded.`}
        stacked={outcomesOf(report, ["Succeeded", "Cancelled", "Failed"], now)}
        say={formatCount}
        search={search}
        asTable={props.asTable}
      />
      {report.totals.count > 0 && <LatencyCard report={report} search={search} asTable={props.asTable} />}
    </>
  );
}

function LatencyCard({ report, search, asTable }: { report: AnalyticsReport; search: RunsSearch; asTable?: boolean }) {
  const now = useNow(false);
  const navigate = useNavigate();
  const points = new Map(report.data.flatMap(({ points }) => points).map((point) => [Date.parse(point.at), point]));
  const [first, second] = bucketsOf(report, now);
  const length = second === undefined ? 86_400_000 : second - first!;
  const bars = bucketsOf(report, now).map((at) => ({ at, until: at + length, ms: points.get(at)?.average_ms ?? null }));
  const open = (index: number) => {
    const { at, until } = bars[index]!;
    const time = { since: new Date(at).toISOString(), until: new Date(until - 1).toISOString() };
    void navigate({ to: "/runs", search: { ...search, ...time } });
  };
  return (
    <ChartCard
      title="Average latency"
      asTable={asTable}
      legend={<span>{formatDuration(report.totals.average_ms)} in the whole period</span>}
      columns={["Time", "Average latency"]}
      rows={bars
        .map((bar) => ({ key: String(bar.at), cells: [bucketLabel(bar), formatDuration(bar.ms)] }))
        .toReversed()}
    >
      <Chart
        label={`Average latency. ${formatDuration(report.totals.average_ms)} in total.`}
        points={bars.map((bar) => bucketLabel(bar).replace(/^\w+ | UTC$/g, ""))}
        axis={durationAxis(bars.map(({ ms }) => ms ?? 0))}
        tips={bars.map((bar) => ({
          label: bucketLabel(bar),
          rows: [{ name: "Average", value: formatDuration(bar.ms) }],
        }))}
        onOpen={open}
      >
        {(plot) => <Line plot={plot} values={bars.map(({ ms }) => ms)} />}
      </Chart>
    </ChartCard>
  );
}

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);
