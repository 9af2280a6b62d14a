import { clsx } from "clsx";
import type { ReactNode } from "react";

/** Head of a page: title on the left, actions on the right. A long name leaves room for both. */
export function SheetHead({ children }: { children: ReactNode }) {
  return (
    <header className="flex min-h-13.5 shrink-0 flex-wrap items-center gap-x-3 gap-y-1 border-b border-line px-4 py-2 rail:px-5 rail:[&>h1]:max-w-1/2">
      {children}
    </header>
  );
}

/** Filter bar. On a phone it scrolls sideways, or `wraps` if it also has actions, which must stay visible. */
export function SheetBar({ wraps = false, children }: { wraps?: boolean; children: ReactNode }) {
  return (
    <div
      className={clsx(
        "flex shrink-0 items-center gap-2 border-b border-line px-4 py-2 rail:flex-wrap rail:px-5",
        wraps ? "flex-wrap" : "overflow-x-auto [scrollbar-width:none]",
      )}
    >
      {children}
    </div>
  );
}

/** Foot of a page: counts, pagination, time format. */
export function SheetFoot({ children, className }: { children: ReactNode; className?: string }) {
  return (
    <footer
      className={clsx(
        "flex min-h-10 shrink-0 flex-wrap items-center gap-3 border-t border-line px-4 py-1.5 text-xs text-muted rail:px-5",
        className,
      )}
    >
      {children}
    </footer>
  );
}
