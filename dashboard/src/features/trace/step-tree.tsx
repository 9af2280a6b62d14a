import { defaultRangeExtractor, useVirtualizer } from "@tanstack/react-virtual";
import { clsx } from "clsx";
import {
  type KeyboardEvent,
  type PointerEvent,
  type RefObject,
  useEffect,
  useMemo,
  useRef,
  useSyncExternalStore,
} from "react";
import { useReplay } from "./replay-context.ts";
import type { Row, ShownRow } from "./row.ts";
import { StepRow } from "./step-row.tsx";
import type { Timeline } from "./timeline.ts";
import { treeKey } from "./tree-key.ts";
import { useWheel, type Zoom } from "./use-zoom.ts";

interface StepTreeProps {
  rows: readonly ShownRow[];
  timeline: Timeline;
  /** Working time of the run; null if unknown. */
  worked_ms: number | null;
  selected: string;
  onSelect: (key: string) => void;
  /** On a phone, opens the details pane. */
  onEnter: (key: string) => void;
  onToggle: (row: Row, open: boolean) => void;
  zoom: Zoom;
}

/** Height of the sticky axis. */
const axisHeight = 28;

/** Tree and waterfall in one virtualized list. */
export function StepTree(props: StepTreeProps) {
  const { rows, worked_ms, selected, onSelect, onEnter, onToggle, zoom } = props;
  const timeline = useMemo(() => props.timeline.zoom(zoom.view), [props.timeline, zoom.view]);
  const scroller = useRef<HTMLDivElement>(null);
  const lane = useRef<HTMLSpanElement>(null);
  useWheel(scroller, lane, zoom);
  const height = useRowHeight();
  const index = rows.findIndex(({ key }) => key === selected);
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => height,
    overscan: 12,
    scrollPaddingStart: axisHeight,
    getItemKey: (at) => rows[at]!.key,
    // The selected row is the tree's tab stop, so it is rendered even when scrolled out of sight.
    rangeExtractor: (range) => {
      const inSight = defaultRangeExtractor(range);
      return index === -1 || inSight.includes(index) ? inSight : [...inSight, index].sort((a, b) => a - b);
    },
  });
  // biome-ignore lint/correctness/useExhaustiveDependencies: other rows need a new measurement.
  useEffect(() => virtual.measure(), [height]);
  const focusNext = useRef(false);
  useEffect(() => {
    if (index === -1) return;
    virtual.scrollToIndex(index, { align: "auto" });
    if (!focusNext.current) return;
    focusNext.current = false;
    scroller.current?.querySelector<HTMLElement>('[aria-selected="true"]')?.focus({ preventScroll: true });
  }, [index, virtual]);

  const go = (to: number) => {
    const row = rows[Math.min(Math.max(to, 0), rows.length - 1)];
    if (!row || row.key === selected) return;
    focusNext.current = true;
    onSelect(row.key);
  };
  const open = (row: Row) => {
    onSelect(row.key);
    onToggle(row, !row.open);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const row = rows[index];
    if (!row || event.metaKey || event.ctrlKey || event.altKey) return;
    const act = treeKey(event.key, rows, index);
    if (!act) return;
    event.preventDefault();
    if (act.open !== undefined) onToggle(row, act.open);
    else if (act.enter) {
      if (row.kind === "fold") open(row);
      else onEnter(row.key);
    } else go(act.to);
  };

  return (
    <div ref={scroller} className="flex min-h-0 flex-1 flex-col overflow-y-auto">
      <Axis timeline={timeline} lane={lane} zoom={zoom} />
      <div
        role="tree"
        aria-label="Steps"
        className="relative flex-auto shrink-0"
        style={{ height: virtual.getTotalSize() }}
        onKeyDown={onKeyDown}
      >
        <Grid timeline={timeline} />
        {virtual.getVirtualItems().map(({ key, index: at, start }) => {
          const row = rows[at]!;
          return (
            <StepRow
              key={key}
              row={row}
              timeline={timeline}
              worked_ms={row.kind === "run" ? worked_ms : null}
              height={height}
              top={start}
              selected={at === index}
              isStop={at === index || (index === -1 && at === 0)}
              onEnter={row.kind === "fold" ? () => open(row) : onEnter}
              onToggle={onToggle}
            />
          );
        })}
        <Head timeline={timeline} />
      </div>
    </div>
  );
}

