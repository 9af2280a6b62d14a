import type { ReactNode } from "react";

/** A scrolling tab of forms with a limited line width. */
export function TabBody({ children }: { children: ReactNode }) {
  return (
    // Relative, because otherwise visually hidden content would make the frame scroll.
    <div className="relative min-h-0 flex-1 overflow-y-auto px-4 rail:px-5">
      <div className="max-w-250">{children}</div>
    </div>
  );
}
