import type { ReactNode } from "react";

/** A tab of forms: it scrolls, and its lines do not get too long. */
export function TabBody({ children }: { children: ReactNode }) {
  return (
    // Relative, or what is hidden in it for screen readers alone would make the frame scroll.
    <div className="relative min-h-0 flex-1 overflow-y-auto px-4 rail:px-5">
      <div className="max-w-250">{children}</div>
    </div>
  );
}
