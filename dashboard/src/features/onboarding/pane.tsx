import type { ReactNode } from "react";

/** The layout of one step of the guide. `go` contains the buttons that lead on. */
export function Pane({
  title,
  aside,
  go,
  children,
}: {
  title: string;
  aside?: ReactNode;
  go: ReactNode;
  children: ReactNode;
}) {
  return (
    <section aria-label={title} className="flex min-h-120 min-w-0 flex-col gap-4 p-4 rail:p-6">
      <div className="flex flex-wrap items-center gap-3">
        <h2 tabIndex={-1} className="text-xl focus-visible:shadow-none">
          {title}
        </h2>
        {aside && <span className="ml-auto">{aside}</span>}
      </div>
      {children}
      {/* Sticky, so that long code above never hides the buttons. */}
      <div className="sticky bottom-0 -mx-4 mt-auto -mb-4 flex flex-wrap items-center gap-2 border-t border-line-soft bg-surface px-4 py-3 rail:-bottom-6 rail:-mx-6 rail:-mb-6 rail:px-6">
        {go}
      </div>
    </section>
  );
}
