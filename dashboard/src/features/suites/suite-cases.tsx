import { ListFilter } from "lucide-react";
import { useRef, useState } from "react";
import type { Suite as SuiteWithCases } from "../../../../server/wire/suite.ts";
import { useRowKeys } from "../../lib/use-row-keys.ts";
import { Button } from "../../ui/button.tsx";
import { EmptyState } from "../../ui/empty-state.tsx";
import { Table } from "../../ui/table.tsx";
import { CaseRow } from "./case-row.tsx";
import { type JoinedCase, ofOutcome } from "./join-cases.ts";
import type { SuiteSearch } from "./read-suites-search.ts";
import { RemoveCase } from "./remove-case.tsx";
import { caseWords } from "./suite-pill.tsx";

/** Whether some went on live is known when one has: until then the column would stand empty. */
const columnsOf = (cases: readonly JoinedCase[]) => [
  { label: "Outcome" },
  { label: "Case and what came of it" },
  { label: "Live", folds: true, silent: !cases.some(({ result }) => result?.live) },
  { label: "Acts", silent: true },
];

/** The cases of a suite, in its order. */
export function SuiteCases({
  suite,
  cases,
  search,
  mayChange,
  onSearch,
}: {
  suite: SuiteWithCases;
  cases: readonly JoinedCase[];
  search: SuiteSearch;
  mayChange: boolean;
  onSearch: (search: SuiteSearch) => void;
}) {
  const body = useRef<HTMLElement>(null);
  const [removes, setRemoves] = useState<JoinedCase | null>(null);
  const shown = ofOutcome(cases, search.outcome);
  useRowKeys(body);
  return (
    <section ref={body} aria-label="Cases" className="relative wide:min-h-0 wide:flex-1 wide:overflow-y-auto">
      {shown.length > 0 && (
        <Table label="Cases" columns={columnsOf(shown)}>
          {shown.map((each) => (
            <CaseRow
              key={each.run_id}
              shown={each}
              suiteId={suite.id}
              search={search}
              isOpen={each.run_id === search.case}
              isOnly={suite.cases.length === 1}
              onRemove={mayChange && each.pinned ? () => setRemoves(each) : undefined}
            />
          ))}
        </Table>
      )}
      {shown.length === 0 && search.outcome && (
        <EmptyState icon={ListFilter} title={`No case came out as ${caseWords(search.outcome).toLowerCase()}`}>
          <Button onClick={() => onSearch({ ...search, outcome: undefined })}>Clear filter</Button>
        </EmptyState>
      )}
      {removes && (
        <RemoveCase
          suite={suite}
          removed={removes}
          onClose={() => setRemoves(null)}
          onRemoved={() => {
            setRemoves(null);
            if (search.case === removes.run_id) onSearch({ ...search, case: undefined });
          }}
        />
      )}
    </section>
  );
}
