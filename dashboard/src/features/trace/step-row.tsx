import { clsx } from "clsx";
import { ChevronRight, TriangleAlert } from "lucide-react";
import { memo } from "react";
import { formatDuration, formatElapsed } from "../../lib/format.ts";
import { StepIcon } from "../../ui/data/step-icon.tsx";
import { LiveDot } from "../../ui/data/stream-badge.tsx";
import { MarkPill } from "./mark-pill.tsx";
import { useReplay } from "./replay-context.ts";
import type { Row, ShownRow } from "./row.ts";
import { rowMarkWord } from "./rows.ts";
import { typeWord } from "./step-words.ts";
import { gaps, type Span, type Timeline } from "./timeline.ts";

interface StepRowProps {
  row: ShownRow;
  timeline: Timeline;
  /** Working time of the run; null for other rows. */
  worked_ms: number | null;
  height: number;
  top: number;
  selected: boolean;
  /** True for the tree's one tab stop. */
  isStop: boolean;
  onEnter: (key: string) => void;
  onToggle: (row: Row, open: boolean) => void;
}

/** A row: step, duration and time bar. */
export const StepRow = memo(function StepRow(props: StepRowProps) {
  const { row, timeline, worked_ms, height, top, selected, isStop, onEnter, onToggle } = props;
  const replay = useReplay();
  const isLater = replay !== null && row.start > replay;
  const took = tookOf(row, timeline, worked_ms);
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the tree handles the keys of all rows.
    <div
      role="treeitem"
      aria-level={row.level}
      aria-expanded={row.opens ? row.open : undefined}
      aria-selected={selected}
      aria-setsize={row.siblings}
      aria-posinset={row.position}
      tabIndex={isStop ? 0 : -1}
      data-key={row.key}
      onClick={() => onEnter(row.key)}
      className={clsx(
        "absolute inset-x-0 flex flex-wrap items-center hover:bg-hover focus-visible:shadow-[inset_0_0_0_2px_var(--focus-color)] max-rail:content-center max-rail:gap-y-1 rail:flex-nowrap",
        "aria-selected:bg-accent-soft aria-selected:shadow-[inset_2px_0_0_var(--accent)] aria-selected:focus-visible:shadow-[inset_0_0_0_2px_var(--focus-color)]",
      )}
      style={{ height, top }}
    >
      <span
        className={clsx(
          "flex min-w-0 flex-1 items-center gap-1.5 pr-1 pl-1 rail:w-(--trace-name) rail:flex-none",
          isLater && "later",
        )}
      >
        <span aria-hidden className="shrink-0" style={{ width: `calc(var(--space-4) * ${row.level - 1})` }} />
        <Twist row={row} onToggle={onToggle} />
        <StepIcon type={row.type} />
        <span
          className={clsx(
            "cut",
            row.kind === "run" ? "font-medium" : "text-ink",
            row.sub && !isPilled(row) && "full:max-w-3/5 full:shrink-0",
          )}
          title={row.name}
        >
          <span className="sr-only">{typeWord(row.type)} </span>
          {row.name}
        </span>
        <RowMark row={row} />
        {row.sub && !isPilled(row) && (
          <span className="cut flex-1 text-xs text-faint max-full:hidden" title={row.sub}>
            {row.sub}
          </span>
        )}
      </span>
      <span
        className={clsx(
          "w-(--trace-time) shrink-0 text-right text-xs whitespace-nowrap text-muted tabular-nums max-rail:pr-4",
          isLater && "later",
        )}
      >
        {took}
      </span>
      <span className="relative mx-4 h-2 min-w-0 flex-1 overflow-x-clip max-rail:mr-4 max-rail:ml-12 max-rail:flex-[1_0_70%] rail:h-full">
        <StepBar row={row} timeline={timeline} isLater={isLater} />
      </span>
    </div>
  );
});

