import { ListFilter } from "lucide-react";
import { type ReactNode, useCallback, useEffect, useMemo, useRef, useState } from "react";
import type { AnyRun as Run } from "../../../../server/domain/api-types/run.ts";
import type { TraceStep } from "../../../../server/domain/api-types/trace.ts";
import { countedUsage } from "../../../../server/domain/counted-usage.ts";
import { isOver } from "../../../../server/domain/run-state.ts";
import type { LoadedTrace } from "../../entities/run/trace-api.ts";
import { useTiming } from "../../entities/run/use-timing.ts";
import { findCall } from "../../entities/tool-call/next-call.ts";
import { useKeptFocus } from "../../hooks/use-kept-focus.ts";
import { useKeys } from "../../hooks/use-keys.ts";
import { formatDuration } from "../../lib/format.ts";
import { statusWords } from "../../ui/data/status-pill.tsx";
import { EmptyState } from "../../ui/feedback/empty-state.tsx";
import { LazyBoundary } from "../../ui/feedback/lazy-boundary.tsx";
import { Button } from "../../ui/forms/button.tsx";
import { lazyPart } from "../../ui/lazy-part.ts";
import { DetailPane } from "./detail-pane.tsx";
import { foldCalls, keyOfDetail, lineOf } from "./fold-rows.ts";
import { graphOf } from "./graph/run-graph.ts";
import { type TraceTab, tabBeside, tabOf } from "./read-trace-search.ts";
import { ReplayContext } from "./replay-context.ts";
import type { Row } from "./row.ts";
import { failingStep, findSteps, firstStep, isProblem, placeRows } from "./rows.ts";
import { SplitPane } from "./split.tsx";
import { StepTree } from "./step-tree.tsx";
import { StepsBar } from "./steps-bar.tsx";
import type { Timeline } from "./timeline.ts";
import { TraceHead } from "./trace-head.tsx";
import { useLive } from "./use-live.ts";
import { useDebouncedParam } from "./use-rested.ts";
import { useRows } from "./use-rows.ts";
import { useTimeline } from "./use-timeline.ts";
import { useZoom } from "./use-zoom.ts";

/** Lazy: most traces are read without it. */
const GraphPanel = lazyPart(() => import("./graph/graph-panel.tsx").then((it) => ({ default: it.GraphPanel })));

/** Search parameters of the page. */
interface TraceSearch {
  /** Key of the selected row; absent: chosen by the page. */
  step?: string;
  tab?: TraceTab;
  /** Visible pane on a phone; absent: the steps. */
  view?: "detail";
  /** Search text. */
  q?: string;
  fold?: "off";
  /** Replay position in milliseconds since the run's start; absent: at the end. */
  t?: number;
  /** Shows the fork form of the selected step. */
  fork?: true;
  /** Shows the graph, as a drawing or a table. */
  graph?: "drawing" | "table";
  /** Graph node that filters the steps. */
  node?: string;
}

/** Props for showing a trace. */
export interface TraceView {
  search: TraceSearch;
  /** Changes search parameters. `back` adds a history entry; `discards` leaves a form without asking. */
  onSearch: (change: Partial<TraceSearch>, options?: { back?: boolean; discards?: boolean }) => void;
  onOpenRun: (runId: string) => void;
  player?: (slot: PlayerSlot) => ReactNode;
  fork?: (slot: ForkSlot) => ReactNode;
}

interface FoundTraceProps extends TraceView {
  run: Run;
  loaded: LoadedTrace;
  agent: string;
  stale: Error | null;
  menu: ReactNode;
}

