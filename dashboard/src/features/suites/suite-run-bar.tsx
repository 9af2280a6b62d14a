import type { CaseStatus } from "../../../../server/wire/names.ts";
import { caseStatuses } from "../../../../server/wire/names.ts";
import type { SuiteRun as SuiteRunWithCases } from "../../../../server/wire/suite.ts";
import { formatCost } from "../../lib/format.ts";
import { Button } from "../../ui/button.tsx";
import { Chip } from "../../ui/chip.tsx";
import { ErrorNote } from "../../ui/error-note.tsx";
import { Progress } from "../../ui/progress.tsx";
import { SheetBar } from "../../ui/sheet.tsx";
import { Time } from "../../ui/time.tsx";
import type { SuiteSearch } from "./read-suites-search.ts";
import { useCancelSuiteRun } from "./suite-acts.ts";
import { CasePill, caseWords, SuiteRunPill } from "./suite-pill.tsx";
import { countWords } from "./suite-words.ts";

const choices = caseStatuses.map((value) => ({ value, label: <CasePill status={value} />, word: caseWords(value) }));

/** Which suite run stands beside the cases, how it came out or how far it is, and which cases are listed. */
export function SuiteRunBar({
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
  const cancel = useCancelSuiteRun(suiteId);
  return (
    <>
      <SheetBar>
        <p role="status" className="flex min-h-(--control-sm) shrink-0 items-center gap-2 text-xs text-muted">
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
            !isLoading && "Not run yet: run the suite to see what its cases come to."
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

/** What its forks cost, of what they might. Where one's cost is unknown, so is the sum. */
function spentWords({ live, cases }: SuiteRunWithCases): string {
  const forks = cases.flatMap((each) => (each.live?.run_id ? [each.live] : []));
  const isUnknown = forks.some(({ cost_usd, status }) => cost_usd === null && status !== "in_progress");
  const cost = isUnknown ? null : forks.reduce((sum, each) => sum + (each.cost_usd ?? 0), 0);
  const most = live?.max_cost_usd === undefined ? "" : ` of ${formatCost(live.max_cost_usd)} at most`;
  return `Forks cost ${formatCost(cost)}${most}`;
}
