import { Link } from "@tanstack/react-router";
import { clsx } from "clsx";
import { Columns2, ListFilter, ListTree, X } from "lucide-react";
import { useRef, useState } from "react";
import type { Suite as SuiteWithCases } from "../../../../server/domain/api-types/suite.ts";
import { useAgentName } from "../../entities/agent/use-agent-name.ts";
import { removeCase, suiteApi } from "../../entities/suite/suite-api.ts";
import { useRowKeys } from "../../hooks/use-row-keys.ts";
import { formatCost } from "../../lib/format.ts";
import { markdownToText } from "../../lib/markdown-to-text.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { Cell, Row, RowActs, rowLink, SecondLine, Table } from "../../ui/data/table.tsx";
import { ActionDialog } from "../../ui/dialogs/action-dialog.tsx";
import { EmptyState } from "../../ui/feedback/empty-state.tsx";
import { toast } from "../../ui/feedback/toast.ts";
import { Button, buttonClass } from "../../ui/forms/button.tsx";
import { filterByOutcome, type JoinedCase } from "./cases.ts";
import type { SuiteSearch } from "./read-suites-search.ts";
import { CasePill, LivePill } from "./suite-pill.tsx";
import { caseLine } from "./suite-words.ts";

/** The head of the live column stays hidden until a case has a live result. */
const columnsOf = (cases: readonly JoinedCase[]) => [
  { label: "Outcome" },
  { label: "Case and result" },
  { label: "Live", folds: true, silent: !cases.some(({ result }) => result?.live) },
  { label: "Actions", silent: true },
];

/** Cases of a suite, in order. */
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
  const shown = filterByOutcome(cases, search.outcome);
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
        <EmptyState icon={ListFilter} title="No results">
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

const icon = { "aria-hidden": true, className: "size-4", strokeWidth: 1.5 } as const;
const tones = { pending: "text-muted", equal: "text-muted", diverged: "text-warn", failed: "text-bad" };

/** A case's row: recorded run and outcome. A click opens it beside the list. */
function CaseRow({
  shown: { run_id, agent_id, pinned, result },
  suiteId,
  search,
  isOpen,
  isOnly,
  onRemove,
}: {
  shown: JoinedCase;
  suiteId: string;
  search: SuiteSearch;
  isOpen: boolean;
  /** True for the last case: a suite must have at least one. */
  isOnly: boolean;
  onRemove: (() => void) | undefined;
}) {
  const agent = useAgentName(agent_id);
  const line = caseLine(result);
  const fork = result?.live?.run_id;
  const name = `${agent}, ${run_id}`;
  return (
    <Row data-case={run_id} className={clsx(isOpen && "bg-accent-soft!")}>
      <Cell className="rail:w-px">
        <CasePill status={result?.status} />
      </Cell>
      <Cell main>
        <Link
          to="/suites/$suiteId"
          params={{ suiteId }}
          search={{ ...search, case: run_id }}
          data-row
          aria-current={isOpen ? "true" : undefined}
          className={rowLink}
          title={pinned?.input ?? run_id}
        >
          <span className="font-medium">{agent}</span>
          <span className="text-muted">
            {" "}
            · {pinned ? markdownToText(pinned.input ?? pinned.output ?? "") || "No input" : "removed from the suite"}
          </span>
        </Link>
        <SecondLine title={line} tone={tones[result?.status ?? "pending"]}>
          {line}
        </SecondLine>
      </Cell>
      <Cell folds className="whitespace-nowrap">
        {result?.live && (
          <span className="inline-flex items-center gap-2 rail:flex-col rail:items-start rail:gap-0.5">
            <LivePill live={result.live} />
            {result.live.run_id && <span className="text-xs text-muted">{formatCost(result.live.cost_usd)}</span>}
          </span>
        )}
      </Cell>
      <Cell right className="max-rail:ml-auto rail:w-px">
        <RowActs>
          {fork && (
            <Link
              to="/runs/$runId/diff/$otherId"
              params={{ runId: run_id, otherId: fork }}
              className={buttonClass({ kind: "ghost", size: "icon-sm" })}
              aria-label={`Compare with its fork: ${name}`}
              title="Compare with its fork"
            >
              <Columns2 {...icon} />
            </Link>
          )}
          <Link
            to="/runs/$runId"
            params={{ runId: run_id }}
            className={buttonClass({ kind: "ghost", size: "icon-sm" })}
            aria-label={`Open the trace: ${name}`}
            title="Open the trace"
          >
            <ListTree {...icon} />
          </Link>
          {onRemove && (
            <Button
              kind="ghost"
              size="icon-sm"
              aria-label={`Remove case: ${name}`}
              title={isOnly ? "A suite has at least one case. Delete the suite instead." : "Remove case"}
              disabled={isOnly}
              onClick={onRemove}
            >
              <X {...icon} />
            </Button>
          )}
        </RowActs>
      </Cell>
    </Row>
  );
}

/** Removes a case from a suite after explaining the effects. */
function RemoveCase({
  suite,
  removed,
  onClose,
  onRemoved,
}: {
  suite: SuiteWithCases;
  removed: JoinedCase;
  onClose: () => void;
  onRemoved: () => void;
}) {
  const agent = useAgentName(removed.agent_id);
  const at = useWorkspace();
  return (
    <ActionDialog
      title="Remove case"
      act="Remove case"
      acting="Removing"
      refused="The case was not removed"
      run={() => removeCase(at, suite.id, removed.run_id)}
      stale={[suiteApi.all(at)]}
      onClose={onClose}
      onDone={() => {
        toast("Case removed");
        onRemoved();
      }}
    >
      <p className="wrap-anywhere">
        {suite.name} no longer replays this run of {agent}. The run is kept until its retention ends.
      </p>
    </ActionDialog>
  );
}
