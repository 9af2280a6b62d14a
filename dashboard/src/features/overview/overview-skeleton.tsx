import { Skeleton } from "../../ui/skeleton.tsx";

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
