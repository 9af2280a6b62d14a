import { useId } from "react";
import type { DayUsage } from "../../entities/usage/usage-api.ts";
import { formatCount } from "../../lib/format.ts";
import { countAxis } from "./axis.ts";
import { Chart } from "./chart.tsx";
import { DayCard, type DayChartProps } from "./day-card.tsx";
import { Legend } from "./lines.tsx";
import { formatCompact } from "./scale.ts";
import { dayLabels, endedOf } from "./usage-days.ts";

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
