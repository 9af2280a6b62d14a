import { clsx } from "clsx";
import type { ReactNode } from "react";
import type { Period } from "../../entities/analytics/period.ts";
import type { DayUsage } from "../../entities/usage/usage-api.ts";
import { formatCount, plural } from "../../lib/format.ts";
import { formatCompact, formatDollars, formatKnown, share } from "../../lib/numbers.ts";
import { endedRuns, sumOf, todayUtc, trendWords } from "./usage-days.ts";

/** The four figures of a period, each compared with the period before. */
export function Figures({
  counted,
  before,
  shown,
  period,
}: {
  counted: readonly DayUsage[];
  before: readonly DayUsage[];
  shown: readonly DayUsage[];
  period: Period | { days: number; isOver: boolean };
}) {
  const [now, then] = [sumOf(counted), sumOf(before)];
  const completeDays = shown.filter(({ day }) => day < todayUtc());
  return (
    <>
      <Figure
        title="Runs ended"
        value={formatCount(now.ended)}
        trend={trendWords(now.ended, then.ended, period)}
        values={completeDays.map(endedRuns)}
      />
      <Figure
        title="Failed"
        value={formatCount(now.failed)}
        aside={share(now.failed, now.ended)}
        trend={trendWords(now.failed, then.failed, period)}
        values={completeDays.map(({ runs }) => runs.failed)}
        bad
      />
      <Figure
        title="Tokens"
        value={formatKnown(now.tokens, now.uncounted, formatCompact)}
        aside={now.cached > 0 && `${formatCompact(now.cached)} cached`}
        trend={
          now.uncounted + then.uncounted > 0
            ? `${plural(now.uncounted, "call")} without known tokens`
            : trendWords(now.tokens, then.tokens, period)
        }
        values={completeDays.map(({ total_tokens }) => total_tokens)}
      />
      <Figure
        title="Cost"
        value={formatKnown(now.cost, now.unpriced, formatDollars)}
        // Show no trend if a part of the cost is unknown.
        trend={
          now.unpriced + then.unpriced > 0
            ? `${plural(now.unpriced, "call")} without a known price`
            : trendWords(now.cost, then.cost, period)
        }
        values={completeDays.map(({ cost_usd }) => cost_usd)}
      />
    </>
  );
}

function Figure({
  title,
  value,
  aside,
  trend,
  values,
  bad = false,
}: {
  title: string;
  value: string;
  aside?: ReactNode;
  trend: ReactNode;
  values: readonly number[];
  bad?: boolean;
}) {
  return (
    <section className="flex min-w-0 flex-col rounded-lg border border-line px-4 pt-3 pb-2.5">
      <h2 className="text-sm font-medium text-muted">{title}</h2>
      <p className="flex flex-wrap items-baseline gap-x-2 text-xl font-strong tracking-tight tabular-nums rail:text-2xl">
        {value}
        {aside && <span className="text-md font-regular tracking-normal text-muted">{aside}</span>}
      </p>
      <p className="text-xs text-muted">{trend}</p>
      <Spark values={values} bad={bad} />
    </section>
  );
}

const sparkWidth = 200;
const sparkHeight = 34;

/** A sparkline of complete days. Hidden from screen readers, because the charts below show the same numbers. */
function Spark({ values, bad }: { values: readonly number[]; bad: boolean }) {
  const most = Math.max(...values, 1e-9);
  const points = values
    .map((value, index) => {
      const x = (index / Math.max(values.length - 1, 1)) * sparkWidth;
      return `${x.toFixed(1)},${(sparkHeight - 2 - (value / most) * (sparkHeight - 6)).toFixed(1)}`;
    })
    .join(" L");
  return (
    <svg
      viewBox={`0 0 ${sparkWidth} ${sparkHeight}`}
      preserveAspectRatio="none"
      aria-hidden
      className="mt-1.5 hidden h-8.5 w-full rail:block"
    >
      <path
        d={`M0,${sparkHeight} L${points} L${sparkWidth},${sparkHeight}z`}
        className={bad ? "fill-bad-soft" : "fill-accent-soft"}
      />
      <path
        d={`M${points}`}
        fill="none"
        strokeWidth={2}
        strokeLinejoin="round"
        vectorEffect="non-scaling-stroke"
        className={clsx(bad ? "stroke-bad" : "stroke-accent")}
      />
    </svg>
  );
}
