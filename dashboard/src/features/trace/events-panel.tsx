import { useInfiniteQuery } from "@tanstack/react-query";
import { ChevronRight } from "lucide-react";
import { memo, useEffect, useState } from "react";
import { eventsQuery, type RunEvent } from "../../entities/run/trace-api.ts";
import { between, formatDuration, formatUtc } from "../../lib/format.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { Button } from "../../ui/button.tsx";
import { CopyButton } from "../../ui/copy-button.tsx";
import { ErrorNote } from "../../ui/error-note.tsx";
import { JsonView } from "../../ui/json-view.tsx";
import { Skeleton } from "../../ui/skeleton.tsx";
import { StepIcon } from "../../ui/step-icon.tsx";
import { eventIcon, eventLine } from "./event-line.ts";

/** The run's journaled events, in order, each with its data to open. `seq`: the newest that the stream told of. */
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
      {error && <ErrorNote title="The events cannot be shown" error={error} onRetry={() => void refetch()} />}
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
          {formatDuration(between(startedAt, entry.at))}
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