function Twist({ row, onToggle }: Pick<StepRowProps, "row" | "onToggle">) {
  if (!row.opens || row.kind === "run") return <span aria-hidden className="w-3.5 shrink-0" />;
  return (
    <span
      aria-hidden
      data-twist
      className="grid h-5 w-3.5 shrink-0 cursor-pointer place-items-center text-faint hover:text-ink"
      onClick={(event) => {
        event.stopPropagation();
        onToggle(row, !row.open);
      }}
    >
      <ChevronRight className={clsx("size-3.5 transition-transform", row.open && "rotate-90")} strokeWidth={1.5} />
    </span>
  );
}

const isPilled = ({ kind, mark }: Row): boolean =>
  kind === "step" && mark !== null && mark !== "running" && mark !== "flagged";

const shortWord = (row: Row): string => (row.mark === "unknown" ? "Unknown" : rowMarkWord(row));

/** Mark of a row; success has none. */
function RowMark({ row }: { row: Row }) {
  if (row.mark === null) return null;
  const word = <span className="sr-only">{rowMarkWord(row)}</span>;
  if (row.kind === "run") return word;
  if (row.mark === "running")
    return (
      <>
        <LiveDot />
        {word}
      </>
    );
  if (row.mark === "flagged")
    return (
      <>
        <TriangleAlert aria-hidden className="size-3.5 shrink-0 text-warn" strokeWidth={1.75} />
        {word}
      </>
    );
  return <MarkPill mark={row.mark} word={<span className="max-full:sr-only">{shortWord(row)}</span>} />;
}

/** Duration of a step; of the run, without waiting; of a running row, in whole seconds. */
function tookOf(row: Row, timeline: Timeline, worked_ms: number | null): string {
  if (row.kind === "restart") return "";
  if (worked_ms !== null) return row.mark === "running" ? shortElapsed(worked_ms) : formatDuration(worked_ms);
  if (row.end === null) return shortElapsed(timeline.end - (row.waits.at(-1)?.from ?? row.start));
  return formatDuration(row.step?.latency_ms ?? row.end - row.start);
}

/** The column fits one unit: `26 min`. */
const shortElapsed = (ms: number): string => formatElapsed(ms).split(" ").slice(0, 2).join(" ");

/** Bar of a step with its waits. Its outcome has a shape as well as a colour. */
function StepBar({ row, timeline, isLater }: { row: Row; timeline: Timeline; isLater: boolean }) {
  const end = row.end ?? timeline.end;
  const within = { from: row.start, to: Math.max(end, row.start) };
  const waits = row.waits.map(({ from, to }) => ({ from, to: Math.min(to, within.to) }));
  const work = row.start === end ? [within] : gaps(within, waits);
  return (
    <span data-step={row.type} className={clsx("absolute inset-0", isLater && "later")} title={titleOf(row, timeline)}>
      {waits.map((span) => (
        <i key={span.from} className="bar bar-wait" style={placeOf(span, timeline)} />
      ))}
      {work.map((span) => (
        <i
          key={span.from}
          className={clsx("bar", lookOf(row), row.end === null && span.to === within.to && "bar-now")}
          style={placeOf(span, timeline)}
        >
          <Head row={row} span={span} />
        </i>
      ))}
      {row.step?.retries.map(({ attempt, at }) => (
        <i key={attempt} className="bar-retry" style={{ left: `${timeline.at(Date.parse(at)) * 100}%` }} />
      ))}
    </span>
  );
}

/** Time until the first token of the last attempt: the paler start of a model call. */
function Head({ row: { type, step, start }, span }: { row: Row; span: Span }) {
  const first = step?.time_to_first_token_ms;
  const length = span.to - span.from;
  if (type !== "model_call" || !step || first == null || first <= 0 || length <= 0) return null;
  const last = step.retries.at(-1);
  const begun = last ? Date.parse(last.at) + last.delay_ms : start;
  const share = (begun + first - span.from) / length;
  return share > 0 ? <span className="bar-head" style={{ width: `${Math.min(1, share) * 100}%` }} /> : null;
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
