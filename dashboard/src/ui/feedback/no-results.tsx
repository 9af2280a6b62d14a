import { ListFilter } from "lucide-react";
import type { ReactNode } from "react";
import { Button } from "../forms/button.tsx";
import { EmptyState } from "./empty-state.tsx";

/** Empty state of a search. */
export function NoResults({ children, onClear }: { children: ReactNode; onClear: () => void }) {
  return (
    <EmptyState icon={ListFilter} title="No results">
      <p className="max-w-[60ch] text-muted wrap-anywhere">{children}</p>
      <Button onClick={onClear}>Clear search</Button>
    </EmptyState>
  );
}
