import { KeyRound, ListFilter } from "lucide-react";
import type { Environment as Mode } from "../../../../server/core/scope.ts";
import { Button } from "../../ui/button.tsx";
import { EmptyState } from "../../ui/empty-state.tsx";

/** No key was ever made here. */
export function NoKeys({ mode, onCreate }: { mode: Mode; onCreate?: () => void }) {
  return (
    <EmptyState icon={KeyRound} title={`No ${mode} keys yet`}>
      <p className="max-w-[52ch] text-muted">
        A key lets your server create runs here. Make one for each place that calls runnel, so that you can change one
        without touching the others.
      </p>
      {onCreate && (
        <Button kind="primary" onClick={onCreate}>
          Create key
        </Button>
      )}
    </EmptyState>
  );
}

/** Keys exist, but none that was looked for. */
export function NoKeyMatches({ onClear }: { onClear: () => void }) {
  return (
    <EmptyState icon={ListFilter} title="No key matches these filters">
      <p className="text-muted">Names, beginnings, last four characters, ids and addresses were looked through.</p>
      <Button onClick={onClear}>Clear filters</Button>
    </EmptyState>
  );
}
