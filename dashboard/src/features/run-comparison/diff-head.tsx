import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { Breadcrumb } from "../../ui/data/breadcrumb.tsx";
import { ModePill } from "../../ui/data/mode-pill.tsx";
import { SheetHead } from "../../ui/dialogs/sheet.tsx";
import { Skeleton } from "../../ui/feedback/skeleton.tsx";

/** Breadcrumb and actions. */
export function DiffHead({ children }: { children?: ReactNode }) {
  return (
    <SheetHead>
      <Breadcrumb>
        <Link to="/runs">Runs</Link>
      </Breadcrumb>
      <h1 className="text-lg">Compare</h1>
      <span className="inline-flex max-rail:hidden">
        <ModePill />
      </span>
      <span className="ml-auto flex flex-wrap items-center justify-end gap-x-3 gap-y-1">{children}</span>
    </SheetHead>
  );
}

const widths = ["w-1/3", "w-1/4", "w-2/5", "w-1/4", "w-1/3", "w-2/5"];

/** Placeholder while the comparison is loading. */
export function DiffSkeleton() {
  return (
    <div role="status" aria-label="Comparing the runs" className="flex flex-col gap-6 pt-2">
      {widths.map((width, i) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the order of the bars never changes.
        <div key={i} className="grid grid-cols-2 gap-10">
          <Skeleton className={width} />
          <Skeleton className={width} />
        </div>
      ))}
    </div>
  );
}
