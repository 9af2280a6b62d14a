import { useQuery } from "@tanstack/react-query";
import { ListChecks, Plus } from "lucide-react";
import { useRef, useState } from "react";
import { useMay } from "../../entities/session/use-may.ts";
import { suitesQuery } from "../../entities/suite/suite-api.ts";
import type { PageSearch } from "../../lib/page-search.ts";
import { useKeys } from "../../lib/use-keys.ts";
import { useRowKeys } from "../../lib/use-row-keys.ts";
import { useTitle } from "../../lib/use-title.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { Button } from "../../ui/button.tsx";
import { EmptiedPage } from "../../ui/emptied-page.tsx";
import { EmptyState } from "../../ui/empty-state.tsx";
import { ErrorNote } from "../../ui/error-note.tsx";
import { ModePill } from "../../ui/mode-pill.tsx";
import { Paging } from "../../ui/paging.tsx";
import { SheetHead } from "../../ui/sheet.tsx";
import { Table, TableSkeleton } from "../../ui/table.tsx";
import { ViewOnly } from "../../ui/view-only.tsx";
import type { SuiteAct } from "./suite-acts.ts";
import { SuiteDialogs } from "./suite-dialogs.tsx";
import { SuiteRow } from "./suite-row.tsx";

const columns = [
  { label: "Suite" },
  { label: "Cases", right: true },
  { label: "Last suite run" },
  { label: "When", folds: true },
  { label: "Acts", silent: true },
];

/** The suites of a project and mode: runs that are as they should be, to be held against agents that change. */
export function SuitesPage({
  search,
  onSearch,
  onOpen,
}: {
  search: PageSearch;
  onSearch: (search: PageSearch) => void;
  onOpen: (suiteId: string) => void;
}) {
  const at = useWorkspace();
  const mayChange = useMay("member");
  const body = useRef<HTMLDivElement>(null);
  const page = useQuery(suitesQuery(at, search));
  const [act, setAct] = useState<SuiteAct | null>(null);
  const create = mayChange ? () => setAct({ kind: "create" }) : undefined;
  useTitle("Suites", at.project.name);
  useRowKeys(body);
  useKeys({ c: () => create?.() });
  const suites = page.data?.data;
  const isLater = Boolean(search.after || search.before);
  return (
    <>
      <SheetHead>
        <h1 className="text-lg">Suites</h1>
        <ModePill />
        <div className="ml-auto flex items-center gap-2">
          {create ? (
            <Button kind="primary" onClick={create} title="Create suite (c)">
              <Plus aria-hidden className="size-4" strokeWidth={1.5} />
              Create suite
            </Button>
          ) : (
            <ViewOnly />
          )}
        </div>
      </SheetHead>
      <section ref={body} aria-label="Suites" className="relative min-h-0 flex-1 overflow-y-auto">
        {page.error && (
          <div className="px-4 pt-3 rail:px-5">
            <ErrorNote
              title={suites ? "The list is not up to date" : "The suites cannot be shown"}
              error={page.error}
              onRetry={() => void page.refetch()}
            />
          </div>
        )}
        {page.isPending && (
          <div role="status" aria-label="Loading suites">
            <TableSkeleton />
          </div>
        )}
        {suites && suites.length > 0 && (
          <Table label="Suites" columns={columns}>
            {suites.map((suite) => (
              <SuiteRow key={suite.id} suite={suite} mayChange={mayChange} onAct={setAct} />
            ))}
          </Table>
        )}
        {suites?.length === 0 && isLater && <EmptiedPage icon={ListChecks} noun="suite" onFirst={() => onSearch({})} />}
        {suites?.length === 0 && !isLater && (
          <EmptyState icon={ListChecks} title={`No ${at.mode} suites yet`}>
            <p className="max-w-[56ch] text-muted">
              A suite pins runs that are as they should be. After a change of an agent, a tool or a guardrail it tells
              which of them would come out otherwise, without calling a model.
            </p>
            {create && (
              <Button kind="primary" onClick={create}>
                Create suite
              </Button>
            )}
          </EmptyState>
        )}
      </section>
      <Paging noun="suite" page={page.data} search={search} onPage={onSearch} />
      <SuiteDialogs act={act} onAct={setAct} onOpen={onOpen} />
    </>
  );
}
