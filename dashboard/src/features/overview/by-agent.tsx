import { Link } from "@tanstack/react-router";
import { useAgentName } from "../../entities/agent/use-agent-name.ts";
import type { AgentUsage } from "../../entities/usage/usage-api.ts";
import { formatCount, formatDuration } from "../../lib/format.ts";
import { formatCompact, formatDollars, formatKnown, share } from "../../lib/numbers.ts";
import { Card } from "../../ui/data/card.tsx";
import { NumberTable } from "../../ui/data/number-table.tsx";
import { endedRuns } from "./usage-days.ts";

const maxAgents = 20;
const columns = ["Agent", "Runs", "Failed", "Median", "95th percentile", "Tokens", "Cost"];

/** The usage of each agent in the period, the most expensive first. */
export function ByAgent({ agents }: { agents: readonly AgentUsage[] }) {
  const rows = agents.slice(0, maxAgents).map((agent) => ({
    key: agent.agent_id,
    cells: [
      <AgentLink key="name" id={agent.agent_id} />,
      formatCount(endedRuns(agent)),
      share(agent.runs.failed, endedRuns(agent)) || "–",
      formatDuration(agent.worked_ms.p50),
      formatDuration(agent.worked_ms.p95),
      formatKnown(agent.total_tokens, agent.unknown_token_calls, formatCompact),
      formatKnown(agent.cost_usd, agent.unknown_cost_calls, formatDollars),
    ],
  }));
  return (
    <Card
      title="By agent"
      aside={agents.length > maxAgents && `The most expensive ${maxAgents}`}
      className="col-span-full!"
    >
      <NumberTable label="By agent" columns={columns} rows={rows} />
    </Card>
  );
}

function AgentLink({ id }: { id: string }) {
  const name = useAgentName(id);
  if (id === "") return <span title="Embeddings and reranking outside of runs">Memory</span>;
  return (
    <Link
      to="/agents/$agentId"
      params={{ agentId: id }}
      title={name}
      className="cut block hover:underline hover:underline-offset-2"
    >
      {name}
    </Link>
  );
}
