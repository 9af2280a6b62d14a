import type { ReactNode } from "react";

/** A key cap. */
export function Kbd({ children }: { children: ReactNode }) {
  return (
    <kbd className="inline-flex h-5 min-w-5 items-center justify-center rounded-sm border border-line-button bg-subtle px-1 font-sans text-2xs whitespace-nowrap text-muted">
      {children}
    </kbd>
  );
}