/** A loaded trace: head, tree and waterfall, details, player. */
export function FoundTrace(props: FoundTraceProps) {
  const { run: loadedRun, loaded, agent, stale, menu, search, onSearch, player, fork } = props;
  const { live, stream } = useLive(loadedRun.id, !isOver(loadedRun.status) && !loaded.hasMore);
  // The stream may be ahead of the last fetch, but an ended run stays ended.
  const run = useMemo(
    () => (isOver(loadedRun.status) || !live.status ? loadedRun : { ...loadedRun, status: live.status }),
    [loadedRun, live.status],
  );
  const { rows, toggle } = useRows(run, loaded, agent, search.step, search.graph !== undefined);
  const timing = useTiming(run);
  const folded = search.fold !== "off";
  const timeline = useTimeline(loaded, rows, folded);
  const zoom = useZoom();
  const first = useFirst(rows, run, loaded.hasMore);
  const selected = search.step ?? first;
  const row = rows.find(({ key }) => key === keyOfDetail(selected)) ?? (loaded.hasMore ? undefined : rows[0]);
  const [position, setPosition] = useDebouncedParam(search.t, (t) => onSearch({ t }));
  const move = useCallback((to: number | null) => setPosition(to === null ? undefined : Math.round(to)), [setPosition]);

  const latest = useRef(onSearch);
  latest.current = onSearch;
  const select = useCallback((step: string) => latest.current({ step, fork: undefined }), []);
  const [openFolds, setOpenFolds] = useState<ReadonlySet<string>>(new Set());
  const toggleRow = useCallback(
    (of: Row, to: boolean) => {
      if (of.kind !== "fold") return toggle(of, to);
      setOpenFolds((before) => new Set(to ? [...before, of.key] : [...before].filter((key) => key !== of.key)));
    },
    [toggle],
  );
  const enter = useCallback((step: string) => {
    const isPhone = matchMedia("(max-width: 640px)").matches;
    latest.current({ step, fork: undefined, ...(isPhone && { view: "detail" }) }, { back: isPhone });
  }, []);
  const showTab = useCallback((tab: TraceTab) => latest.current({ tab }), []);
  const back = useCallback(() => latest.current({ view: undefined }), []);
  const beginFork = useCallback(() => latest.current({ fork: true }), []);
  const endFork = () => {
    onSearch({ fork: undefined }, { discards: true });
    requestAnimationFrame(() => document.querySelector<HTMLElement>("[data-fork]")?.focus());
  };

  const detail = useRef<HTMLElement>(null);
  // Focus the next pending call after one was answered, otherwise the selected tab.
  useKeptFocus(detail, (part) => findCall(part) ?? part.querySelector('[role="tab"][aria-selected="true"]'));

  const find = useRef<HTMLInputElement>(null);
  const [searchText = "", seek] = useDebouncedParam(search.q, (q) => onSearch({ q }));
  const cost_usd = countedUsage(run)?.cost_usd ?? null;
  const graph = useMemo(
    () => (search.graph ? graphOf(rows, { worked_ms: timing?.worked_ms ?? null, cost_usd }) : null),
    [search.graph, rows, timing?.worked_ms, cost_usd],
  );
  const node = graph?.nodes.find(({ id }) => id === search.node)?.id;
  const visibleRows = useMemo(() => {
    const ofNode = node === undefined ? rows : rows.filter(({ key }) => graph?.nodeOf.get(key) === node);
    if (searchText.trim()) return placeRows(findSteps(ofNode, searchText));
    return placeRows(node === undefined ? foldCalls(rows, openFolds) : ofNode);
  }, [rows, graph, node, searchText, openFolds]);
  const line = useMemo(
    () => lineOf(visibleRows, rows, row ? selectedKey(selected, row) : selected),
    [visibleRows, rows, row, selected],
  );
  const problems = useMemo(() => rows.filter(isProblem), [rows]);
  const goToProblem = (by: 1 | -1) => {
    const next = problemBeside(rows, problems, keyOfDetail(selected), by);
    if (next) select(next.key);
  };
  useKeys({
    "[": () => row && showTab(tabBeside(row, tabOf(row, search.tab), -1)),
    "]": () => row && showTab(tabBeside(row, tabOf(row, search.tab), 1)),
    n: () => goToProblem(1),
    p: () => goToProblem(-1),
    "/": () => find.current?.focus(),
    ...(fork && { f: () => document.querySelector<HTMLElement>("[data-fork]")?.click() }),
  });

  const isForking = fork && search.fork && row?.step && row.level === 2;
  return (
    <ReplayContext value={position === undefined ? null : timeline.begin + position}>
      <TraceHead run={run} agent={agent} stream={stream} stale={stale} menu={menu} />
      <SplitPane
        shown={search.view === "detail" || isForking ? "right" : "left"}
        left={
          <section aria-label="Steps" className="trace flex min-h-0 flex-1 flex-col">
            <StepsBar
              input={find}
              sought={searchText}
              onSought={(q) => seek(q || undefined)}
              found={searchText.trim() ? visibleRows.length : null}
              problems={problems.length}
              onProblem={() => goToProblem(1)}
              zoom={zoom}
              folded={folded}
              onFolded={(fold) => onSearch({ fold: fold ? undefined : "off" })}
              graph={graph !== null}
              onGraph={(on) => onSearch({ graph: on ? "drawing" : undefined, node: undefined })}
            />
            {graph && (
              <LazyBoundary>
                <GraphPanel
                  graph={graph}
                  asTable={search.graph === "table"}
                  onTable={(table) => onSearch({ graph: table ? "table" : "drawing" })}
                  chosen={node}
                  onChoose={(id) => onSearch({ node: id })}
                  leftOut={rows.filter(({ kind, opens, open }) => kind === "step" && opens && !open).length}
                />
              </LazyBoundary>
            )}
            {visibleRows.length === 0 ? (
              <NoSteps sought={searchText} onClear={() => seek(undefined)} />
            ) : (
              <StepTree
                rows={visibleRows}
                timeline={timeline}
                worked_ms={timing?.worked_ms ?? null}
                selected={line}
                onSelect={select}
                onEnter={enter}
                onToggle={toggleRow}
                zoom={zoom}
              />
            )}
          </section>
        }
        right={
          <section ref={detail} aria-label="Selected step" className="flex min-h-0 flex-1 flex-col">
            {isForking ? (
              fork({
                run,
                step: row.step!,
                steps: loaded.steps,
                hasMore: loaded.hasMore,
                onDone: props.onOpenRun,
                onClose: endFork,
              })
            ) : (
              <DetailPane
                row={row}
                run={run}
                loaded={loaded}
                live={live}
                tab={search.tab}
                onTab={showTab}
                onSelect={select}
                onBack={back}
                onFork={fork ? beginFork : null}
              />
            )}
          </section>
        }
      />
      {/* On a phone the fork form replaces both panes. */}
      <div className={isForking ? "max-rail:hidden rail:contents" : "contents"}>
        {player?.({
          run,
          loaded,
          rows,
          timeline,
          position: position ?? null,
          onPosition: move,
          selected: keyOfDetail(selected),
          // Selecting another step would close the form and lose its edits.
          onSelect: search.fork ? () => {} : select,
        })}
      </div>
      <RunAnnouncer run={run} />
    </ReplayContext>
  );
}

