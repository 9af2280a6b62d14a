import { Link } from "@tanstack/react-router";
import { clsx } from "clsx";
import { Columns2, ListTree, X } from "lucide-react";
import { useAgentName } from "../../entities/agent/use-agent-name.ts";
import { formatCost } from "../../lib/format.ts";
import { Button, buttonClass } from "../../ui/button.tsx";
import { Cell, Row, RowActs, rowLink, SecondLine } from "../../ui/table.tsx";
import type { JoinedCase } from "./join-cases.ts";
import type { SuiteSearch } from "./read-suites-search.ts";
import { CasePill, LivePill } from "./suite-pill.tsx";
import { caseLine } from "./suite-words.ts";

const icon = { "aria-hidden": true, className: "size-4", strokeWidth: 1.5 } as const;
const tones = { pending: "text-muted", equal: "text-muted", diverged: "text-warn", failed: "text-bad" };

/** One case: the run that it pins, and what came of it. The row opens it beside the list. */
export function CaseRow({
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
  /** A suite has at least one case. */
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
          title={pinned?.output ?? run_id}
        >
          <span className="font-medium">{agent}</span>
          <span className="text-muted">
            {" "}
            · {pinned ? pinned.output || "without text" : "not in the suite any more"}
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
