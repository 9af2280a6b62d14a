import { useMutation, useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { clsx } from "clsx";
import { useEffect, useRef } from "react";
import { type CaseStatus, caseStatuses } from "../../../../server/domain/api-types/enums.ts";
import type {
  SuiteRunListItem as SuiteRun,
  SuiteRun as SuiteRunWithCases,
  Suite as SuiteWithCases,
} from "../../../../server/domain/api-types/suite.ts";
import { useRefresh } from "../../entities/crud/use-refresh.ts";
import { cancelSuiteRun, suiteApi, suiteRunQuery, suiteRunsQuery } from "../../entities/suite/suite-api.ts";
import { formatCost, plural } from "../../lib/format.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { CodeBlock } from "../../ui/data/code-block.tsx";
import { Time } from "../../ui/data/time.tsx";
import { SheetBar, SheetFoot } from "../../ui/dialogs/sheet.tsx";
import { ErrorNote } from "../../ui/feedback/error-note.tsx";
import { Progress } from "../../ui/feedback/progress.tsx";
import { toast } from "../../ui/feedback/toast.ts";
import { Button } from "../../ui/forms/button.tsx";
import { Chip } from "../../ui/forms/chip.tsx";
import { FoldedCode } from "../../ui/forms/show-code.tsx";
import { TimeSwitch } from "../../ui/forms/time-switch.tsx";
import { CasePane } from "./case-pane.tsx";
import { joinCases } from "./cases.ts";
import type { SuiteSearch } from "./read-suites-search.ts";
import { SuiteCases } from "./suite-cases.tsx";
import { CasePill, caseWords, SuiteRunPill } from "./suite-pill.tsx";
import { countWords, shellWord } from "./suite-words.ts";

/** The cases, and beside them the suite's results or the open case. */
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
  const selectedRun = useQuery({ ...suiteRunQuery(at, suite.id, shownId ?? ""), enabled: shownId !== undefined });
  const result = shownId ? selectedRun.data : undefined;
  const cases = joinCases(suite.cases, result?.cases ?? []);
  const open = cases.find(({ run_id }) => run_id === search.case);
  useBackToRow(open?.run_id);
  const error = runs.error ?? (shownId ? selectedRun.error : null);
  return (
    <>
      <div className="flex min-h-0 flex-1 flex-col overflow-y-auto wide:flex-row wide:overflow-hidden">
        <div className={clsx("flex min-w-0 flex-1 flex-col wide:min-h-0", open && "max-wide:hidden")}>
          <SuiteRunBar
            suiteId={suite.id}
            result={result}
            search={search}
            isLoading={runs.isPending || (shownId !== undefined && selectedRun.isPending)}
            mayChange={mayChange}
            onSearch={onSearch}
          />
          <ErrorNote
            inset
            title="The results are not up to date"
            error={error}
            onRetry={() => void (runs.error ? runs.refetch() : selectedRun.refetch())}
          />
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

/** Returns the focus to the row of the case that was closed. */
function useBackToRow(runId: string | undefined): void {
  const last = useRef(runId);
  useEffect(() => {
    const closed = runId ? undefined : last.current;
    last.current = runId;
    if (closed && document.activeElement === document.body)
      document.querySelector<HTMLElement>(`[data-case="${closed}"] [data-row]`)?.focus();
  }, [runId]);
}

const choices = caseStatuses.map((value) => ({ value, label: <CasePill status={value} />, word: caseWords(value) }));

/** Bar above the cases: suite run, its result or progress, and the outcome filter. */
function SuiteRunBar({
  suiteId,
  result,
  search,
  isLoading,
  mayChange,
  onSearch,
}: {
  suiteId: string;
  result: SuiteRunWithCases | undefined;
  search: SuiteSearch;
  isLoading: boolean;
  mayChange: boolean;
  onSearch: (search: SuiteSearch) => void;
}) {
  const at = useWorkspace();
  const refresh = useRefresh(suiteApi);
  const cancel = useMutation({
    mutationFn: (suiteRunId: string) => cancelSuiteRun(at, suiteId, suiteRunId),
    onSuccess: async () => {
      toast("Suite run cancelled");
      await refresh();
    },
  });
  return (
    <>
      <SheetBar wraps>
        <p
          role="status"
          className="flex min-h-(--control-sm) flex-wrap items-center gap-2 text-xs text-muted rail:shrink-0"
        >
          {result ? (
            <>
              <SuiteRunPill status={result.status} />
              <b className="text-ink">{countWords(result)}</b>
              {!search.case && (
                <span className="max-rail:hidden">
                  <Time at={result.created_at} />
                </span>
              )}
              {result.live && !search.case && <span>{spentWords(result)}</span>}
            </>
          ) : (
            !isLoading && "Not run yet."
          )}
        </p>
        {result?.status === "in_progress" && mayChange && (
          <Button size="sm" disabled={cancel.isPending} onClick={() => cancel.mutate(result.id)}>
            Cancel suite run
          </Button>
        )}
        <span className="ml-auto shrink-0">
          <Chip<CaseStatus>
            name="Outcome"
            value={search.outcome}
            choices={choices}
            onChange={(outcome) => onSearch({ ...search, outcome })}
          />
        </span>
      </SheetBar>
      {result?.status === "in_progress" && (
        <Progress
          label="Cases done"
          share={(result.counts.total - result.counts.pending) / Math.max(result.counts.total, 1)}
        />
      )}
      {cancel.error && (
        <div className="px-4 pt-3 rail:px-5">
          <ErrorNote title="The suite run was not cancelled" error={cancel.error} />
        </div>
      )}
    </>
  );
}

/** Describes the cost of live continuations and its limit. Unknown if the cost of any is unknown. */
function spentWords({ live, cases }: SuiteRunWithCases): string {
  const forks = cases.flatMap((each) => (each.live?.run_id ? [each.live] : []));
  const isUnknown = forks.some(({ cost_usd, status }) => cost_usd === null && status !== "in_progress");
  const cost = isUnknown ? null : forks.reduce((sum, each) => sum + (each.cost_usd ?? 0), 0);
  const limit = live?.max_cost_usd?.toLocaleString("en", { minimumFractionDigits: 2, maximumFractionDigits: 4 });
  const most = limit === undefined ? "" : ` of at most $${limit}`;
  return `Forks cost ${formatCost(cost)}${most}`;
}

/** Results of a suite, and the command that runs it in CI. */
function SuiteRuns({
  suite,
  runs,
  shownId,
  search,
}: {
  suite: SuiteWithCases;
  runs: readonly SuiteRun[] | undefined;
  shownId: string | undefined;
  search: SuiteSearch;
}) {
  return (
    <div className="flex shrink-0 flex-col gap-5 border-line px-4 py-4 max-wide:border-t rail:px-5 wide:w-90 wide:overflow-y-auto wide:border-l">
      <section aria-label="Suite runs" className="flex min-w-0 flex-col gap-1">
        <h2 className="text-md">Suite runs</h2>
        {runs?.length === 0 && <p className="text-muted">No suite runs yet.</p>}
        <ul className="-mx-2">
          {runs?.map((run, index) => (
            <li key={run.id}>
              <Link
                to="/suites/$suiteId"
                params={{ suiteId: suite.id }}
                search={{ ...search, case: undefined, result: index === 0 ? undefined : run.id }}
                aria-current={run.id === shownId ? "true" : undefined}
                className={clsx(
                  "flex min-h-10 flex-wrap items-center gap-x-2 rounded-md px-2 py-1 text-xs text-muted",
                  run.id === shownId ? "bg-accent-soft" : "hover:bg-hover",
                )}
              >
                <SuiteRunPill status={run.status} />
                <span>{countWords(run)}</span>
                {run.live && <span>live</span>}
                <span className="ml-auto">
                  <Time at={run.created_at} />
                </span>
              </Link>
            </li>
          ))}
        </ul>
      </section>
      <InBuilds suite={suite} />
    </div>
  );
}

function InBuilds({ suite }: { suite: SuiteWithCases }) {
  const command = [
    `export RUNNEL_URL=${location.origin}`,
    'export RUNNEL_API_KEY="$STAGING_KEY"',
    `runnel suite run ${shellWord(suite.name)} --timeout 10m`,
  ].join("\n");
  return (
    <section aria-label="In CI" className="flex min-w-0 flex-col gap-2">
      <h2 className="text-md">In CI</h2>
      <p className="text-xs text-muted">
        Exit code 0: all cases are equal. 1: at least one differs. 2: unknown. The key needs the scopes read and run.
      </p>
      <CodeBlock code={command} label="build command" />
      <FoldedCode
        name="suite run"
        request={{ method: "POST", path: `/v1/suites/${suite.id}/runs?wait=60`, body: {} }}
      />
    </section>
  );
}
