import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { ListTree } from "lucide-react";
import { useRef } from "react";
import { lastText } from "../../../../server/core/run-input.ts";
import type { Agent } from "../../../../server/wire/agent.ts";
import { agentRunsQuery } from "../../entities/run/run-api.ts";
import { between, formatCost, formatDuration } from "../../lib/format.ts";
import { useHeldRows } from "../../lib/use-held-rows.ts";
import { useRowKeys } from "../../lib/use-row-keys.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { buttonClass } from "../../ui/button.tsx";
import { EmptyState } from "../../ui/empty-state.tsx";
import { ErrorNote } from "../../ui/error-note.tsx";
import { NewRows } from "../../ui/new-rows.tsx";
import { SheetFoot } from "../../ui/sheet.tsx";
import { StatusPill } from "../../ui/status-pill.tsx";
import { Cell, Row, rowLink, SecondLine, Table, TableSkeleton } from "../../ui/table.tsx";
import { Time } from "../../ui/time.tsx";
import { TimeSwitch } from "../../ui/time-switch.tsx";

const columns = [
  { label: "Input and result" },
  { label: "Status" },
  { label: "Version", right: true },
  { label: "Duration", right: true },
  { label: "Cost", right: true },
  { label: "Created" },
];

/** The newest runs of an agent, and the way to all of them. */
export function AgentRuns({ agent }: { agent: Pick<Agent, "id" | "name"> }) {
  const at = useWorkspace();
  const body = useRef<HTMLDivElement>(null);
  const page = useQuery({ ...agentRunsQuery(at, agent.id), refetchInterval: 5000 });
  useRowKeys(body);
  const rows = useHeldRows(page.data?.data, agent.id);
  const runs = rows.shown;
  const showNew = () => {
    rows.showAll();
    body.current?.scrollTo({ top: 0 });
  };
  return (
    <>
      <div className="relative flex min-h-0 flex-1 flex-col">
        <NewRows count={rows.held} onShow={showNew} />
        <div ref={body} onScroll={rows.onScroll} className="min-h-0 flex-1 overflow-y-auto">
          {page.error && (
            <div className="px-4 pt-3 rail:px-5">
              <ErrorNote title="The runs cannot be shown" error={page.error} onRetry={() => void page.refetch()} />
            </div>
          )}
          {page.isPending && <TableSkeleton />}
          {runs?.length === 0 && (
            <EmptyState icon={ListTree} title="No runs of this agent yet">
              <p className="max-w-[46ch] text-muted">Try it, and each run stands here with its trace.</p>
              <Link to="/playground" search={{ agent: agent.id }} className={buttonClass()}>
                Open in playground
              </Link>
            </EmptyState>
          )}
          {runs && runs.length > 0 && (
            <Table label="Runs of this agent" columns={columns}>
              {runs.map((run) => (
                <Row key={run.id}>
                  <Cell main>
                    <Link
                      to="/runs/$runId"
                      params={{ runId: run.id }}
                      data-row
                      title={lastText(run.input)}
                      className={rowLink}
                    >
                      {lastText(run.input).trim() || "No input"}
                    </Link>
                    <SecondLine tone={run.error ? "text-bad" : "text-muted"}>
                      {run.error?.message ?? run.output ?? run.id}
                    </SecondLine>
                  </Cell>
                  <Cell>
                    <StatusPill status={run.status} />
                  </Cell>
                  <Cell right>v{run.agent_version}</Cell>
                  <Cell right>{formatDuration(between(run.started_at, run.ended_at))}</Cell>
                  <Cell right>{formatCost(run.usage?.cost_usd)}</Cell>
                  <Cell className="whitespace-nowrap rail:text-muted">
                    <Time at={run.created_at} />
                  </Cell>
                </Row>
              ))}
            </Table>
          )}
        </div>
      </div>
      <SheetFoot>
        <TimeSwitch />
        <Link to="/runs" search={{ agent: agent.id }} className="ml-auto text-accent hover:underline">
          All runs of this agent
        </Link>
      </SheetFoot>
    </>
  );
}
