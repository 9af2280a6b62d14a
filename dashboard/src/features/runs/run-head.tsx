import { Link } from "@tanstack/react-router";
import { ChevronRight } from "lucide-react";
import type { ReactNode } from "react";
import type { StreamState } from "../../lib/events.ts";
import { formatCost, formatCount } from "../../lib/format.ts";
import { isOver, type Run } from "../../lib/types.ts";
import { CopyButton } from "../../ui/copy-button.tsx";
import { ErrorNote } from "../../ui/error-note.tsx";
import { ModePill } from "../../ui/mode-pill.tsx";
import { SheetHead } from "../../ui/sheet.tsx";
import { StatusPill } from "../../ui/status-pill.tsx";
import { LiveDot, LostBadge } from "../../ui/stream-badge.tsx";
import { Time } from "../../ui/time.tsx";
import { CancelRun } from "./cancel-run.tsx";
import { RunDuration } from "./run-duration.tsx";

/** Which run this is, how it stands, and its facts. */
export function RunHead({
  run,
  agent,
  stream,
  stale,
}: {
  run: Run;
  agent: string;
  stream: StreamState;
  stale: Error | null;
}) {
  const over = isOver(run.status);
  return (
    <>
      <SheetHead>
        <nav aria-label="Breadcrumb" className="flex items-center gap-2 text-muted">
          <Link to="/runs" className="hover:underline">
            Runs
          </Link>
          <ChevronRight aria-hidden className="size-4" strokeWidth={1.5} />
        </nav>
        <h1 className="cut text-lg max-rail:grow max-rail:basis-3/5" title={agent}>
          {agent}
        </h1>
        <span className="inline-flex h-4.5 items-center rounded-sm border border-line px-1.5 text-2xs text-muted">
          v{run.agent_version}
        </span>
        <StatusPill status={run.status} />
        <ModePill />
        {!over && stream === "open" && (
          <span className="inline-flex items-center text-xs text-muted">
            <LiveDot />
            Live
          </span>
        )}
        <LostBadge stream={over ? "ended" : stream} />
        <span className="ml-auto">{!over && <CancelRun run={run} />}</span>
        <dl className="flex w-full min-w-0 flex-wrap items-center gap-x-5 gap-y-0.5 text-xs">
          <Fact name="Run">
            <code className="cut">{run.id}</code>
            <CopyButton text={run.id} what="run id" />
          </Fact>
          <Fact name={run.started_at ? "Started" : "Created"}>
            <Time at={run.started_at ?? run.created_at} />
          </Fact>
          <Fact name="Duration">
            <RunDuration run={run} />
          </Fact>
          <Fact name="Tokens">{formatCount(run.usage?.total_tokens)}</Fact>
          <Fact name="Cost">{formatCost(run.usage?.cost_usd)}</Fact>
          <Fact name="Model">
            <span className="cut" title={run.model}>
              {run.model}
            </span>
          </Fact>
          {run.parent_run_id && (
            <Fact name="Started by">
              <Link to="/runs/$runId" params={{ runId: run.parent_run_id }} className="cut hover:underline">
                <code>{run.parent_run_id}</code>
              </Link>
            </Fact>
          )}
          {run.attempt > 1 && <Fact name="Attempt">{run.attempt}</Fact>}
          {run.user_id && <Fact name="User">{run.user_id}</Fact>}
          {run.thread_id && <Fact name="Thread">{run.thread_id}</Fact>}
        </dl>
      </SheetHead>
      {stale && (
        <div className="px-4 pt-3 rail:px-5">
          <ErrorNote title="The facts above are not up to date" error={stale} />
        </div>
      )}
    </>
  );
}

function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div className="flex min-h-6 max-w-full min-w-0 items-center gap-1.5">
      <dt className="text-muted">{name}</dt>
      <dd className="flex min-w-0 items-center gap-0.5 tabular-nums">{children}</dd>
    </div>
  );
}
