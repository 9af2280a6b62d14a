import { useNavigate } from "@tanstack/react-router";
import { bucketLabel } from "../../entities/analytics/stacks.ts";
import type { RunsSearch } from "../../entities/run/runs-search.ts";
import type { DayUsage } from "../../entities/usage/usage-api.ts";
import { formatCount, formatDuration } from "../../lib/format.ts";
import { type Axis, countAxis, durationAxis, formatKnown } from "../../lib/numbers.ts";
import { Chart, Line, Stacks } from "../../ui/charts/chart.tsx";
import { BarLegend, LineLegend } from "../../ui/charts/chart-legend.tsx";
import type { Tone } from "../../ui/charts/chart-tones.ts";
import { DayCard, type DayChartProps } from "./cards.tsx";
import { dayLabels, endedRuns, measuredRuns, todayUtc } from "./usage-days.ts";

const parts: readonly { name: string; tone: Tone }[] = [
  { name: "Completed or cancelled", tone: "model" },
  { name: "Failed", tone: "bad" },
];

/** Runs that ended on each day. Failed runs are striped, on top of the others. */
export function RunsChart({ days, asTable }: DayChartProps) {
  const labels = dayLabels(days);
  const open = useOpenDay(days);
  const most = days.reduce((a, b) => (endedRuns(b) > endedRuns(a) ? b : a), days[0]!);
  const failed = days.reduce((sum, { runs }) => sum + runs.failed, 0);
  const label = `Runs per day. Most: ${labels[days.indexOf(most)]}, ${formatCount(endedRuns(most))}. Failed: ${formatCount(failed)} in total.`;
  const bars = days.map(({ runs }) => [runs.completed + runs.cancelled, runs.failed]);
  return (
    <DayCard
      title="Runs per day"
      legend={parts.map(({ name, tone }) => (
        <BarLegend key={name} tone={tone}>
          {name}
        </BarLegend>
      ))}
      columns={["Completed", "Failed", "Cancelled"]}
      cells={({ runs }) => [runs.completed, runs.failed, runs.cancelled].map(formatCount)}
      days={days}
      asTable={asTable}
    >
      <Chart
        label={label}
        points={labels}
        axis={countAxis(days.map(endedRuns))}
        tips={bars.map((values, index) => ({
          label: dayName(days[index]!),
          rows: parts.map((part, at) => ({ ...part, value: formatCount(values[at]) })),
        }))}
        onOpen={open}
      >
        {(plot) => <Stacks plot={plot} bars={bars} series={parts.map(({ tone }) => tone)} />}
      </Chart>
    </DayCard>
  );
}

/** Returns a function that opens the runs of a day, given the day's index. */
function useOpenDay(days: readonly DayUsage[], more: RunsSearch = {}) {
  const navigate = useNavigate();
  return (index: number) => {
    const { day } = days[index]!;
    const time = { since: `${day}T00:00:00.000Z`, until: `${day}T23:59:59.999Z` };
    void navigate({ to: "/runs", search: { ...more, ...time } });
  };
}

const dayName = ({ day }: DayUsage): string => {
  const at = Date.parse(day);
  return `${bucketLabel({ at, until: at + 86_400_000 })}${day === todayUtc() ? ", so far" : ""}`;
};

interface Series {
  name: string;
  values: readonly (number | null)[];
  /** Formats the value of one day. */
  format: (value: number | null) => string;
}

/** A card with a line for each of one or two series, or a table of the days. */
function LinesCard({
  about,
  axis,
  series,
  ...card
}: Omit<Parameters<typeof DayCard>[0], "children" | "legend"> & {
  /** A sentence that describes the chart, for screen readers. */
  about: string;
  axis: Axis;
  series: readonly Series[];
}) {
  const { days } = card;
  const open = useOpenDay(days);
  const legend = series.map(({ name }, index) => (
    <LineLegend key={name} dashed={index === 1}>
      {name}
    </LineLegend>
  ));
  return (
    <DayCard {...card} legend={series.length > 1 && legend}>
      <Chart
        label={about}
        points={dayLabels(days)}
        axis={axis}
        tips={days.map((day, at) => ({
          label: dayName(day),
          rows: series.map(({ name, values, format: say }) => ({ name, value: say(values[at] ?? null) })),
        }))}
        onOpen={open}
      >
        {(plot) =>
          series
            .map(({ name, values }, index) => (
              <Line
                key={name}
                plot={plot}
                values={values}
                isOpen={days.at(-1)?.day === todayUtc()}
                dashed={index === 1}
              />
            ))
            .toReversed()
        }
      </Chart>
    </DayCard>
  );
}

/** Working time of runs on each day: median and 95th percentile. */
export function TimeChart({ days, asTable }: DayChartProps) {
  const [median, slow] = [days.map((day) => day.worked_ms.p50), days.map((day) => day.worked_ms.p95)];
  return (
    <LinesCard
      title="Time per run"
      about={wordsOf(days, dayLabels(days))}
      axis={durationAxis(slow.map((ms) => ms ?? 0))}
      series={[
        { name: "Median", values: median, format: formatDuration },
        { name: "95th percentile", values: slow, format: formatDuration },
      ]}
      columns={["Runs", "Median", "95th percentile"]}
      cells={(day) => [
        formatCount(measuredRuns(day)),
        formatDuration(day.worked_ms.p50),
        formatDuration(day.worked_ms.p95),
      ]}
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

/** Input and output tokens of each day. */
export function TokensChart({ days, asTable }: DayChartProps) {
  const [input, output] = [days.map((day) => day.input_tokens), days.map((day) => day.output_tokens)];
  return (
    <LinesCard
      title="Tokens per day"
      about={`Tokens per day. ${formatCount(sum(input))} in and ${formatCount(sum(output))} out in total.`}
      axis={countAxis([...input, ...output])}
      series={[
        { name: "Input", values: input, format: formatCount },
        { name: "Output", values: output, format: formatCount },
      ]}
      columns={["Input", "Cached input", "Cache writes", "Output", "Reasoning"]}
      cells={(day) =>
        [day.input_tokens, day.cached_input_tokens, writtenTokens(day), day.output_tokens, day.reasoning_tokens].map(
          (tokens) => formatKnown(tokens, day.unknown_token_calls, formatCount),
        )
      }
      days={days}
      asTable={asTable}
    />
  );
}

const writtenTokens = (day: DayUsage): number => day.cache_write_5m_tokens + day.cache_write_1h_tokens;

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);
