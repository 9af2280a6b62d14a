import { ChevronRight } from "lucide-react";
import type { ReactNode } from "react";

/** Breadcrumb from an object to its list; the caller passes the link. */
export function Breadcrumb({ children }: { children: ReactNode }) {
  return (
    <nav aria-label="Breadcrumb" className="flex items-center gap-2 text-muted [&_a]:hover:underline">
      {children}
      <ChevronRight aria-hidden className="size-4" strokeWidth={1.5} />
    </nav>
  );
}
