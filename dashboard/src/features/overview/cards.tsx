import type { ReactNode } from "react";
import type { DayUsage } from "../../entities/usage/usage-api.ts";
import { ChartCard } from "../../ui/charts/chart-card.tsx";
import { ErrorNote } from "../../ui/feedback/error-note.tsx";
import { Skeleton } from "../../ui/feedback/skeleton.tsx";
import { dayLabels } from "./usage-days.ts";

/** Props of every chart over days. */
export interface DayChartProps {
  days: readonly DayUsage[];
  asTable: boolean;
}

/** A card with a chart over days, or a table of the same numbers, the latest day first. */
export function DayCard({
  columns,
  cells,
  days,
  ...rest
}: DayChartProps &
  Omit<Parameters<typeof ChartCard>[0], "rows" | "columns"> & {
    /** Columns of the table, after the day. */
    columns: readonly string[];
    cells: (day: DayUsage) => readonly ReactNode[];
  }) {
  const labels = dayLabels(days);
  const rows = days.map((day, index) => ({ key: day.day, cells: [labels[index], ...cells(day)] }));
  return <ChartCard {...rest} columns={["Day", ...columns]} rows={rows.toReversed()} />;
}

/** The error of a card. `isShown`: the card still shows earlier data. */
export function CardError({
  what,
  isShown,
  error,
  onRetry,
}: {
  /** Subject of the title: “The failures”. */
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

/** Placeholders in the size of the loading cards. */
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

/** Placeholders of the lazily loaded charts. */
export const MoreSkeleton = () => (
  <div role="status" aria-label="Loading charts" className="col-span-full grid grid-cols-2 gap-3">
    {["spend", "errors"].map((each) => (
      <div key={each} className="flex h-58 flex-col gap-3 rounded-lg border border-line p-4">
        <Skeleton className="w-1/4" />
        <Skeleton className="w-3/4" />
      </div>
    ))}
  </div>
);
