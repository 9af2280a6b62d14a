import { ChevronRight } from "lucide-react";
import type { ReactNode } from "react";

/** The way back from a thing to its list; the link is the caller's. */
export function Breadcrumb({ children }: { children: ReactNode }) {
  return (
    <nav aria-label="Breadcrumb" className="flex items-center gap-2 text-muted [&_a]:hover:underline">
      {children}
      <ChevronRight aria-hidden className="size-4" strokeWidth={1.5} />
    </nav>
  );
}
