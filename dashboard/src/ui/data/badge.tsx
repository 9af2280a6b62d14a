import type { ReactNode } from "react";

/** A short fact, not a state: a scope, a version. */
export function Badge({ children, title }: { children: ReactNode; title?: string }) {
  return (
    <span
      title={title}
      className="inline-flex h-4.5 items-center rounded-sm border border-line bg-surface px-1.5 text-2xs whitespace-nowrap text-muted"
    >
      {children}
    </span>
  );
}
