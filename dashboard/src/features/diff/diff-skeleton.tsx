import { Skeleton } from "../../ui/skeleton.tsx";

const widths = ["w-1/3", "w-1/4", "w-2/5", "w-1/4", "w-1/3", "w-2/5"];

/** The page before the comparison is here. */
export function DiffSkeleton() {
  return (
    <div role="status" aria-label="Comparing the runs" className="flex flex-col gap-6 pt-2">
      {widths.map((width, i) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: bars stay where they are.
        <div key={i} className="grid grid-cols-2 gap-10">
          <Skeleton className={width} />
          <Skeleton className={width} />
        </div>
      ))}
    </div>
  );
}
