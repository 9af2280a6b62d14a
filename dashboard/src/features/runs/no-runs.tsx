import { ListFilter, ListTree } from "lucide-react";
import type { RunStatus } from "../../lib/types.ts";
import { Button } from "../../ui/button.tsx";
import { CopyButton } from "../../ui/copy-button.tsx";
import { EmptyState } from "../../ui/empty-state.tsx";
import { statusWords } from "../../ui/status-pill.tsx";

/** No run was ever made here. */
export function NoRuns() {
  const command = 'runnel run "My agent" "Where is order 4711?"';
  return (
    <EmptyState icon={ListTree} title="No runs yet">
      <p className="max-w-[46ch] text-muted">
        A run is one execution of an agent. Start one from a terminal and watch it arrive here:
      </p>
      <div className="flex w-full max-w-140 items-center gap-2 rounded-md border border-line bg-subtle py-1 pr-1 pl-3 text-left">
        <code className="min-w-0 flex-1 wrap-anywhere">{command}</code>
        <CopyButton text={command} what="command" />
      </div>
    </EmptyState>
  );
}

/** Runs exist, but none on this page of this filter. */
export function NoMatch({ status, onClear }: { status: RunStatus | undefined; onClear: () => void }) {
  return (
    <EmptyState icon={ListFilter} title={status ? "No run matches this filter" : "No runs on this page"}>
      <p className="max-w-[46ch] text-muted">
        {status
          ? `Nothing has the status “${statusWords[status]}” now.`
          : "The runs of this page were deleted, or the address is old."}
      </p>
      <Button onClick={onClear}>{status ? "Clear filter" : "Show the newest"}</Button>
    </EmptyState>
  );
}
