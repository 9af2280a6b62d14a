import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { ListTree } from "lucide-react";
import type { AnyRun as Run } from "../../../../server/domain/api-types/run.ts";
import { countedUsage } from "../../../../server/domain/counted-usage.ts";
import { lastText } from "../../../../server/domain/run-input.ts";
import type { Agent } from "../../../../server/resources/agents/schema.ts";
import { agentRunsQuery } from "../../entities/run/run-api.ts";
import { RunTime } from "../../entities/run/run-time.tsx";
import { formatCost } from "../../lib/format.ts";
import { markdownToText } from "../../lib/markdown-to-text.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { LiveListBody } from "../../ui/data/list-body.tsx";
import { StatusPill } from "../../ui/data/status-pill.tsx";
import { Cell, Row, rowLink, SecondLine } from "../../ui/data/table.tsx";
import { Time } from "../../ui/data/time.tsx";
import { SheetFoot } from "../../ui/dialogs/sheet.tsx";
import { EmptyState } from "../../ui/feedback/empty-state.tsx";
import { buttonClass } from "../../ui/forms/button.tsx";
import { TimeSwitch } from "../../ui/forms/time-switch.tsx";

const columns = [
  { label: "Input and result" },
  { label: "Status" },
  { label: "Version", right: true },
  { label: "Duration", right: true },
  { label: "Cost", right: true },
  { label: "Created" },
];

/** The newest runs of an agent, with a link to all of them. */
export function AgentRuns({ agent: { id } }: { agent: Pick<Agent, "id"> }) {
  const list = useQuery({ ...agentRunsQuery(useWorkspace(), id), refetchInterval: 5000 });
  return (
    <>
      <LiveListBody
        label="Runs of this agent"
        list={list}
        columns={columns}
        place={id}
        row={(run) => <RunRow key={run.id} run={run} />}
        none={
          <EmptyState icon={ListTree} title="No runs of this agent yet">
            <p className="max-w-[46ch] text-muted">Try it. Each run appears here with its trace.</p>
            <Link to="/playground" search={{ agent: id }} className={buttonClass()}>
              Open in playground
            </Link>
          </EmptyState>
        }
      />
      <SheetFoot>
        <TimeSwitch />
        <Link to="/runs" search={{ agent: id }} className="ml-auto text-accent hover:underline">
          All runs of this agent
        </Link>
      </SheetFoot>
    </>
  );
}

function RunRow({ run }: { run: Run }) {
  const input = lastText(run.input);
  return (
    <Row>
      <Cell main>
        <Link to="/runs/$runId" params={{ runId: run.id }} data-row title={input} className={rowLink}>
          {markdownToText(input) || "No input"}
        </Link>
        <SecondLine tone={run.error ? "text-bad" : "text-muted"}>
          {run.error?.message ?? (markdownToText(run.output ?? "") || run.id)}
        </SecondLine>
      </Cell>
      <Cell>
        <StatusPill status={run.status} />
      </Cell>
      <Cell right>
        v{run.agent_version}
        {run.agent_label && (
          <SecondLine title={`By the label ${run.agent_label}`}>
            <span className="cut inline-block max-w-24 align-bottom">{run.agent_label}</span>
          </SecondLine>
        )}
      </Cell>
      <Cell right>
        <RunTime run={run} />
      </Cell>
      <Cell right>{formatCost(countedUsage(run)?.cost_usd, countedUsage(run)?.cost_estimated)}</Cell>
      <Cell className="whitespace-nowrap rail:text-muted">
        <Time at={run.created_at} />
      </Cell>
    </Row>
  );
}
