import { clsx } from "clsx";
import { useEffect, useRef } from "react";
import type { AnyRun as Run } from "../../../../server/wire/run.ts";
import { Skeleton } from "../../ui/skeleton.tsx";
import { RunRow } from "./run-row.tsx";

const columns = [
  { label: "Status" },
  { label: "Agent, input and result" },
  { label: "Calls" },
  { label: "Duration", right: true },
  { label: "Tokens", right: true, className: "hidden wide:table-cell" },
  { label: "Cost", right: true, className: "rail:max-full:pr-5" },
  { label: "Started", className: "rail:max-full:hidden" },
];
const head =
  "sticky top-0 z-(--z-sticky) h-8 border-b border-line bg-subtle px-1.5 text-2xs font-medium whitespace-nowrap text-muted first:pl-5 last:pr-5";

/** The runs of a page. On a phone each row is an entry of some lines. */
export function RunsTable({
  runs,
  fresh,
  selected,
  onSelect,
  onSelectAll,
}: {
  runs: Run[];
  fresh: ReadonlySet<string>;
  selected: ReadonlySet<string>;
  onSelect: (run: Run) => void;
  onSelectAll: (all: boolean) => void;
}) {
  const chosen = runs.filter(({ id }) => selected.has(id)).length;
  return (
    <table className="block w-full border-separate border-spacing-0 rail:table">
      <thead className="max-rail:sr-only">
        <tr>
          <th scope="col" className={clsx(head, "w-px pr-0!")}>
            <SelectAll all={chosen === runs.length} some={chosen > 0} onSelectAll={onSelectAll} />
          </th>
          {columns.map(({ label, right, className }) => (
            <th key={label} scope="col" className={clsx(head, right ? "text-right" : "text-left", className)}>
              {label}
            </th>
          ))}
        </tr>
      </thead>
      <tbody className="block rail:table-row-group">
        {runs.map((run) => (
          <RunRow
            key={run.id}
            run={run}
            isNew={fresh.has(run.id)}
            isSelected={selected.has(run.id)}
            onSelect={onSelect}
          />
        ))}
      </tbody>
    </table>
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

/** The list in its size, before it comes. */
export function RunsTableSkeleton() {
  return (
    <div role="status" aria-label="Loading runs">
      <div className="hidden h-8 border-b border-line bg-subtle rail:block" />
      {widths.map((width, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the rows never change places.
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
