import { useNavigate } from "@tanstack/react-router";
import { type Axis, countAxis } from "../../lib/numbers.ts";
import { Chart, Stacks } from "../../ui/chart.tsx";
import type { RunsSearch } from "../run/runs-search.ts";
import { bucketLabel, bucketTick, type Stacked } from "./stacks.ts";

/** Bars over time. A click on one goes to its runs. */
export function StackChart({
  label,
  stacked: { parts, bars },
  axis = countAxis(bars.map(({ values }) => sum(values))),
  say,
  searchOf,
  height,
}: {
  label: string;
  stacked: Stacked;
  axis?: Axis;
  say: (value: number) => string;
  /** The runs of a bar, beside its time; none: its runs cannot be listed. */
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

/** Of many hours only the days are named. */
function ticksOf(bars: Stacked["bars"]): string[] {
  const isDay = ({ at }: { at: number }) => new Date(at).getUTCHours() === 0;
  return bars.map((bar) => (bars.length <= mostTicks || isDay(bar) ? bucketTick(bar) : ""));
}

const mostTicks = 48;

/** Of many parts, those that a bar has. */
function rowsOf(parts: Stacked["parts"], values: readonly number[], say: (value: number) => string) {
  const rows = parts.map((part, index) => ({ ...part, value: say(values[index]!) }));
  return parts.length > 3 && values.some((value) => value > 0) ? rows.filter((_, index) => values[index]! > 0) : rows;
}

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);
