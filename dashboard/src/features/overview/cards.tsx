import { clsx } from "clsx";
import type { ReactNode } from "react";
import type { DayUsage } from "../../entities/usage/usage-api.ts";
import { Card } from "../../ui/card.tsx";
import { ErrorNote } from "../../ui/error-note.tsx";
import { Skeleton } from "../../ui/skeleton.tsx";
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

interface NumberRow {
  key: string;
  /** As many as there are columns; the first names the row. */
  cells: readonly ReactNode[];
}

/** Numbers in rows: what a chart shows, to be read and copied. */
export function NumberTable({
  label,
  columns,
  rows,
}: {
  label: string;
  columns: readonly string[];
  rows: readonly NumberRow[];
}) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls is reached by keyboard too.
    <section aria-label={`${label}, in numbers`} tabIndex={0} className="min-w-0 overflow-x-auto">
      <table aria-label={label} className="w-full">
        <thead>
          <tr>
            {columns.map((column, index) => (
              <th
                key={column}
                scope="col"
                className={clsx(
                  "h-8 bg-subtle px-3 text-2xs font-medium whitespace-nowrap text-muted first:pl-4 last:pr-4",
                  index === 0 ? "text-left" : "text-right",
                )}
              >
                {column}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(({ key, cells }) => (
            <tr key={key} className="hover:bg-hover">
              {cells.map((cell, index) => (
                <td
                  key={columns[index]}
                  className={clsx(
                    "h-(--row-dense) border-t border-line-soft px-3 whitespace-nowrap first:pl-4 last:pr-4",
                    index === 0 ? "w-full max-w-0 min-w-36" : "text-right",
                  )}
                >
                  {cell}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

/** Why a card of the overview does not show what it should; `isShown`: it shows what was read before. */
export function CardError({
  what,
  isShown,
  error,
  onRetry,
}: {
  /** “The failures”. */
  what: string;
  isShown: boolean;
  error: Error;
  onRetry: () => void;
}) {
  const words = isShown ? "may be out of date" : "cannot be shown";
  return (
    <div className="px-4 py-3">
      <ErrorNote title={`${what} ${words}`} error={error} onRetry={onRetry} />
    </div>
  );
}

/** Cards in the size of those that come. */
export function OverviewSkeleton() {
  return (
    <div
      role="status"
      aria-label="Loading the overview"
      className="grid grid-cols-2 gap-3 px-4 py-4 rail:px-5 wide:grid-cols-4"
    >
      {["runs", "failed", "tokens", "cost"].map((each) => (
        <div key={each} className="flex h-32 flex-col gap-3 rounded-lg border border-line p-4">
          <Skeleton className="w-1/3" />
          <Skeleton className="h-5! w-1/2" />
        </div>
      ))}
      {["needs", "failures", "runs per day", "time per run"].map((each) => (
        <div key={each} className="col-span-2 flex h-58 flex-col gap-3 rounded-lg border border-line p-4">
          <Skeleton className="w-1/4" />
          <Skeleton className="w-3/4" />
        </div>
      ))}
    </div>
  );
}
