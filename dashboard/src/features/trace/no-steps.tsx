import { ListFilter } from "lucide-react";
import { Button } from "../../ui/button.tsx";
import { EmptyState } from "../../ui/empty-state.tsx";

/** No step says what is sought. */
export function NoSteps({ sought, onClear }: { sought: string; onClear: () => void }) {
  return (
    <EmptyState icon={ListFilter} title="No step says this">
      <p className="max-w-[46ch] wrap-anywhere text-muted">
        Neither names nor arguments, outputs or errors of the steps that are shown have “{sought}” in them.
      </p>
      <Button onClick={onClear}>Show all steps</Button>
    </EmptyState>
  );
}
