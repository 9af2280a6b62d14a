import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { ListTree } from "lucide-react";
import type { Agent } from "../../../../server/agents/schema.ts";
import { countedUsage } from "../../../../server/core/counted-usage.ts";
import { lastText } from "../../../../server/core/run-input.ts";
import type { AnyRun as Run } from "../../../../server/wire/run.ts";
import { agentRunsQuery } from "../../entities/run/run-api.ts";
import { RunTime } from "../../entities/run/run-time.tsx";
import { formatCost } from "../../lib/format.ts";
import { plainLine } from "../../lib/plain-line.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { buttonClass } from "../../ui/button.tsx";
import { EmptyState } from "../../ui/empty-state.tsx";
import { LiveListBody } from "../../ui/list-body.tsx";
import { SheetFoot } from "../../ui/sheet.tsx";
import { StatusPill } from "../../ui/status-pill.tsx";
import { Cell, Row, rowLink, SecondLine } from "../../ui/table.tsx";
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
export function AgentRuns({ agent: { id } }: { agent: Pick<Agent, "id"> }) {
  const list = useQuery({ ...agentRunsQuery(useWorkspace(), id), refetchInterval: 5000 });
  return (
    <>
      <LiveListBody
        label="Runs of this agent"
        {...{ list, columns }}
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
          {plainLine(input) || "No input"}
        </Link>
        <SecondLine tone={run.error ? "text-bad" : "text-muted"}>
          {run.error?.message ?? (plainLine(run.output ?? "") || run.id)}
        </SecondLine>
      </Cell>
      <Cell>
        <StatusPill status={run.status} />
      </Cell>
      <Cell right>v{run.agent_version}</Cell>
      <Cell right>
        <RunTime run={run} />
      </Cell>
      <Cell right>{formatCost(countedUsage(run)?.cost_usd)}</Cell>
      <Cell className="whitespace-nowrap rail:text-muted">
        <Time at={run.created_at} />
      </Cell>
    </Row>
  );
}
