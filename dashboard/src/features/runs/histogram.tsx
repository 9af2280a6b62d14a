import { useQuery } from "@tanstack/react-query";
import type { Bucket } from "../../../../server/domain/api-types/enums.ts";
import { analyticsQuery, type Span } from "../../entities/analytics/analytics-api.ts";
import { StackChart } from "../../entities/analytics/stack-chart.tsx";
import { outcomesOf, type StackedSeries } from "../../entities/analytics/stacks.ts";
import { type RunsSearch, spanStart, viewOf } from "../../entities/run/runs-search.ts";
import { useNow } from "../../hooks/use-now.ts";
import { formatCount } from "../../lib/format.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { BarLegend } from "../../ui/charts/chart-legend.tsx";
import { analyticsFilterOf } from "./counted-of.ts";
import { HistogramPlace } from "./histogram-place.tsx";

const hour_ms = 3_600_000;
const day_ms = 24 * hour_ms;
const height = 96;

/** Time range of the chart: that of the list, or the last seven days; hourly up to a week. */
export function timeOf({ since, until }: RunsSearch, now: number): Span & { bucket: Bucket } {
  const end = until ? Date.parse(until) : now;
  const start = since ? spanStart(since, now) : end - 7 * day_ms;
  const bucket = end - start <= 7 * day_ms + hour_ms ? "hour" : "day";
  const unit = bucket === "hour" ? hour_ms : day_ms;
  // Rounded to whole buckets, so that the query stays the same until the next bucket.
  const iso = (at: number) => new Date(at).toISOString();
  const last = Math.max(start + 1, end);
  return { from: iso(Math.floor(start / unit) * unit), to: iso(Math.ceil(last / unit) * unit), bucket };
}

/** Runs of the list over time by outcome. A click on a bar filters the list to its time. */
export function Histogram({ search }: { search: RunsSearch }) {
  const at = useWorkspace();
  const now = useNow(false);
  const analyticsFilter = analyticsFilterOf(search);
  const time = timeOf(search, now);
  const isAsked = analyticsFilter !== null && Date.parse(time.from) > now - 366 * day_ms;
  const { data, isPending } = useQuery({
    ...analyticsQuery(at, { ...time, ...(analyticsFilter ?? { group_by: "model" }) }),
    enabled: isAsked,
  });
  if (isAsked && isPending) return <HistogramPlace />;
  if (!isAsked || !data || data.totals.count === 0) return null;
  const stacked = onlyStatus(outcomesOf(data, ["Completed", "Cancelled", "Failed"], now), search.status);
  if (!stacked || stacked.bars.length < 3) return null;
  return (
    <section aria-label="Runs over time" className="shrink-0 border-b border-line max-rail:hidden">
      <div className="flex flex-wrap items-center gap-x-4 px-4 pt-2 text-xs text-muted rail:px-5">
        <h2 className="text-xs font-medium">Runs over time</h2>
        <span className="ml-auto inline-flex gap-4">
          {stacked.parts.map(({ name, tone }) => (
            <BarLegend key={name} tone={tone}>
              {name}
            </BarLegend>
          ))}
        </span>
      </div>
      <StackChart
        label={`Runs over time. ${formatCount(data.totals.count)} in total, ${formatCount(data.totals.failed)} failed.`}
        stacked={stacked}
        say={formatCount}
        searchOf={viewOf(search)}
        height={height}
      />
    </section>
  );
}

const words: Partial<Record<NonNullable<RunsSearch["status"]>, string>> = {
  completed: "Completed",
  cancelled: "Cancelled",
  failed: "Failed",
};

/** Reduces the chart to one status; null if the status is not final. */
function onlyStatus({ parts, bars }: StackedSeries, status: RunsSearch["status"]): StackedSeries | null {
  if (!status) return { parts, bars };
  const index = parts.findIndex(({ name }) => name === words[status]);
  if (index < 0) return null;
  return { parts: [parts[index]!], bars: bars.map((bar) => ({ ...bar, values: [bar.values[index]!] })) };
}
