import type { ReactNode } from "react";
import type { DayUsage } from "../../entities/usage/usage-api.ts";
import { Card } from "../../ui/card.tsx";
import { NumberTable } from "./number-table.tsx";
import { dayLabels } from "./usage-days.ts";

/** What every chart over days takes. */
export interface DayChartProps {
  days: readonly DayUsage[];
  asTable: boolean;
}

/** A chart over days under its name, or in its place the table of the same numbers, the latest day first. */
export function DayCard({
  title,
  legend,
  columns,
  cells,
  days,
  asTable,
  children,
}: DayChartProps & {
  title: string;
  legend?: ReactNode;
  /** Of the table, behind the day. */
  columns: readonly string[];
  cells: (day: DayUsage) => readonly ReactNode[];
  children: ReactNode;
}) {
  const labels = dayLabels(days);
  const rows = days.map((day, index) => ({ key: day.day, cells: [labels[index], ...cells(day)] }));
  return (
    <Card title={title} aside={!asTable && legend}>
      {asTable ? <NumberTable label={title} columns={["Day", ...columns]} rows={rows.toReversed()} /> : children}
    </Card>
  );
}
