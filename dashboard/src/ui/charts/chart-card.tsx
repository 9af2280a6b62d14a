import { ChartColumn, Table2 } from "lucide-react";
import { type ReactNode, useState } from "react";
import { Card } from "../data/card.tsx";
import { NumberTable } from "../data/number-table.tsx";
import { buttonClass } from "../forms/button.tsx";

/** A chart with a title, switchable to a table of its numbers. */
export function ChartCard({
  title,
  legend,
  choice,
  columns,
  rows,
  asTable = false,
  className,
  children,
}: {
  title: string;
  /** Beside the title, or below it if there is a choice. */
  legend?: ReactNode;
  /** Picker of the shown data. */
  choice?: ReactNode;
  columns: readonly string[];
  rows: Parameters<typeof NumberTable>[0]["rows"];
  /** Default for all charts of the page; switching this one overrides it. */
  asTable?: boolean;
  className?: string;
  /** The chart. */
  children: ReactNode;
}) {
  const [switched, setSwitched] = useState(false);
  const isTable = asTable !== switched;
  const words = isTable ? "Show as chart" : "Show as table";
  const Icon = isTable ? ChartColumn : Table2;
  return (
    <Card
      title={title}
      className={className}
      aside={
        <>
          {!isTable && !choice && legend}
          {choice}
          <button
            type="button"
            aria-label={`${words}: ${title}`}
            title={words}
            className={`${buttonClass({ kind: "ghost", size: "icon-sm" })} -mr-1.5`}
            onClick={() => setSwitched(!switched)}
          >
            <Icon aria-hidden className="size-4" strokeWidth={1.5} />
          </button>
        </>
      }
    >
      {isTable ? (
        <div className="max-h-80 overflow-y-auto">
          <NumberTable label={title} columns={columns} rows={rows} />
        </div>
      ) : (
        <>
          {choice && legend && (
            <div className="flex flex-wrap gap-x-4 gap-y-1 px-4 pt-2.5 text-xs text-muted">{legend}</div>
          )}
          {children}
        </>
      )}
    </Card>
  );
}
