import { useId } from "react";
import type { DayUsage } from "../../entities/usage/usage-api.ts";
import { formatCount, formatDuration } from "../../lib/format.ts";
import { DayCard, type DayChartProps } from "./cards.tsx";
import { Chart, Legend, Line } from "./chart.tsx";
import { type Axis, countAxis, dollarAxis, durationAxis, formatCompact, formatDollars } from "./numbers.ts";
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

interface Series {
  name: string;
  values: readonly (number | null)[];
  /** What the dot of a day says. */
  say: (value: number | null) => string;
}

/** A line for each of one or two series, or in their place the table of the days. */
function LinesCard({
  about,
  axis,
  series,
  ...card
}: Omit<Parameters<typeof DayCard>[0], "children" | "legend"> & {
  /** What the chart shows, in a sentence. */
  about: string;
  axis: Axis;
  series: readonly Series[];
}) {
  const labels = dayLabels(card.days);
  const lines = series.map((each, index) => ({ ...each, dashed: index === 1 }));
  const legend = lines.map(({ name, dashed }) => (
    <Legend key={name} look={dashed ? "dashed" : "solid"}>
      {name}
    </Legend>
  ));
  return (
    <DayCard {...card} legend={series.length > 1 && legend}>
      <Chart label={about} days={labels} axis={axis}>
        {(plot) =>
          lines.toReversed().map(({ name, values, say, dashed }) => {
            const titles = values.map((value, index) => `${labels[index]}: ${say(value)}`);
            return <Line key={name} plot={plot} values={values} titles={titles} dashed={dashed} />;
          })
        }
      </Chart>
    </DayCard>
  );
}

/** How long runs worked on each day: the middle one, and the slow ones. */
export function TimeChart({ days, asTable }: DayChartProps) {
  const [median, slow] = [days.map((day) => day.worked_ms.p50), days.map((day) => day.worked_ms.p95)];
  return (
    <LinesCard
      title="Time per run"
      about={wordsOf(days, dayLabels(days))}
      axis={durationAxis(slow.map((ms) => ms ?? 0))}
      series={[
        { name: "Median", values: median, say: (ms) => `half of the runs within ${formatDuration(ms)}` },
        { name: "95th percentile", values: slow, say: (ms) => `95 of 100 runs within ${formatDuration(ms)}` },
      ]}
      columns={["Runs", "Median", "95th percentile"]}
      cells={(day) => [formatCount(timedOf(day)), formatDuration(day.worked_ms.p50), formatDuration(day.worked_ms.p95)]}
      days={days}
      asTable={asTable}
    />
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
  const [input, output] = [days.map((day) => day.input_tokens), days.map((day) => day.output_tokens)];
  return (
    <LinesCard
      title="Tokens per day"
      about={`Tokens per day, ${formatCount(sum(input))} read and ${formatCount(sum(output))} written in all.`}
      axis={countAxis([...input, ...output])}
      series={[
        { name: "Read", values: input, say: (count) => `${formatCount(count)} tokens read` },
        { name: "Written", values: output, say: (count) => `${formatCount(count)} tokens written` },
      ]}
      columns={["Read", "From the cache", "Written", "Reasoning"]}
      cells={(day) =>
        [day.input_tokens, day.cached_input_tokens, day.output_tokens, day.reasoning_tokens].map(formatCount)
      }
      days={days}
      asTable={asTable}
    />
  );
}

/** What the model calls of each day cost. */
export function CostChart({ days, asTable }: DayChartProps) {
  const costs = days.map((day) => day.cost_usd);
  return (
    <LinesCard
      title="Cost per day"
      about={`Cost per day, ${formatDollars(sum(costs))} in all.`}
      axis={dollarAxis(costs)}
      series={[{ name: "Cost", values: costs, say: (usd) => formatDollars(usd ?? 0) }]}
      columns={["Cost", "Model calls", "Calls without a price"]}
      cells={(day) => [formatDollars(day.cost_usd), formatCount(day.model_calls), formatCount(day.unknown_cost_calls)]}
      days={days}
      asTable={asTable}
    />
  );
}

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);
