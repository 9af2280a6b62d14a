import { Link } from "@tanstack/react-router";
import type { AnyRun as Run } from "../../../../server/wire/run.ts";
import { useAgentName } from "../../entities/agent/use-agent-name.ts";
import { StatusPill } from "../../ui/status-pill.tsx";
import { Time } from "../../ui/time.tsx";

/** Which run said what follows. A run that completed needs no word for it. */
export function RunLine({ runId, run, at }: { runId: string; run: Run | undefined; at: string }) {
  const agent = useAgentName(run?.agent_id ?? "");
  return (
    <div className="flex min-w-0 items-center gap-2 border-b border-line-soft pb-1 text-xs text-muted">
      <Link to="/runs/$runId" params={{ runId }} className="cut rounded-sm hover:underline" title="Open the run">
        {agent ? <span className="font-medium text-ink">{agent}</span> : <code>{runId}</code>}
      </Link>
      {run && run.status !== "completed" && <StatusPill status={run.status} />}
      <span className="ml-auto shrink-0">
        <Time at={at} />
      </span>
    </div>
  );
}