/** Replay position across all rows. Hidden on a phone, where names are in the way: later steps are only pale. */
function Head({ timeline }: { timeline: Timeline }) {
  const replay = useReplay();
  const at = replay === null ? -1 : timeline.at(replay);
  if (at < 0 || at > 1) return null;
  return (
    <div
      aria-hidden
      data-head
      className="pointer-events-none absolute inset-y-0 right-4 hidden rail:block left-[calc(var(--trace-name)+var(--trace-time)+var(--space-4))]"
    >
      <i className="absolute inset-y-0 -ml-px border-l-2 border-accent" style={{ left: `${at * 100}%` }} />
    </div>
  );
}

/** Vertical lines of the axis, and breaks for folded waits. */
function Grid({ timeline }: { timeline: Timeline }) {
  return (
    <div
      aria-hidden
      className="pointer-events-none absolute inset-y-0 right-4 left-[calc(var(--trace-name)+var(--trace-time)+var(--space-4))] hidden overflow-clip rail:block"
    >
      {timeline.ticks.map(({ at, label }) => (
        <i
          key={`${label} ${at}`}
          className="absolute inset-y-0 border-l border-line-soft"
          style={{ left: `${at * 100}%` }}
        />
      ))}
      {timeline.folds.map(({ from, to }) => (
        <i
          key={from}
          className="break absolute inset-y-0"
          style={{ left: `${timeline.at(from) * 100}%`, width: `${(timeline.at(to) - timeline.at(from)) * 100}%` }}
        />
      ))}
    </div>
  );
}

/** Column heads and time labels. */
function Axis({
  timeline,
  lane,
  zoom: { isZoomed, pan },
}: {
  timeline: Timeline;
  lane: RefObject<HTMLSpanElement | null>;
  zoom: Zoom;
}) {
  const drag = (event: PointerEvent<HTMLSpanElement>) => {
    const { currentTarget } = event;
    if (event.type === "pointerdown" && isZoomed) currentTarget.setPointerCapture(event.pointerId);
    else if (currentTarget.hasPointerCapture(event.pointerId)) pan(-event.movementX / currentTarget.clientWidth);
  };
  return (
    <div
      aria-hidden
      className="sticky top-0 z-(--z-sticky) hidden h-7 shrink-0 items-center border-b border-line bg-subtle text-2xs text-muted rail:flex"
    >
      <span className="w-(--trace-name) shrink-0 pl-5">Step</span>
      <span className="w-(--trace-time) shrink-0 text-right">Time</span>
      <span
        ref={lane}
        className={clsx(
          "relative mx-4 h-full min-w-0 flex-1 select-none",
          isZoomed && "cursor-grab active:cursor-grabbing",
        )}
        onPointerDown={drag}
        onPointerMove={drag}
      >
        {timeline.ticks.map(({ at, label }) => (
          <span
            key={`${label} ${at}`}
            className={clsx(
              "absolute top-1.5 whitespace-nowrap tabular-nums max-wide:even:hidden",
              at > 0.95 ? "-translate-x-full" : at > 0.02 && "-translate-x-1/2",
            )}
            style={{ left: `${at * 100}%` }}
          >
            {label}
          </span>
        ))}
      </span>
    </div>
  );
}

const phone = "(max-width: 640px)";
/** On a phone the bar is below the name. */
const barLine = 16;

/** Height of a tree row: dense, but taller on touch screens. */
function useRowHeight(): number {
  return useSyncExternalStore(subscribe, rowHeight);
}

function rowHeight(): number {
  const dense = Number.parseFloat(getComputedStyle(document.documentElement).getPropertyValue("--row-dense"));
  return (dense || 30) + (matchMedia(phone).matches ? barLine : 0);
}

function subscribe(listener: () => void): () => void {
  const queries = [phone, "(pointer: coarse)"].map((query) => matchMedia(query));
  for (const query of queries) query.addEventListener("change", listener);
  return () => {
    for (const query of queries) query.removeEventListener("change", listener);
  };
}
