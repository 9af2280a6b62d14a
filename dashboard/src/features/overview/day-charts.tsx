import { useId } from "react";
import type { DayUsage } from "../../entities/usage/usage-api.ts";
import { formatCount, formatDuration } from "../../lib/format.ts";
import { DayCard, type DayChartProps } from "./cards.tsx";
import { Chart, Legend, Line } from "./chart.tsx";
import { countAxis, dollarAxis, durationAxis, formatCompact, formatDollars } from "./numbers.ts";
import { dayLabels, endedOf, timedOf } from "./usage-days.ts";

const gap = 1;
const widest = 34;

/** Runs that ended on each day: what failed stands striped on top of the rest. */
export function RunsChart({ days, asTable }: DayChartProps) {
  return (
    <DayCard
      title="Runs per day"
      legend={
        <>
          <Legend look="bar">Completed or cancelled</Legend>
          <Legend look="striped">Failed</Legend>
        </>
      }
      columns={["Completed", "Failed", "Cancelled"]}
      cells={({ runs }) => [runs.completed, runs.failed, runs.cancelled].map(formatCount)}
      days={days}
      asTable={asTable}
    >
      <Bars days={days} labels={dayLabels(days)} />
    </DayCard>
  );
}

function Bars({ days, labels }: { days: readonly DayUsage[]; labels: readonly string[] }) {
  const stripes = useId();
  const most = days.reduce((a, b) => (endedOf(b) > endedOf(a) ? b : a), days[0]!);
  const failed = days.reduce((sum, { runs }) => sum + runs.failed, 0);
  const label = `Runs per day. Most: ${labels[days.indexOf(most)]}, ${formatCount(endedOf(most))}. Failed: ${formatCount(failed)} in all.`;
  return (
    <Chart label={label} days={labels} axis={countAxis(days.map(endedOf))}>
      {({ x, y, step, bottom }) => (
        <>
          <defs>
            <pattern id={stripes} width={5} height={5} patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
              <rect width={5} height={5} className="fill-bad-soft" />
              <rect width={2.5} height={5} className="fill-bad" />
            </pattern>
          </defs>
          {days.map(({ day, runs }, index) => {
            const width = Math.min(widest, step * 0.7);
            const good = runs.completed + runs.cancelled;
            const at = x(index) - width / 2;
            const rest = bottom - y(good);
            // What failed is seen, however little it is beside the rest.
            const bad = runs.failed ? Math.max(3, bottom - y(runs.failed)) : 0;
            return (
              <g key={day} opacity={index === days.length - 1 ? 0.75 : 1}>
                <title>
                  {`${labels[index]}: ${formatCount(good)} completed or cancelled, ${formatCount(runs.failed)} failed`}
                </title>
                <rect x={x(index) - step / 2} y={0} width={step} height={bottom} fill="transparent" />
                <rect x={at} y={bottom - rest} width={width} height={rest} rx={2} className="fill-(--step-model)" />
                {bad > 0 && (
                  <>
                    <rect
                      x={at}
                      y={bottom - rest - bad - gap}
                      width={width}
                      height={bad}
                      rx={1}
                      fill={`url(#${stripes})`}
                    />
                    {step > 24 && (
                      <text
                        x={x(index)}
                        y={bottom - rest - bad - 6}
                        textAnchor="middle"
                        className="fill-bad font-medium"
                      >
                        {formatCompact(runs.failed)}
                      </text>
                    )}
                  </>
                )}
              </g>
            );
          })}
        </>
      )}
    </Chart>
  );
}

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

/** Tokens that models read and wrote on each day. */
export function TokensChart({ days, asTable }: DayChartProps) {
  const labels = dayLabels(days);
  const [input, output] = [days.map((day) => day.input_tokens), days.map((day) => day.output_tokens)];
  const titles = (values: readonly number[], what: string) =>
    values.map((value, index) => `${labels[index]}: ${formatCount(value)} ${what}`);
  return (
    <DayCard
      title="Tokens per day"
      legend={
        <>
          <Legend look="solid">Read</Legend>
          <Legend look="dashed">Written</Legend>
        </>
      }
      columns={["Read", "From the cache", "Written", "Reasoning"]}
      cells={(day) =>
        [day.input_tokens, day.cached_input_tokens, day.output_tokens, day.reasoning_tokens].map(formatCount)
      }
      days={days}
      asTable={asTable}
    >
      <Chart
        label={`Tokens per day, ${formatCount(sum(input))} read and ${formatCount(sum(output))} written in all.`}
        days={labels}
        axis={countAxis([...input, ...output])}
      >
        {(plot) => (
          <>
            <Line plot={plot} values={output} titles={titles(output, "tokens written")} dashed />
            <Line plot={plot} values={input} titles={titles(input, "tokens read")} />
          </>
        )}
      </Chart>
    </DayCard>
  );
}

/** What the model calls of each day cost. */
export function CostChart({ days, asTable }: DayChartProps) {
  const labels = dayLabels(days);
  const costs = days.map((day) => day.cost_usd);
  return (
    <DayCard
      title="Cost per day"
      columns={["Cost", "Model calls", "Calls without a price"]}
      cells={(day) => [formatDollars(day.cost_usd), formatCount(day.model_calls), formatCount(day.unknown_cost_calls)]}
      days={days}
      asTable={asTable}
    >
      <Chart label={`Cost per day, ${formatDollars(sum(costs))} in all.`} days={labels} axis={dollarAxis(costs)}>
        {(plot) => (
          <Line
            plot={plot}
            values={costs}
            titles={costs.map((cost, index) => `${labels[index]}: ${formatDollars(cost)}`)}
          />
        )}
      </Chart>
    </DayCard>
  );
}

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);
