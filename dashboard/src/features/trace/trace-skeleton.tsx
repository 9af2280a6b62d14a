import { SheetHead } from "../../ui/sheet.tsx";
import { Skeleton } from "../../ui/skeleton.tsx";

/** The page of a run in its size, before it comes. */
export function TraceSkeleton() {
  return (
    <div role="status" aria-label="Loading the run">
      <SheetHead>
        <Skeleton className="h-4 w-40" />
        <Skeleton className="h-5 w-20" />
        <div className="flex h-6 basis-full items-center gap-5">
          <Skeleton className="w-52" />
          <Skeleton className="w-24" />
          <Skeleton className="w-20" />
        </div>
      </SheetHead>
      {["w-1/2", "w-2/5", "w-3/5", "w-1/3"].map((width) => (
        <div key={width} className="flex h-(--row-dense) items-center px-5">
          <Skeleton className={width} />
        </div>
      ))}
    </div>
  );
}
