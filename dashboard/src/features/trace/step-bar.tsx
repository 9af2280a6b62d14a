import { clsx } from "clsx";
import { formatDuration } from "../../lib/format.ts";
import type { Row } from "./rows.ts";
import { gaps, type Span } from "./spans.ts";
import type { Timeline } from "./timeline.ts";

/** When a step worked, when it waited, and what became of it: by form first, and by colour. */
export function StepBar({ row, timeline, isLater }: { row: Row; timeline: Timeline; isLater: boolean }) {
  const end = row.end ?? timeline.end;
  const within = { from: row.start, to: Math.max(end, row.start) };
  const waits = row.waits.map(({ from, to }) => ({ from, to: Math.min(to, within.to) }));
  const work = row.start === end ? [within] : gaps(within, waits);
  return (
    <span data-step={row.type} className={clsx("absolute inset-0", isLater && "later")} title={titleOf(row, timeline)}>
      {waits.map((span) => (
        <i key={span.from} className="bar bar-wait" style={placeOf(span, timeline)} />
      ))}
      {work.map((span, index) => (
        <i
          key={span.from}
          className={clsx("bar", lookOf(row), row.end === null && span.to === within.to && "bar-now")}
          style={placeOf(span, timeline)}
        >
          {index === 0 && <Head row={row} span={span} />}
        </i>
      ))}
      {row.step?.retries.map(({ attempt, at }) => (
        <i key={attempt} className="bar-retry" style={{ left: `${timeline.at(Date.parse(at)) * 100}%` }} />
      ))}
    </span>
  );
}

/** The time to the first token: the paler head of a model call. */
function Head({ row, span }: { row: Row; span: Span }) {
  const first = row.step?.time_to_first_token_ms;
  const length = span.to - span.from;
  if (row.type !== "model_call" || first == null || first <= 0 || length <= 0) return null;
  return <span className="bar-head" style={{ width: `${Math.min(1, first / length) * 100}%` }} />;
}

function lookOf(row: Row): string {
  if (row.kind === "run") return "bar-run";
  if (row.kind === "restart") return "bar-hatched";
  if (row.mark === "failed") return "bar-failed";
  if (row.mark === "unknown") return "bar-unknown";
  return row.mark === "cancelled" || row.mark === "rejected" || row.step?.replayed ? "bar-hollow" : "";
}

function placeOf({ from, to }: Span, timeline: Timeline) {
  const left = timeline.at(from);
  return { left: `${left * 100}%`, width: `${Math.max(0, timeline.at(to) - left) * 100}%` };
}

function titleOf(row: Row, timeline: Timeline): string {
  const starts = `${row.name}: starts at ${formatDuration(row.start - timeline.begin)}`;
  if (row.kind === "restart") return starts;
  const waited = row.waits.reduce((sum, { from, to }) => sum + Math.min(to, timeline.end) - from, 0);
  const took = `takes ${formatDuration((row.end ?? timeline.end) - row.start)}`;
  return [starts, took, waited > 0 ? `of which it waits ${formatDuration(waited)}` : ""].filter(Boolean).join(", ");
}
