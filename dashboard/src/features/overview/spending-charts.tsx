import { formatCount } from "../../lib/format.ts";
import { countAxis, dollarAxis } from "./axis.ts";
import { Chart } from "./chart.tsx";
import { DayCard, type DayChartProps } from "./day-card.tsx";
import { Legend, Line } from "./lines.tsx";
import { formatDollars } from "./scale.ts";
import { dayLabels } from "./usage-days.ts";

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
