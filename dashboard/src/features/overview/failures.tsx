import type { UseQueryResult } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { X } from "lucide-react";
import type { AnyRun as Run } from "../../../../server/domain/api-types/run.ts";
import type { List } from "../../../../server/domain/api-types/schema.ts";
import { useAgentName, useAgentNames } from "../../entities/agent/use-agent-name.ts";
import type { RunsSearch } from "../../entities/run/runs-search.ts";
import { Card } from "../../ui/data/card.tsx";
import { Pill } from "../../ui/data/pill.tsx";
import { Time } from "../../ui/data/time.tsx";
import { CardError } from "./cards.tsx";
import { adviceFor, type FailureGroup, failureGroups } from "./failure-groups.ts";
import { AllClear } from "./needs-you.tsx";

type Within = Pick<RunsSearch, "since" | "until">;

const maxGroups = 6;

/** Maximum number of agents that a group names. */
const maxNamedAgents = 3;

/** The failures of a period by error code, the most frequent first. */
export function Failures({ read, time }: { read: UseQueryResult<List<Run>>; time: Within }) {
  const failed = read.data;
  const groups = failureGroups(failed?.data ?? []);
  return (
    <Card
      title="Failed runs"
      aside={
        groups.length > 0 && (
          <Link to="/runs" search={{ status: "failed", ...time }} className="font-medium text-accent hover:underline">
            All {failed?.data.length}
            {failed?.has_more && "+"}
          </Link>
        )
      }
    >
      {read.error && (
        <CardError
          what="The failures"
          isShown={groups.length > 0}
          error={read.error}
          onRetry={() => void read.refetch()}
        />
      )}
      {failed && !read.error && groups.length === 0 && <AllClear>No failed runs.</AllClear>}
      <ul>
        {groups.slice(0, maxGroups).map((group) => (
          <li key={group.code} className="border-b border-line-soft last:border-0">
            <Entry group={group} time={time} more={failed?.has_more ?? false} />
          </li>
        ))}
      </ul>
    </Card>
  );
}

/** `more`: there are failures that were not fetched, so the count is a minimum. */
function Entry({ group, time, more }: { group: FailureGroup; time: Within; more: boolean }) {
  const { code, count, agentIds, latest } = group;
  const others = useAgentNames(agentIds.filter((id) => id !== latest.agent_id));
  const names = [useAgentName(latest.agent_id), ...others];
  const agent = others.length > 0 ? undefined : latest.agent_id;
  const search = { status: "failed", ...time, agent, error: code } as const;
  const advice = adviceFor(code);
  return (
    <Link to="/runs" search={search} className="block px-4 py-2 hover:bg-hover">
      <span className="flex items-center gap-2.5">
        <Pill tone="bad" icon={X}>
          {count}
          {more && "+"}×
        </Pill>
        <span className="cut flex-1">
          <b>{names.slice(0, maxNamedAgents).join(", ")}</b>
          {names.length > maxNamedAgents && ` and ${names.length - maxNamedAgents} more`}
        </span>
        <span className="shrink-0 text-xs text-muted">
          <Time at={latest.created_at} />
        </span>
      </span>
      <span className="cut block pt-0.5 text-xs text-muted" title={latest.error?.message}>
        <code>{code}</code> {latest.error?.message !== code && latest.error?.message}
      </span>
      {advice && <span className="block text-xs text-muted">{advice}</span>}
    </Link>
  );
}
