import { formatCount } from "../../lib/format.ts";
import { Card } from "../../ui/card.tsx";
import { Chart } from "./chart.tsx";
import { axisEnd, formatCompact, formatDollars } from "./fns/scale.ts";
import { dayLabel } from "./fns/usage-days.ts";
import { Legend, Line } from "./lines.tsx";
import { NumberTable } from "./number-table.tsx";
import type { DayUsage } from "./overview-api.ts";

interface ChartProps {
  days: readonly DayUsage[];
  asTable: boolean;
}

/** Tokens that models read and wrote on each day. */
export function TokensChart({ days, asTable }: ChartProps) {
  const labels = labelsOf(days);
  const [input, output] = [days.map((day) => day.input_tokens), days.map((day) => day.output_tokens)];
  const titles = (values: readonly number[], what: string) =>
    values.map((value, index) => `${labels[index]}: ${formatCount(value)} ${what}`);
  return (
    <Card
      title="Tokens per day"
      aside={
        !asTable && (
          <>
            <Legend look="solid">Read</Legend>
            <Legend look="dashed">Written</Legend>
          </>
        )
      }
    >
      {asTable ? (
        <NumberTable
          label="Tokens per day"
          columns={["Day", "Read", "From the cache", "Written", "Reasoning"]}
          rows={days.toReversed().map((day) => ({
            key: day.day,
            cells: [
              dayLabel(day.day, days.at(-1)?.day ?? ""),
              ...[day.input_tokens, day.cached_input_tokens, day.output_tokens, day.reasoning_tokens].map(formatCount),
            ],
          }))}
        />
      ) : (
        <Chart
          label={`Tokens per day, ${formatCount(sum(input))} read and ${formatCount(sum(output))} written in all.`}
          days={labels}
          end={axisEnd([...input, ...output])}
          format={formatCompact}
        >
          {(plot) => (
            <>
              <Line plot={plot} values={output} titles={titles(output, "tokens written")} dashed />
              <Line plot={plot} values={input} titles={titles(input, "tokens read")} />
            </>
          )}
        </Chart>
      )}
    </Card>
  );
}

/** What the model calls of each day cost. */
export function CostChart({ days, asTable }: ChartProps) {
  const labels = labelsOf(days);
  const costs = days.map((day) => day.cost_usd);
  return (
    <Card title="Cost per day">
      {asTable ? (
        <NumberTable
          label="Cost per day"
          columns={["Day", "Cost", "Model calls", "Calls without a price"]}
          rows={days.toReversed().map((day) => ({
            key: day.day,
            cells: [
              dayLabel(day.day, days.at(-1)?.day ?? ""),
              formatDollars(day.cost_usd),
              formatCount(day.model_calls),
              formatCount(day.unknown_cost_calls),
            ],
          }))}
        />
      ) : (
        <Chart
          label={`Cost per day, ${formatDollars(sum(costs))} in all.`}
          days={labels}
          end={axisEnd(costs)}
          format={(value) => (value === 0 ? "$0" : formatDollars(value))}
        >
          {(plot) => (
            <Line
              plot={plot}
              values={costs}
              titles={costs.map((cost, index) => `${labels[index]}: ${formatDollars(cost)}`)}
            />
          )}
        </Chart>
      )}
    </Card>
  );
}

const labelsOf = (days: readonly DayUsage[]): string[] => days.map(({ day }) => dayLabel(day, days.at(-1)?.day ?? ""));

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);
