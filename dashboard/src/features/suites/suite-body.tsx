import { useQuery } from "@tanstack/react-query";
import { clsx } from "clsx";
import { useEffect, useRef } from "react";
import type { Suite as SuiteWithCases } from "../../../../server/wire/suite.ts";
import { suiteRunQuery, suiteRunsQuery } from "../../entities/suite/suite-api.ts";
import { plural } from "../../lib/format.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { ErrorNote } from "../../ui/error-note.tsx";
import { SheetFoot } from "../../ui/sheet.tsx";
import { TimeSwitch } from "../../ui/time-switch.tsx";
import { CasePane } from "./case-pane.tsx";
import { joinCases } from "./join-cases.ts";
import type { SuiteSearch } from "./read-suites-search.ts";
import { SuiteCases } from "./suite-cases.tsx";
import { SuiteRunBar } from "./suite-run-bar.tsx";
import { SuiteRuns } from "./suite-runs.tsx";

/** The cases with what came of them, and beside them the suite runs so far, or the case that is looked at. */
export function SuiteBody({
  suite,
  search,
  mayChange,
  onSearch,
}: {
  suite: SuiteWithCases;
  search: SuiteSearch;
  mayChange: boolean;
  onSearch: (search: SuiteSearch) => void;
}) {
  const at = useWorkspace();
  const runs = useQuery(suiteRunsQuery(at, suite.id));
  const shownId = search.result ?? runs.data?.data[0]?.id;
  const shown = useQuery({ ...suiteRunQuery(at, suite.id, shownId ?? ""), enabled: shownId !== undefined });
  const result = shownId ? shown.data : undefined;
  const cases = joinCases(suite.cases, result?.cases ?? []);
  const open = cases.find(({ run_id }) => run_id === search.case);
  useBackToRow(open?.run_id);
  const error = runs.error ?? (shownId ? shown.error : null);
  return (
    <>
      <div className="flex min-h-0 flex-1 flex-col overflow-y-auto wide:flex-row wide:overflow-hidden">
        <div className={clsx("flex min-w-0 flex-1 flex-col wide:min-h-0", open && "max-wide:hidden")}>
          <SuiteRunBar
            suiteId={suite.id}
            result={result}
            search={search}
            isLoading={runs.isPending || (shownId !== undefined && shown.isPending)}
            mayChange={mayChange}
            onSearch={onSearch}
          />
          {error && (
            <div className="px-4 pt-3 rail:px-5">
              <ErrorNote
                title="What came of it is not up to date"
                error={error}
                onRetry={() => void (runs.error ? runs.refetch() : shown.refetch())}
              />
            </div>
          )}
          <SuiteCases suite={suite} cases={cases} search={search} mayChange={mayChange} onSearch={onSearch} />
        </div>
        {open ? (
          <CasePane key={open.run_id} suiteId={suite.id} shown={open} search={search} />
        ) : (
          <SuiteRuns suite={suite} runs={runs.data?.data} shownId={shownId} search={search} />
        )}
      </div>
      <SheetFoot>
        <TimeSwitch />
        <span className="ml-auto tabular-nums">{plural(suite.cases.length, "case")}</span>
      </SheetFoot>
    </>
  );
}

/** The case that was closed leaves the focus at its row. */
function useBackToRow(runId: string | undefined): void {
  const last = useRef(runId);
  useEffect(() => {
    const closed = runId ? undefined : last.current;
    last.current = runId;
    if (closed && document.activeElement === document.body)
      document.querySelector<HTMLElement>(`[data-case="${closed}"] [data-row]`)?.focus();
  }, [runId]);
}
