import type { ReactNode } from "react";
import { useToday } from "../../hooks/use-now.ts";
import { SheetFoot } from "../../ui/dialogs/sheet.tsx";
import type { Span } from "./analytics-api.ts";
import { daysOf, type PeriodSearch, spanOf } from "./period.ts";
import { PeriodBar } from "./period-bar.tsx";

/** Charts with a period picker above them. */
export function AnalyticsPanel({
  search,
  onPeriod,
  children,
}: {
  search: PeriodSearch;
  onPeriod: (period: PeriodSearch) => void;
  children: (span: Span) => ReactNode;
}) {
  const span = spanOf(daysOf(search, useToday()));
  return (
    <>
      <section aria-label="Analytics" className="relative min-h-0 flex-1 overflow-y-auto">
        <div className="flex flex-wrap items-center gap-2 px-4 pt-4 rail:px-5">
          <PeriodBar search={search} onPeriod={onPeriod} />
        </div>
        <div className="grid grid-cols-1 gap-3 px-4 py-3 rail:px-5 wide:grid-cols-2">{children(span)}</div>
      </section>
      <SheetFoot>
        <span>Runs are counted when they end. Times are in UTC.</span>
      </SheetFoot>
    </>
  );
}
