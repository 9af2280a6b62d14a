import { Link } from "@tanstack/react-router";
import { ChevronRight, Pause } from "lucide-react";
import { type ReactNode, useRef } from "react";
import type { AnyRun as Run } from "../../../../server/domain/api-types/run.ts";
import { countedUsage } from "../../../../server/domain/counted-usage.ts";
import { isOver } from "../../../../server/domain/run-state.ts";
import { AgentLink } from "../../entities/agent/agent-link.tsx";
import { formatFigure, useTiming } from "../../entities/run/use-timing.ts";
import { usePermission } from "../../entities/session/use-may.ts";
import type { StreamState } from "../../lib/events.ts";
import { formatCost, formatCount } from "../../lib/format.ts";
import { CopyButton } from "../../ui/data/copy-button.tsx";
import { Description, DescriptionList } from "../../ui/data/description-list.tsx";
import { ModePill } from "../../ui/data/mode-pill.tsx";
import { Pill } from "../../ui/data/pill.tsx";
import { StatusPill } from "../../ui/data/status-pill.tsx";
import { LiveDot, LostBadge } from "../../ui/data/stream-badge.tsx";
import { Time } from "../../ui/data/time.tsx";
import { ViewOnly } from "../../ui/data/view-only.tsx";
import { SheetHead } from "../../ui/dialogs/sheet.tsx";
import { ErrorNote } from "../../ui/feedback/error-note.tsx";
import { PauseRun } from "./pause-run.tsx";
import { CancelRun } from "./run-acts.tsx";
import { SteerRun } from "./steer-run.tsx";

/** Head of a run's page: name, status, facts and actions. */
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
  const may = usePermission("member");
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
        {!over && run.status !== "paused" && run.pause_requested_at != null && (
          <Pill tone="plain" icon={Pause}>
            Pauses soon
          </Pill>
        )}
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
        <span ref={acts} className="ml-auto flex min-w-0 flex-wrap items-center justify-end gap-2">
          {!may && <ViewOnly />}
          {may && <SteerRun run={run} />}
          {may && <PauseRun run={run} />}
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
  const { thread_id, parent_run_id, forked_from, replay_of, metadata, last_agent_id } = run;
  const timing = useTiming(run);
  const usage = countedUsage(run);
  const models = (run.models ?? [run.model]).join(", then ");
  return (
    <DescriptionList>
      <Description name="Run">
        <code className="cut max-w-40" title={run.id}>
          {run.id}
        </code>
        <CopyButton text={run.id} what="run id" />
      </Description>
      <Description name={run.started_at ? "Started" : "Created"}>
        <Time at={run.started_at ?? run.created_at} />
      </Description>
      {timing && <Description name="Worked">{formatFigure("worked_ms", timing, run.status)}</Description>}
      {timing && timing.waited_ms > 0 && (
        <Description name="Waited">{formatFigure("waited_ms", timing, run.status)}</Description>
      )}
      {timing?.recorded_ms ? (
        <Description name="Recorded">{formatFigure("recorded_ms", timing, run.status)}</Description>
      ) : null}
      <Description name="Tokens">{formatCount(usage?.total_tokens)}</Description>
      <Description name="Cost">
        {usage?.estimated && usage.cost_usd !== null && "about "}
        {formatCost(usage?.cost_usd, usage?.cost_estimated)}
      </Description>
      <Description name={run.models ? "Models" : "Model"}>
        <span className="cut" title={models}>
          {models}
        </span>
      </Description>
      {run.agent_label && (
        <Description name="Label">
          <Link
            to="/agents/$agentId"
            params={{ agentId: run.agent_id }}
            search={{ tab: "releases", label: run.agent_label }}
            className={`${link} max-w-40`}
            title={run.agent_label}
          >
            {run.agent_label}
          </Link>
        </Description>
      )}
      {run.attempt > 1 && <Description name="Attempt">{run.attempt}</Description>}
      {run.origin === "import" && <Description name="Imported">from another trace</Description>}
      {parent_run_id && <RunFact name="Started by" id={parent_run_id} />}
      {last_agent_id && last_agent_id !== run.agent_id && (
        <Description name={isOver(run.status) ? "Answered by" : "Answers now"}>
          <AgentLink id={last_agent_id} className={`${link} max-w-60`} />
        </Description>
      )}
      {metadata?.schedule_id && <ScheduleFact id={metadata.schedule_id} />}
      {metadata?.trigger_id && <TriggerFact id={metadata.trigger_id} />}
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
        <Description name="User">
          <Link to="/runs" search={{ user: run.user_id }} className={link} title={`Runs of ${run.user_id}`}>
            {run.user_id}
          </Link>
        </Description>
      )}
      {thread_id && (
        <Description name="Thread">
          <Link
            to="/threads/$threadId"
            params={{ threadId: thread_id }}
            className={`${link} max-w-30`}
            title={thread_id}
          >
            <code>{thread_id}</code>
          </Link>
          <CopyButton text={thread_id} what="thread id" />
        </Description>
      )}
      {Object.entries(metadata ?? {})
        .filter(([name]) => name !== "schedule_id" && name !== "trigger_id")
        .map(([name, value]) => (
          <Description key={name} name={name}>
            <Link
              to="/runs"
              search={{ metadata: [`${name}=${value}`] }}
              className={`${link} max-w-40`}
              title={`Runs with ${name}: ${value}`}
            >
              {value}
            </Link>
          </Description>
        ))}
    </DescriptionList>
  );
}

function ScheduleFact({ id }: { id: string }) {
  return (
    <Description name="Started by">
      <Link to="/schedules/$scheduleId" params={{ scheduleId: id }} className="text-accent hover:underline" title={id}>
        its schedule
      </Link>
    </Description>
  );
}

function TriggerFact({ id }: { id: string }) {
  return (
    <Description name="Started by">
      <Link to="/triggers/$triggerId" params={{ triggerId: id }} className="text-accent hover:underline" title={id}>
        its trigger
      </Link>
    </Description>
  );
}

const link = "cut text-accent hover:underline";

function RunFact({ name, id, children }: { name: string; id: string; children?: ReactNode }) {
  return (
    <Description name={name}>
      <Link to="/runs/$runId" params={{ runId: id }} className={`${link} max-w-24`} title={id}>
        <code>{id}</code>
      </Link>
      {children}
    </Description>
  );
}
