import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { Bot, ListFilter, Plus } from "lucide-react";
import { useRef } from "react";
import { type AgentsSearch, agentsQuery } from "../../entities/agent/agent-api.ts";
import { useMay } from "../../entities/session/use-may.ts";
import type { PageSearch } from "../../lib/page-search.ts";
import { useKeys } from "../../lib/use-keys.ts";
import { useRowKeys } from "../../lib/use-row-keys.ts";
import { useTitle } from "../../lib/use-title.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { Button, buttonClass } from "../../ui/button.tsx";
import { EmptyState } from "../../ui/empty-state.tsx";
import { ErrorNote } from "../../ui/error-note.tsx";
import { ModePill } from "../../ui/mode-pill.tsx";
import { Paging } from "../../ui/paging.tsx";
import { SearchField } from "../../ui/search-field.tsx";
import { SheetBar, SheetHead } from "../../ui/sheet.tsx";
import { Table, TableSkeleton } from "../../ui/table.tsx";
import { ViewOnly } from "../../ui/view-only.tsx";
import { AgentRow } from "./agent-row.tsx";

const columns = [
  { label: "Name" },
  { label: "Model" },
  { label: "Tools", right: true },
  { label: "Version", right: true },
  { label: "Last change" },
  { label: "Acts", silent: true },
];

/** All agents of a project and mode. */
export function AgentsPage({ search, onSearch }: { search: AgentsSearch; onSearch: (search: AgentsSearch) => void }) {
  const at = useWorkspace();
  const may = useMay("member");
  const navigate = useNavigate();
  const body = useRef<HTMLDivElement>(null);
  const page = useQuery(agentsQuery(at, search));
  useTitle("Agents", at.project.name);
  useRowKeys(body);
  useKeys({ c: () => void navigate({ to: "/agents/new" }) }, may);
  const { q = "" } = search;
  const agents = page.data?.data.filter(({ name }) => name.toLowerCase().includes(q.toLowerCase()));
  return (
    <>
      <SheetHead>
        <h1 className="text-lg">Agents</h1>
        <ModePill />
        <div className="ml-auto flex items-center gap-2">
          {may ? (
            <Link to="/agents/new" className={buttonClass({ kind: "primary" })}>
              <Plus aria-hidden className="size-4" strokeWidth={1.5} />
              Create agent
            </Link>
          ) : (
            <ViewOnly />
          )}
        </div>
      </SheetHead>
      <SheetBar>
        <SearchField
          label="Search agents by name"
          placeholder="Name"
          value={q}
          onSearch={(text) => onSearch(text === "" ? {} : { q: text })}
        />
      </SheetBar>
      {page.error && (
        <div className="px-4 pt-3 rail:px-5">
          <ErrorNote title="The agents cannot be shown" error={page.error} onRetry={() => void page.refetch()} />
        </div>
      )}
      <section ref={body} aria-label="Agents" className="relative min-h-0 flex-1 overflow-y-auto">
        {page.isPending && <TableSkeleton />}
        {agents && agents.length > 0 && (
          <Table label="Agents" columns={columns}>
            {agents.map((agent) => (
              <AgentRow key={agent.id} agent={agent} />
            ))}
          </Table>
        )}
        {agents?.length === 0 && <NoAgents search={search} may={may} onClear={() => onSearch({})} />}
      </section>
      <Paging
        noun="agent"
        page={q ? undefined : page.data}
        search={search}
        onPage={(next: PageSearch) => onSearch(next)}
      />
    </>
  );
}

function NoAgents({ search, may, onClear }: { search: AgentsSearch; may: boolean; onClear: () => void }) {
  if (search.q || search.after || search.before)
    return (
      <EmptyState icon={ListFilter} title={search.q ? "No agent has this in its name" : "No agents on this page"}>
        <p className="max-w-[46ch] text-muted wrap-anywhere">
          {search.q ? `Nothing is named “${search.q}” here.` : "They were deleted, or the address is old."}
        </p>
        <Button onClick={onClear}>{search.q ? "Clear search" : "Show the newest"}</Button>
      </EmptyState>
    );
  return (
    <EmptyState icon={Bot} title="No agents yet">
      <p className="max-w-[46ch] text-muted">
        An agent is instructions, a model, and the tools it may call. Each change makes a new version; runs keep the one
        that they started with.
      </p>
      {may && (
        <Link to="/agents/new" className={buttonClass({ kind: "primary" })}>
          Create the first agent
        </Link>
      )}
    </EmptyState>
  );
}
