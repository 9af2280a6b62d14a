import { ChartColumn, Table2 } from "lucide-react";
import { type ReactNode, useState } from "react";
import { buttonClass } from "./button.tsx";
import { Card } from "./card.tsx";
import { NumberTable } from "./number-table.tsx";

/** A chart under its name, or in its place the table of the same numbers. */
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
  /** Beside the title, or below it where something can be chosen. */
  legend?: ReactNode;
  /** What is shown, where that can be chosen. */
  choice?: ReactNode;
  columns: readonly string[];
  rows: Parameters<typeof NumberTable>[0]["rows"];
  /** Whether all charts of the page are tables, unless this one was switched. */
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
