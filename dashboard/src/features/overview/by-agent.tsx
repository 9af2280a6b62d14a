import { Link } from "@tanstack/react-router";
import { useAgentName } from "../../entities/agent/use-agent-name.ts";
import type { AgentUsage } from "../../entities/usage/usage-api.ts";
import { formatCount, formatDuration } from "../../lib/format.ts";
import { formatCompact, formatDollars, formatKnown, share } from "../../lib/numbers.ts";
import { Card } from "../../ui/card.tsx";
import { NumberTable } from "../../ui/number-table.tsx";
import { endedOf } from "./usage-days.ts";

const most = 20;
const columns = ["Agent", "Runs", "Failed", "Median", "95th percentile", "Tokens", "Cost"];

/** What each agent did in the period, the dearest first. */
export function ByAgent({ agents }: { agents: readonly AgentUsage[] }) {
  const rows = agents.slice(0, most).map((agent) => ({
    key: agent.agent_id,
    cells: [
      <AgentLink key="name" id={agent.agent_id} />,
      formatCount(endedOf(agent)),
      share(agent.runs.failed, endedOf(agent)) || "–",
      formatDuration(agent.worked_ms.p50),
      formatDuration(agent.worked_ms.p95),
      formatKnown(agent.total_tokens, agent.unknown_token_calls, formatCompact),
      formatKnown(agent.cost_usd, agent.unknown_cost_calls, formatDollars),
    ],
  }));
  return (
    <Card title="By agent" aside={agents.length > most && `The most expensive ${most}`} className="col-span-full!">
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
