import type { DayUsage } from "../../entities/usage/usage-api.ts";
import { formatCount, formatDuration } from "../../lib/format.ts";
import { durationAxis } from "./axis.ts";
import { Chart } from "./chart.tsx";
import { DayCard, type DayChartProps } from "./day-card.tsx";
import { Legend, Line } from "./lines.tsx";
import { dayLabels, timedOf } from "./usage-days.ts";

/** How long runs worked on each day: the middle one, and the slow ones. */
export function TimeChart({ days, asTable }: DayChartProps) {
  const labels = dayLabels(days);
  const [median, slow] = [days.map((day) => day.worked_ms.p50), days.map((day) => day.worked_ms.p95)];
  const titles = (values: readonly (number | null)[], what: string) =>
    values.map((value, index) => `${labels[index]}: ${what} ${formatDuration(value)}`);
  return (
    <DayCard
      title="Time per run"
      legend={
        <>
          <Legend look="solid">Median</Legend>
          <Legend look="dashed">95th percentile</Legend>
        </>
      }
      columns={["Runs", "Median", "95th percentile"]}
      cells={(day) => [formatCount(timedOf(day)), formatDuration(day.worked_ms.p50), formatDuration(day.worked_ms.p95)]}
      days={days}
      asTable={asTable}
    >
      <Chart label={wordsOf(days, labels)} days={labels} axis={durationAxis(slow.map((ms) => ms ?? 0))}>
        {(plot) => (
          <>
            <Line plot={plot} values={slow} titles={titles(slow, "95 of 100 runs within")} dashed />
            <Line plot={plot} values={median} titles={titles(median, "half of the runs within")} />
          </>
        )}
      </Chart>
    </DayCard>
  );
}

function wordsOf(days: readonly DayUsage[], labels: readonly string[]): string {
  const last = days.findLastIndex(({ worked_ms }) => worked_ms.p50 !== null);
  if (last < 0) return "Time per run. No run has completed or failed.";
  const { p50, p95 } = days[last]!.worked_ms;
  return `Time per run. ${labels[last]}: half of the runs within ${formatDuration(p50)}, 95 of 100 within ${formatDuration(p95)}.`;
}
