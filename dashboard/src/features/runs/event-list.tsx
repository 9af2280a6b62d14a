import { ChevronRight } from "lucide-react";
import { memo, useState } from "react";
import type { StreamState } from "../../lib/events.ts";
import { between, formatDuration, formatUtc, plural } from "../../lib/format.ts";
import { CopyButton } from "../../ui/copy-button.tsx";
import { JsonView } from "../../ui/json-view.tsx";
import { SheetFoot } from "../../ui/sheet.tsx";
import { StepIcon } from "../../ui/step-icon.tsx";
import { TimeSwitch } from "../../ui/time-switch.tsx";
import { eventIcon, eventLine } from "./fns/event-line.ts";
import type { Entry, RunView } from "./fns/fold-run-events.ts";

const endings: Record<StreamState, string> = {
  connecting: "Connecting",
  open: "Follows the run",
  lost: "Connection lost. It goes on where it stopped as soon as the server answers.",
  waiting: "Waits until this tab is visible",
  ended: "The stream has ended",
};

/** The run's journaled events, in order, each with its data to open. */
export function EventList({ view, startedAt, stream }: { view: RunView; startedAt: string; stream: StreamState }) {
  return (
    <>
      <div className="flex h-8 shrink-0 items-center gap-2 border-b border-line bg-subtle px-4 text-2xs font-medium text-muted rail:px-5">
        <span className="w-12 text-right">Seq</span>
        <h2 className="ml-7 flex-1 text-2xs font-medium">Event</h2>
        <span>Since start</span>
      </div>
      <ol aria-label="Events" className="min-h-0 flex-1 overflow-y-auto py-1 focus-visible:shadow-none">
        {view.entries.map((entry) => (
          <EventRow key={entry.seq} entry={entry} startedAt={startedAt} />
        ))}
      </ol>
      <SheetFoot>
        <TimeSwitch />
        <span className="ml-auto">
          {plural(view.entries.length, "event")} · {endings[stream]}
        </span>
      </SheetFoot>
    </>
  );
}

const EventRow = memo(function EventRow({ entry, startedAt }: { entry: Entry; startedAt: string }) {
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

function EventData({ entry }: { entry: Entry }) {
  const { run_id: _run, seq: _seq, at: _at, ...data } = entry.data;
  return (
    <div className="mx-4 my-1 rounded-md border border-line bg-subtle rail:mr-5 rail:ml-19">
      <div className="flex items-center justify-between gap-2 border-b border-line py-0.5 pr-1 pl-3 text-xs text-muted">
        <span className="cut">{formatUtc(entry.at)}</span>
        <CopyButton text={JSON.stringify(entry.data, null, 2)} what="data" />
      </div>
      <div className="max-h-105 overflow-auto px-3 py-2">
        <JsonView value={data} />
      </div>
    </div>
  );
}
