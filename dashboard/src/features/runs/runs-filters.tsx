import { useQuery } from "@tanstack/react-query";
import { Plus } from "lucide-react";
import { lazy, type ReactNode, useState } from "react";
import { isId, siblingId } from "../../../../server/domain/ids.ts";
import { runStatuses } from "../../../../server/domain/run-state.ts";
import { newestAgentsQuery } from "../../entities/agent/agent-api.ts";
import { useAgentName } from "../../entities/agent/use-agent-name.ts";
import { keyApi } from "../../entities/key/key-api.ts";
import { isFiltered, noFilters, type RunsSearch } from "../../entities/run/runs-search.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { StatusPill, statusWords } from "../../ui/data/status-pill.tsx";
import { SheetBar } from "../../ui/dialogs/sheet.tsx";
import { LazyBoundary } from "../../ui/feedback/lazy-boundary.tsx";
import { Button } from "../../ui/forms/button.tsx";
import { Chip, chipClass, SetChip } from "../../ui/forms/chip.tsx";
import { SearchField } from "../../ui/forms/search-field.tsx";
import { filterChips } from "./filter-words.ts";
import { TimeChip } from "./time-chip.tsx";

const statusChoices = runStatuses.map((value) => ({
  value,
  label: <StatusPill status={value} />,
  word: statusWords[value],
}));
/** Lazy: most lists need none of these filters. */
const FiltersDialog = lazy(() => import("./filters-dialog.tsx").then((it) => ({ default: it.FiltersDialog })));

/** Filter bar of the list: one chip per filter. */
export function RunsFilters({
  search,
  onFilter,
  onText,
  onOpenRun,
  children,
}: {
  search: RunsSearch;
  onFilter: (change: RunsSearch) => void;
  onText: (q: string) => void;
  onOpenRun: (runId: string) => void;
  /** Content at the end of the bar. */
  children: ReactNode;
}) {
  const { status, since, until, q = "" } = search;
  // Remounts the field after its text became a filter.
  const [pasted, setPasted] = useState(0);
  const [isDialogOpen, setIsDialogOpen] = useState(false);
  const keyName = useKeyName(search.key);
  const write = (text: string) => {
    const id = parsePastedId(text);
    if (id?.kind === "run") onOpenRun(id.id);
    else if (id) {
      onFilter({ [id.kind]: id.id, q: undefined });
      setPasted((count) => count + 1);
    } else onText(text);
  };
  return (
    <SheetBar>
      <SearchField
        key={pasted}
        label="Search runs"
        placeholder="Search or paste an id"
        title="Searches input, output, error, metadata, user and tool arguments"
        value={q}
        maxLength={500}
        onSearch={write}
      />
      <Chip name="Status" value={status} choices={statusChoices} onChange={(next) => onFilter({ status: next })} />
      <AgentChip agent={search.agent} onChange={(next) => onFilter({ agent: next })} />
      <TimeChip
        since={since}
        until={until}
        onChange={(range) => onFilter({ since: range.since, until: range.until })}
      />
      {filterChips(search, keyName).map(({ name, word, clear }) => (
        <SetChip key={`${name} ${word}`} name={name} word={word} onClear={() => onFilter(clear)} />
      ))}
      <button type="button" aria-haspopup="dialog" className={chipClass(false)} onClick={() => setIsDialogOpen(true)}>
        <Plus aria-hidden className="size-3.5" strokeWidth={1.5} />
        More filters
      </button>
      {isDialogOpen && (
        <LazyBoundary>
          <FiltersDialog filters={search} onFilter={onFilter} onClose={() => setIsDialogOpen(false)} />
        </LazyBoundary>
      )}
      <span className="ml-auto inline-flex items-center gap-1">
        {isFiltered(search) && (
          <Button kind="ghost" size="sm" onClick={() => onFilter(noFilters)}>
            Clear
          </Button>
        )}
        {children}
      </span>
    </SheetBar>
  );
}

/** Name of an API key; undefined while loading and for deleted keys. */
function useKeyName(id: string | undefined): string | undefined {
  const key = keyApi.one(useWorkspace(), id ?? "");
  return useQuery({ ...key, enabled: id !== undefined, retry: false }).data?.name;
}

function AgentChip({ agent, onChange }: { agent: string | undefined; onChange: (agent: string | undefined) => void }) {
  const { data } = useQuery(newestAgentsQuery(useWorkspace()));
  const name = useAgentName(agent ?? "");
  const listed = data?.data ?? [];
  // The filtered agent may be missing in the list: older or deleted.
  const old = agent && !listed.some(({ id }) => id === agent) ? [{ id: agent, name }] : [];
  const choices = [...listed, ...old].map(({ id, name }) => ({
    value: id,
    word: name,
    label: <span className="cut">{name}</span>,
  }));
  return <Chip name="Agent" value={agent} choices={choices} onChange={onChange} />;
}

/** Recognizes a pasted id that leads to runs: a run, or an agent or thread to filter by. */
export function parsePastedId(text: string): { kind: "run" | "agent" | "thread"; id: string } | null {
  const id = text.trim();
  const kind = (["run", "agent", "thread"] as const).find((kind) => isId(kind, id));
  if (kind) return { kind, id };
  return isId("trace", id) ? { kind: "run", id: siblingId(id, "run") } : null;
}