/** Returns the selected key: of a fold its own; if the step is gone, that of the row shown instead. */
const selectedKey = (selected: string, row: Row): string => (keyOfDetail(selected) === row.key ? selected : row.key);

/** Row selected when the page opened. It never changes, so that later events do not move the reader. */
function useFirst(rows: readonly Row[], run: Run, hasMore: boolean): string {
  const failingStepIndex = failingStep(run);
  const [first, setFirst] = useState<string | null>(() =>
    failingStepIndex === null ? null : String(failingStepIndex),
  );
  const initialKey = first ?? (hasMore ? null : firstStep(rows, run));
  useEffect(() => {
    if (initialKey !== null) setFirst(initialKey);
  }, [initialKey]);
  return initialKey ?? "run";
}

/** Returns the next or previous problem, wrapping around. */
function problemBeside(rows: readonly Row[], problems: readonly Row[], selected: string, by: 1 | -1): Row | undefined {
  const at = rows.findIndex(({ key }) => key === selected);
  const places = new Map(rows.map(({ key }, index) => [key, index]));
  const placeOf = (row: Row) => places.get(row.key)!;
  if (by === 1) return problems.find((row) => placeOf(row) > at) ?? problems[0];
  return problems.findLast((row) => placeOf(row) < at) ?? problems.at(-1);
}

/** Props of the player. */
export interface PlayerSlot {
  run: Run;
  loaded: LoadedTrace;
  rows: readonly Row[];
  timeline: Timeline;
  /** Milliseconds since the timeline's start; null: at the end, without a replay. */
  position: number | null;
  onPosition: (position: number | null) => void;
  selected: string;
  onSelect: (key: string) => void;
}

/** Props of the fork panel. */
export interface ForkSlot {
  run: Run;
  step: TraceStep;
  /** Loaded steps of the run. */
  steps: readonly TraceStep[];
  /** True if there are more. */
  hasMore: boolean;
  onDone: (runId: string) => void;
  onClose: () => void;
}

/** Empty state of the search. */
function NoSteps({ sought, onClear }: { sought: string; onClear: () => void }) {
  return (
    <EmptyState icon={ListFilter} title="No results">
      <p className="max-w-[46ch] wrap-anywhere text-muted">
        No name, argument, output or error of the steps contains “{sought}”.
      </p>
      <Button onClick={onClear}>Show all steps</Button>
    </EmptyState>
  );
}

/** Status in a polite live region instead of every delta: “Writing”, then “Completed in 1.2 s”. */
function RunAnnouncer({ run }: { run: Run }) {
  const line =
    run.status === "in_progress"
      ? "Writing"
      : isOver(run.status) && run.timing
        ? `${statusWords[run.status]} in ${formatDuration(run.timing.worked_ms)}`
        : statusWords[run.status];
  return (
    <p role="status" className="sr-only">
      {line}
    </p>
  );
}
