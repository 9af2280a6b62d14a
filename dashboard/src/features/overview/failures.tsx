import type { UseQueryResult } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { X } from "lucide-react";
import type { AnyRun as Run } from "../../../../server/wire/run.ts";
import type { List } from "../../../../server/wire/schema.ts";
import { useAgentName, useAgentNames } from "../../entities/agent/use-agent-name.ts";
import type { RunsSearch } from "../../entities/run/runs-search.ts";
import { Card } from "../../ui/card.tsx";
import { Pill } from "../../ui/pill.tsx";
import { Time } from "../../ui/time.tsx";
import { CardError } from "./cards.tsx";
import { adviceFor, type FailureGroup, failureGroups } from "./failure-groups.ts";
import { Nothing } from "./needs-you.tsx";

type Within = Pick<RunsSearch, "since" | "until">;

const most = 6;

/** Agents that a group names. */
const named = 3;

/** Why runs failed that began in a time, what happens most often first. */
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
      {failed && !read.error && groups.length === 0 && <Nothing>No failed runs.</Nothing>}
      <ul>
        {groups.slice(0, most).map((group) => (
          <li key={group.code} className="border-b border-line-soft last:border-0">
            <Entry group={group} time={time} more={failed?.has_more ?? false} />
          </li>
        ))}
      </ul>
    </Card>
  );
}

/** `more`: there are failures that were not read, so that the count is the least. */
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
          <b>{names.slice(0, named).join(", ")}</b>
          {names.length > named && ` and ${names.length - named} more`}
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
