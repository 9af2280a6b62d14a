import { Link } from "@tanstack/react-router";
import { ChevronRight } from "lucide-react";
import { type ReactNode, useRef } from "react";
import { countedUsage } from "../../../../server/core/counted-usage.ts";
import { isOver } from "../../../../server/core/run-state.ts";
import type { AnyRun as Run } from "../../../../server/wire/run.ts";
import { AgentLink } from "../../entities/agent/agent-link.tsx";
import { formatFigure, useTiming } from "../../entities/run/use-timing.ts";
import { useMay } from "../../entities/session/use-may.ts";
import type { StreamState } from "../../lib/events.ts";
import { formatCost, formatCount } from "../../lib/format.ts";
import { CopyButton } from "../../ui/copy-button.tsx";
import { ErrorNote } from "../../ui/error-note.tsx";
import { Fact, Facts } from "../../ui/facts.tsx";
import { ModePill } from "../../ui/mode-pill.tsx";
import { SheetHead } from "../../ui/sheet.tsx";
import { StatusPill } from "../../ui/status-pill.tsx";
import { LiveDot, LostBadge } from "../../ui/stream-badge.tsx";
import { Time } from "../../ui/time.tsx";
import { ViewOnly } from "../../ui/view-only.tsx";
import { CancelRun } from "./run-acts.tsx";

/** Which run this is, how it stands, its facts, and what can be done with it. */
export function TraceHead({
  run,
  agent,
  stream,
  stale,
  menu,
}: {
  run: Run;
  agent: string;
  stream: StreamState;
  stale: Error | null;
  menu: ReactNode;
}) {
  const over = isOver(run.status);
  const may = useMay("member");
  const acts = useRef<HTMLSpanElement>(null);
  return (
    <>
      <SheetHead>
        <nav aria-label="Breadcrumb" className="flex items-center gap-2 text-muted max-rail:gap-1">
          <Link to="/runs" className="hover:underline">
            Runs
          </Link>
          <ChevronRight aria-hidden className="size-4" strokeWidth={1.5} />
        </nav>
        <h1 className="cut text-lg max-rail:grow max-rail:basis-1/4" title={agent}>
          <AgentLink id={run.agent_id} className="cut block hover:underline" />
        </h1>
        <span className="inline-flex h-4.5 items-center rounded-sm max-rail:hidden border border-line px-1.5 text-2xs text-muted">
          v{run.agent_version}
        </span>
        <StatusPill status={run.status} />
        <span className="inline-flex max-rail:hidden">
          <ModePill />
        </span>
        {!over && stream === "open" && (
          <span className="inline-flex items-center text-xs text-muted">
            <LiveDot />
            Auto-refresh
          </span>
        )}
        <LostBadge stream={over ? "ended" : stream} />
        <span ref={acts} className="ml-auto flex items-center gap-2">
          {!may && <ViewOnly />}
          {may && <CancelRun run={run} beside={() => [...(acts.current?.querySelectorAll("button") ?? [])].at(-1)} />}
          {menu}
        </span>
        <RunFacts run={run} />
      </SheetHead>
      {stale && (
        <div className="px-4 py-2 rail:px-5">
          <ErrorNote title="This page is not up to date" error={stale} />
        </div>
      )}
    </>
  );
}

function RunFacts({ run }: { run: Run }) {
  const { thread_id, parent_run_id, forked_from, replay_of, metadata } = run;
  const timing = useTiming(run);
  const usage = countedUsage(run);
  return (
    <Facts>
      <Fact name="Run">
        <code className="cut max-w-40" title={run.id}>
          {run.id}
        </code>
        <CopyButton text={run.id} what="run id" />
      </Fact>
      <Fact name={run.started_at ? "Started" : "Created"}>
        <Time at={run.started_at ?? run.created_at} />
      </Fact>
      {timing && <Fact name="Worked">{formatFigure("worked_ms", timing, run.status)}</Fact>}
      {timing && timing.waited_ms > 0 && <Fact name="Waited">{formatFigure("waited_ms", timing, run.status)}</Fact>}
      {timing?.recorded_ms ? <Fact name="Recorded">{formatFigure("recorded_ms", timing, run.status)}</Fact> : null}
      <Fact name="Tokens">{formatCount(usage?.total_tokens)}</Fact>
      <Fact name="Cost">
        {usage?.estimated && usage.cost_usd !== null && "about "}
        {formatCost(usage?.cost_usd)}
      </Fact>
      <Fact name="Model">
        <span className="cut" title={run.model}>
          {run.model}
        </span>
      </Fact>
      {run.attempt > 1 && <Fact name="Attempt">{run.attempt}</Fact>}
      {run.origin === "import" && <Fact name="Imported">from another trace</Fact>}
      {parent_run_id && <RunFact name="Started by" id={parent_run_id} />}
      {metadata?.schedule_id && <ScheduleFact id={metadata.schedule_id} />}
      {forked_from && (
        <RunFact name={`Fork at step ${forked_from.step_index} of`} id={forked_from.run_id}>
          <Link
            to="/runs/$runId/diff/$otherId"
            params={{ runId: forked_from.run_id, otherId: run.id }}
            className="ml-2 whitespace-nowrap text-accent underline underline-offset-2"
          >
            Compare with it
          </Link>
        </RunFact>
      )}
      {replay_of && <RunFact name="Replay of" id={replay_of} />}
      {run.user_id && (
        <Fact name="User">
          <Link to="/runs" search={{ user: run.user_id }} className={link} title={`Runs of ${run.user_id}`}>
            {run.user_id}
          </Link>
        </Fact>
      )}
      {thread_id && (
        <Fact name="Thread">
          <Link
            to="/threads/$threadId"
            params={{ threadId: thread_id }}
            className={`${link} max-w-30`}
            title={thread_id}
          >
            <code>{thread_id}</code>
          </Link>
          <CopyButton text={thread_id} what="thread id" />
        </Fact>
      )}
      {Object.entries(metadata ?? {})
        .filter(([name]) => name !== "schedule_id")
        .map(([name, value]) => (
          <Fact key={name} name={name}>
            <Link
              to="/runs"
              search={{ metadata: [`${name}=${value}`] }}
              className={`${link} max-w-40`}
              title={`Runs with ${name}: ${value}`}
            >
              {value}
            </Link>
          </Fact>
        ))}
    </Facts>
  );
}

function ScheduleFact({ id }: { id: string }) {
  return (
    <Fact name="Started by">
      <Link to="/schedules/$scheduleId" params={{ scheduleId: id }} className="text-accent hover:underline" title={id}>
        its schedule
      </Link>
    </Fact>
  );
}

const link = "cut text-accent hover:underline";

function RunFact({ name, id, children }: { name: string; id: string; children?: ReactNode }) {
  return (
    <Fact name={name}>
      <Link to="/runs/$runId" params={{ runId: id }} className={`${link} max-w-24`} title={id}>
        <code>{id}</code>
      </Link>
      {children}
    </Fact>
  );
}
