import { Skeleton } from "../../ui/skeleton.tsx";

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
