import { Link } from "@tanstack/react-router";
import { ListFilter, ListTree } from "lucide-react";
import { useAgentName } from "../../entities/agent/use-agent-name.ts";
import { isFiltered, isIndexed, type RunsSearch } from "../../entities/run/runs-search.ts";
import { CopyButton } from "../../ui/data/copy-button.tsx";
import { statusWords } from "../../ui/data/status-pill.tsx";
import { EmptyState } from "../../ui/feedback/empty-state.tsx";
import { Button, buttonClass } from "../../ui/forms/button.tsx";
import { filterWords } from "./filter-words.ts";

/** Empty state if the project has no runs. */
export function NoRuns() {
  const command = 'runnel run "My agent" "Where is order 4711?"';
  return (
    <EmptyState icon={ListTree} title="No runs yet">
      <p className="max-w-[46ch] text-muted">A run is one execution of an agent. Start one here or from a terminal:</p>
      <div className="flex w-full max-w-140 items-center gap-2 rounded-md border border-line bg-subtle py-1 pr-1 pl-3 text-left">
        <code className="min-w-0 flex-1 wrap-anywhere">{command}</code>
        <CopyButton text={command} what="command" />
      </div>
      <Link to="/playground" className={buttonClass({ kind: "primary" })}>
        Start a run
      </Link>
    </EmptyState>
  );
}

/** Empty state if no run matches the filters, or the page is empty. */
export function NoMatch({
  search,
  onClear,
  onWiden,
}: {
  search: RunsSearch;
  onClear: () => void;
  onWiden: () => void;
}) {
  const agent = useAgentName(search.agent ?? "");
  const filtered = isFiltered(search);
  const isNarrow = search.since === "1h" || search.since === "24h";
  return (
    <EmptyState icon={ListFilter} title={filtered ? "No run matches these filters" : "No runs on this page"}>
      <p className="max-w-[60ch] text-muted wrap-anywhere">
        {filtered
          ? `Nothing ${filterWords(search, { status: statusWords, agent })}.${isIndexed(search) ? " Runs can be found a few seconds after they end." : ""}`
          : "The runs on this page were deleted, or the address is out of date."}
      </p>
      <div className="flex flex-wrap justify-center gap-2">
        <Button onClick={onClear}>{filtered ? "Clear filters" : "Show the newest"}</Button>
        {isNarrow && <Button onClick={onWiden}>Show the last 7 days</Button>}
      </div>
    </EmptyState>
  );
}
