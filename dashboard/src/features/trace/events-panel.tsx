import { useInfiniteQuery } from "@tanstack/react-query";
import { ChevronRight } from "lucide-react";
import { memo, useEffect, useState } from "react";
import type { RunFrame } from "../../../../server/domain/api-types/events.ts";
import { progressText } from "../../../../server/domain/progress-text.ts";
import type { RunUsage } from "../../../../server/domain/run-event.ts";
import type { StepType } from "../../../../server/domain/step-kinds.ts";
import { eventsQuery, type RunEvent } from "../../entities/run/trace-api.ts";
import { durationBetween, formatCount, formatDuration, formatUtc, joinFacts } from "../../lib/format.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { CopyButton } from "../../ui/data/copy-button.tsx";
import { JsonView } from "../../ui/data/json-view.tsx";
import { StepIcon } from "../../ui/data/step-icon.tsx";
import { ErrorNote } from "../../ui/feedback/error-note.tsx";
import { Skeleton } from "../../ui/feedback/skeleton.tsx";
import { Button } from "../../ui/forms/button.tsx";

/** The run's journal events in order, each with expandable data. `seq` is the newest one that the stream reported. */
export function EventsPanel({ runId, startedAt, seq }: { runId: string; startedAt: string; seq: number }) {
  const { data, error, isPending, hasNextPage, isFetching, fetchNextPage, refetch } = useInfiniteQuery(
    eventsQuery(useWorkspace(), runId),
  );
  const events = data?.pages.flatMap((page) => page.data) ?? [];
  const isBehind = data !== undefined && !hasNextPage && seq > (events.at(-1)?.seq ?? 0);
  useEffect(() => {
    if (isBehind && !isFetching) void refetch();
  }, [isBehind, isFetching, refetch]);
  return (
    <>
      <ErrorNote title="The events cannot be shown" error={error} onRetry={() => void refetch()} />
      {isPending && <Skeleton className="w-1/2" />}
      <ol aria-label="Events" className="-mx-4 rail:-mx-5">
        {events.map((each) => (
          <EventRow key={each.seq} event={each} startedAt={startedAt} />
        ))}
      </ol>
      {hasNextPage && (
        <Button size="sm" className="self-center" disabled={isFetching} onClick={() => void fetchNextPage()}>
          Show more events
        </Button>
      )}
    </>
  );
}

const EventRow = memo(function EventRow({ event: entry, startedAt }: { event: RunEvent; startedAt: string }) {
  const [open, setOpen] = useState(false);
  const line = eventLine(entry);
  return (
    <li className="event-row">
      <button
        type="button"
        aria-expanded={open}
        onClick={() => setOpen(!open)}
        className="group flex min-h-(--row-dense) w-full items-center gap-2 px-4 text-left hover:bg-hover aria-expanded:bg-hover focus-visible:shadow-[inset_0_0_0_2px_var(--focus-color)] rail:px-5"
      >
        <ChevronRight
          aria-hidden
          className="-ml-1 size-3.5 shrink-0 text-faint transition-transform group-aria-expanded:rotate-90"
          strokeWidth={1.5}
        />
        <span className="w-7 shrink-0 text-right text-xs text-faint tabular-nums">{entry.seq}</span>
        <StepIcon type={eventIcon(entry)} />
        <span className={entry.event === "run.failed" ? "shrink-0 font-medium text-bad" : "shrink-0 font-medium"}>
          {entry.event}
        </span>
        <span className="cut flex-1 text-xs text-muted" title={line}>
          {line}
        </span>
        <time dateTime={entry.at} title={formatUtc(entry.at)} className="shrink-0 text-xs text-muted">
          {formatDuration(durationBetween(startedAt, entry.at))}
        </time>
      </button>
      {open && <EventData entry={entry} />}
    </li>
  );
});

function EventData({ entry }: { entry: RunEvent }) {
  const { run_id: _run, seq: _seq, at: _at, ...data } = entry.data;
  return (
    <div className="mx-4 my-1 rounded-md border border-line bg-subtle">
      <div className="flex items-center justify-between gap-2 border-b border-line py-0.5 pr-1 pl-3 text-xs text-muted">
        <span className="cut">{formatUtc(entry.at)}</span>
        <CopyButton text={JSON.stringify(entry.data, null, 2)} what="data" />
      </div>
      <div className="px-3 py-2">
        <JsonView value={data} />
      </div>
    </div>
  );
}

/** Type that determines an event's colour and icon. */
type EventIcon = StepType | "run";

/** The one or two facts of an event that distinguish it from its neighbours. */
function eventLine({ event, data }: RunFrame): string {
  switch (event) {
    case "tool.requested":
      return joinFacts(data.tool, data.needs && `needs ${data.needs}`);
    case "tool.decided":
      return joinFacts(data.decision, data.needs && `needs ${data.needs}`);
    case "tool.progress":
      return joinFacts(data.level, progressText(data));
    case "tool.completed":
      return joinFacts(data.tool, data.error && "failed", formatDuration(data.latency_ms));
    case "subagent.started":
      return data.subagent_run_id;
    case "handoff.completed":
      return joinFacts(`to ${data.agent_name}`, data.reason);
    case "subagent.waiting":
      return joinFacts(...data.tool_calls.map(({ name: tool, needs }) => `${tool} needs ${needs}`));
    case "step.started":
      return joinFacts(data.type, stepName(data.step_index), data.attempt > 1 && `attempt ${data.attempt}`);
    case "step.completed":
      return joinFacts(data.type, stepName(data.step_index), formatDuration(data.latency_ms), tokensOf(data.usage));
    case "step.restarted":
      return joinFacts(stepName(data.step_index), `attempt ${data.attempt}`);
    case "guardrail.passed":
    case "guardrail.triggered":
      return joinFacts(data.guardrail.type, data.verdict);
    case "history.loaded":
      return `${data.messages} messages`;
    case "documents.attached":
      return joinFacts(...data.documents.map(({ filename }) => filename));
    case "run.steered":
      return joinFacts(data.interrupt && "interrupts", data.content);
    case "run.pause_requested":
      return data.reason ?? "";
    case "run.queued":
      return `at ${data.queue_position}`;
    case "run.recovered":
      return `attempt ${data.attempt}`;
    case "run.failed":
      return data.error.code;
    case "run.completed":
      return tokens(data.usage.total_tokens);
    default:
      return "";
  }
}

/** Events of a step look like the step; those of the run look like the run. */
function eventIcon({ event, data }: RunFrame): EventIcon {
  if (event === "tool.requested") return data.needs === "approval" ? "approval" : "tool_call";
  if (event === "step.started" || event === "step.completed") return data.type;
  if (event === "tool.decided") return "approval";
  if (event.startsWith("tool.")) return "tool_call";
  if (event.startsWith("subagent.")) return "subagent";
  if (event.startsWith("handoff.")) return "handoff";
  if (event.startsWith("guardrail.")) return "guardrail";
  if (event.startsWith("memory.")) return "retrieval";
  if (event.startsWith("context.")) return "compaction";
  if (event === "run.recovered" || event === "step.restarted") return "recovery";
  if (event === "run.requires_action") return "approval";
  return "run";
}

const stepName = (index: number): string => `step ${index}`;

const tokensOf = (usage: Pick<RunUsage, "input_tokens" | "output_tokens"> | null): string =>
  usage?.input_tokens == null || usage.output_tokens == null ? "" : tokens(usage.input_tokens + usage.output_tokens);

const tokens = (total: number | null): string => (total === null ? "" : `${formatCount(total)} tokens`);
