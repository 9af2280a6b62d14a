import { clsx } from "clsx";
import { ArrowDown, ArrowUp } from "lucide-react";
import { useEffect, useRef } from "react";
import type { AnyRun as Run } from "../../../../server/domain/api-types/run.ts";
import type { RunSort, RunsSearch } from "../../entities/run/runs-search.ts";
import { lastVisibleCell } from "../../ui/data/table.tsx";
import { Skeleton } from "../../ui/feedback/skeleton.tsx";
import { type Column, columnLabels, columns } from "./columns.ts";
import { RunRow } from "./run-row.tsx";

const numbers: ReadonlySet<Column> = new Set(["duration", "tokens", "cost"]);
/** Columns hidden first on narrow pages. If a person chose the columns, the table scrolls instead. */
const folding: Partial<Record<Column, string>> = { tokens: "rail:max-wide:hidden", started: "rail:max-wide:hidden" };
/** Sort key of each sortable column; the default is creation time. */
const sorts: Partial<Record<Column, RunSort | "created">> = { duration: "duration", cost: "cost", started: "created" };
const head = `sticky top-0 z-(--z-sticky) h-8 border-b border-line bg-subtle px-1.5 text-2xs font-medium whitespace-nowrap text-muted first:pl-5 last:pr-5 ${lastVisibleCell}`;

/** Table of runs. On a phone each row is a card. */
export function RunsTable({
  runs,
  columns: shown,
  folds,
  search,
  fresh,
  selected,
  onSort,
  onSelect,
  onSelectAll,
}: {
  runs: Run[];
  columns: ReadonlySet<Column>;
  folds: boolean;
  search: RunsSearch;
  fresh: ReadonlySet<string>;
  selected: ReadonlySet<string>;
  onSelect: (run: Run) => void;
  onSelectAll: (all: boolean) => void;
  onSort: (order: Pick<RunsSearch, "sort" | "order">) => void;
}) {
  const selectedCount = runs.filter(({ id }) => selected.has(id)).length;
  return (
    <table className="block w-full border-separate border-spacing-0 rail:table">
      <thead className="max-rail:sr-only">
        <tr>
          <th scope="col" className={clsx(head, "w-px pr-0!")}>
            <SelectAll all={selectedCount === runs.length} some={selectedCount > 0} onSelectAll={onSelectAll} />
          </th>
          <th scope="col" className={`${head} text-left`}>
            Status
          </th>
          <th scope="col" className={`${head} text-left`}>
            Agent, input and result
          </th>
          {columns.map((column) =>
            shown.has(column) ? (
              <ColumnHead
                key={column}
                column={column}
                search={search}
                onSort={onSort}
                fold={folds ? folding[column] : undefined}
              />
            ) : null,
          )}
        </tr>
      </thead>
      <tbody className="block rail:table-row-group">
        {runs.map((run) => (
          <RunRow
            key={run.id}
            run={run}
            columns={shown}
            folds={folds}
            isNew={fresh.has(run.id)}
            isSelected={selected.has(run.id)}
            onSelect={onSelect}
          />
        ))}
      </tbody>
    </table>
  );
}

/** Column head. A sortable one shows the order and reverses it on click. */
function ColumnHead({
  column,
  fold,
  search,
  onSort,
}: {
  column: Column;
  /** Class that hides it on narrow pages. */
  fold: string | undefined;
  search: RunsSearch;
  onSort: (order: Pick<RunsSearch, "sort" | "order">) => void;
}) {
  const by = sorts[column];
  const isSorted = by !== undefined && by === (search.sort ?? "created");
  const isUp = search.order === "asc";
  const label = columnLabels[column];
  const next = { sort: by === "created" ? undefined : by, order: isSorted && !isUp ? ("asc" as const) : undefined };
  const Arrow = isUp ? ArrowUp : ArrowDown;
  return (
    <th
      scope="col"
      data-folds={fold}
      aria-sort={isSorted ? (isUp ? "ascending" : "descending") : undefined}
      className={clsx(head, numbers.has(column) ? "text-right full:pr-4" : "text-left", fold)}
    >
      {by === undefined ? (
        label
      ) : (
        <>
          <button
            type="button"
            className="inline-flex h-6 items-center gap-1 rounded-sm hover:text-ink max-rail:hidden"
            onClick={() => onSort(next)}
          >
            {isSorted && numbers.has(column) && <Arrow aria-hidden className="size-3" strokeWidth={2} />}
            {label}
            {isSorted && !numbers.has(column) && <Arrow aria-hidden className="size-3" strokeWidth={2} />}
          </button>
          {/* Phones hide the head, so nothing in it may be focusable. */}
          <span className="rail:hidden">{label}</span>
        </>
      )}
    </th>
  );
}

function SelectAll({ all, some, onSelectAll }: { all: boolean; some: boolean; onSelectAll: (all: boolean) => void }) {
  const box = useRef<HTMLInputElement>(null);
  useEffect(() => {
    if (box.current) box.current.indeterminate = some && !all;
  }, [some, all]);
  return (
    <label className="flex h-5 w-4 items-center justify-center">
      <input
        ref={box}
        type="checkbox"
        checked={all}
        onChange={() => onSelectAll(!all)}
        aria-label="Select all runs of this page"
      />
    </label>
  );
}

const widths = ["w-3/5", "w-1/2", "w-3/4", "w-2/3", "w-2/5", "w-3/5"];

/** Placeholder with the size of the list. */
export function RunsTableSkeleton() {
  return (
    <div role="status" aria-label="Loading runs">
      <div className="hidden h-8 border-b border-line bg-subtle rail:block" />
      {widths.map((width, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the order of the rows never changes.
        <div key={index} className="flex h-11.5 items-center gap-4 border-b border-line-soft px-4 rail:px-5">
          <Skeleton className="h-5 w-20 shrink-0" />
          <div className="flex min-w-0 flex-1 flex-col gap-1.5">
            <Skeleton className="w-1/3" />
            <Skeleton className={width} />
          </div>
          <Skeleton className="w-12 shrink-0" />
        </div>
      ))}
    </div>
  );
}
