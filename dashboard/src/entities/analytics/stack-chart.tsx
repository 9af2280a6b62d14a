import { useNavigate } from "@tanstack/react-router";
import { type Axis, countAxis } from "../../lib/numbers.ts";
import { Chart, Stacks } from "../../ui/charts/chart.tsx";
import type { RunsSearch } from "../run/runs-search.ts";
import { bucketLabel, bucketTick, type StackedSeries } from "./stacks.ts";

/** Stacked bars over time. A click on a bar opens its runs. */
export function StackChart({
  label,
  stacked: { parts, bars },
  axis = countAxis(bars.map(({ values }) => sum(values))),
  say,
  searchOf,
  height,
}: {
  label: string;
  stacked: StackedSeries;
  axis?: Axis;
  say: (value: number) => string;
  /** Filters of a bar's runs beside its time; absent if they cannot be listed. */
  searchOf?: RunsSearch;
  height?: number;
}) {
  const navigate = useNavigate();
  const open = (index: number) => {
    const { at, until } = bars[index]!;
    const time = { since: new Date(at).toISOString(), until: new Date(until - 1).toISOString() };
    void navigate({ to: "/runs", search: { ...searchOf, ...time } });
  };
  return (
    <Chart
      label={label}
      height={height}
      points={ticksOf(bars)}
      axis={axis}
      tips={bars.map((bar) => ({ label: bucketLabel(bar), rows: rowsOf(parts, bar.values, say) }))}
      onOpen={searchOf && open}
    >
      {(plot) => <Stacks plot={plot} bars={bars.map(({ values }) => values)} series={parts.map(({ tone }) => tone)} />}
    </Chart>
  );
}

/** Tick labels; with many hourly bars, only days are labelled. */
function ticksOf(bars: StackedSeries["bars"]): string[] {
  const isDay = ({ at }: { at: number }) => new Date(at).getUTCHours() === 0;
  return bars.map((bar) => (bars.length <= mostTicks || isDay(bar) ? bucketTick(bar) : ""));
}

const mostTicks = 48;

/** Tooltip rows; with many parts, only those that are not zero. */
function rowsOf(parts: StackedSeries["parts"], values: readonly number[], say: (value: number) => string) {
  const rows = parts.map((part, index) => ({ ...part, value: say(values[index]!) }));
  return parts.length > 3 && values.some((value) => value > 0) ? rows.filter((_, index) => values[index]! > 0) : rows;
}

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);
