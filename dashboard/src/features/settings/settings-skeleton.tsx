import { Skeleton } from "../../ui/feedback/skeleton.tsx";

/** Placeholder with the size of the page. */
export function SettingsSkeleton() {
  return (
    <div role="status" aria-label="Loading the settings">
      {[1, 4, 4].map((rows, section) => (
        <div
          // biome-ignore lint/suspicious/noArrayIndexKey: the order never changes.
          key={section}
          className="grid gap-x-10 gap-y-4 border-t border-line py-6 first:border-t-0 full:grid-cols-[minmax(0,3fr)_minmax(0,7fr)]"
        >
          <div className="flex flex-col gap-3">
            <Skeleton className="w-24" />
            <Skeleton className="w-48" />
          </div>
          <div className="flex flex-col gap-7 py-2">
            {Array.from({ length: rows }, (_, row) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: the order never changes.
              <Skeleton key={row} className="w-full max-w-120" />
            ))}
          </div>
        </div>
      ))}
    </div>
  );
}
