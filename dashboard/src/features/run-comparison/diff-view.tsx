import { type InfiniteData, type UseInfiniteQueryResult, useInfiniteQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { ArrowLeftRight, ChevronLeft, ChevronRight } from "lucide-react";
import { Fragment, type RefObject, useEffect, useMemo, useRef, useState } from "react";
import type { AnyRun as Run } from "../../../../server/domain/api-types/run.ts";
import type { Diff as DiffPage, DiffStep as StepPair, TraceStep } from "../../../../server/domain/api-types/trace.ts";
import { isOver } from "../../../../server/domain/run-state.ts";
import { type Change, stepsQuery } from "../../entities/run/diff-api.ts";
import { useKeys } from "../../hooks/use-keys.ts";
import { plural } from "../../lib/format.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { Kbd } from "../../ui/data/kbd.tsx";
import { SheetFoot } from "../../ui/dialogs/sheet.tsx";
import { Callout } from "../../ui/feedback/callout.tsx";
import { ErrorNote } from "../../ui/feedback/error-note.tsx";
import { Button, buttonClass } from "../../ui/forms/button.tsx";
import { DiffHead } from "./diff-head.tsx";
import { FinalOutput } from "./final-output.tsx";
import { originLine } from "./origin-line.ts";
import { OriginRow, PairRow } from "./pair-row.tsx";
import type { DiffSearch } from "./read-diff-search.ts";
import { RunSums } from "./run-sums.tsx";

interface DiffViewProps {
  a: Run;
  b: Run;
  diff: UseInfiniteQueryResult<InfiniteData<DiffPage>>;
  pages: readonly DiffPage[];
  search: DiffSearch;
  onSearch: (search: DiffSearch) => void;
}

/** A loaded comparison: figures, pairs of steps and outputs. */
export function DiffView({ a, b, diff, pages, search, onSearch }: DiffViewProps) {
  const { hasNextPage, isFetchingNextPage, fetchNextPage, error } = diff;
  const pairs = useMemo(() => pages.flatMap(({ steps }) => steps), [pages]);
  const steps = {
    a: useSteps(a, lastOf(pairs, "a_step_index")),
    b: useSteps(b, lastOf(pairs, "b_step_index")),
  };
  const origin = useMemo(() => originLine(a, b, pairs), [a, b, pairs]);
  const hideEqual = search.hide === "equal";
  const entries = useMemo(() => entriesOf(pairs, hideEqual, origin?.before), [pairs, hideEqual, origin]);
  const list = useRef<HTMLOListElement>(null);
  const go = useDifferences(list, { hasMore: hasNextPage, more: fetchNextPage });
  const latest = pages.at(-1)!;
  const differing = latest.changes.changed + latest.changes.only_a + latest.changes.only_b;
  return (
    <>
      <DiffHead>
        <label className="flex items-center gap-2 whitespace-nowrap">
          <input
            type="checkbox"
            checked={hideEqual}
            onChange={(event) => onSearch(event.target.checked ? { hide: "equal" } : {})}
          />
          Differences only
        </label>
        <Link
          to="/runs/$runId/diff/$otherId"
          params={{ runId: b.id, otherId: a.id }}
          search={search}
          className={buttonClass({ kind: "ghost", size: "icon" })}
          aria-label="Swap sides"
          title="Swap sides"
        >
          <ArrowLeftRight aria-hidden className="size-4" strokeWidth={1.5} />
        </Link>
        <span className="inline-flex">
          <Button
            size="icon"
            aria-label="Previous difference"
            title="Previous difference (p)"
            className="rounded-r-none!"
            disabled={differing === 0}
            onClick={() => go(-1)}
          >
            <ChevronLeft aria-hidden className="size-4" strokeWidth={1.5} />
          </Button>
          <Button
            className="-ml-px rounded-l-none!"
            aria-label="Next difference"
            title="Next difference (n)"
            disabled={differing === 0}
            onClick={() => go(1)}
          >
            Next
            <ChevronRight aria-hidden className="size-4" strokeWidth={1.5} />
          </Button>
        </span>
      </DiffHead>
      <div className="min-h-0 flex-1 overflow-y-auto">
        <RunSums a={a} b={b} page={latest} />
        <UnfinishedNotice a={a} b={b} />
        {differing === 0 && <NoDifference a={a} b={b} />}
        <ol ref={list} aria-label="Steps">
          {entries.map((entry) => (
            <Fragment key={firstOf(entry)}>
              {origin?.before === firstOf(entry) && <OriginRow origin={origin} />}
              <EntryRow entry={entry} steps={steps} origin={origin} onShow={() => onSearch({})} />
            </Fragment>
          ))}
          {origin && origin.before === pairs.length && !hasNextPage && <OriginRow origin={origin} />}
        </ol>
        {error && (
          <div className="p-5">
            <ErrorNote title="Not all steps are here" error={error} onRetry={() => void fetchNextPage()} />
          </div>
        )}
        {hasNextPage ? (
          <div className="border-b border-line-soft p-3 text-center">
            <Button disabled={isFetchingNextPage} onClick={() => void fetchNextPage()}>
              {isFetchingNextPage ? "Loading" : "Show more steps"}
            </Button>
          </div>
        ) : (
          <FinalOutput a={a} b={b} />
        )}
      </div>
      <Counts changes={latest.changes} />
    </>
  );
}

function EntryRow({
  entry,
  steps,
  origin,
  onShow,
}: {
  entry: Entry;
  steps: Parameters<typeof PairRow>[0]["steps"];
  origin: ReturnType<typeof originLine>;
  onShow: () => void;
}) {
  if (entry.kind === "pair")
    return <PairRow pair={entry.pair} steps={steps} isEdited={isEditedAt(entry.pair, origin)} />;
  return (
    <li>
      <button
        type="button"
        className="w-full border-b border-line-soft bg-subtle px-5 py-1.5 text-xs text-muted hover:bg-hover hover:text-ink"
        onClick={onShow}
      >
        {plural(entry.count, "equal step")} hidden. Show all
      </button>
    </li>
  );
}

/** True for the step whose edited output started the fork. */
const isEditedAt = ({ index, change }: StepPair, origin: ReturnType<typeof originLine>): boolean =>
  change === "changed" && origin?.again !== null && origin?.before === index;

const lastOf = (pairs: readonly StepPair[], field: "a_step_index" | "b_step_index"): number =>
  pairs.findLast((pair) => pair[field] !== null)?.[field] ?? -1;

/** Notice that an unfinished run can still change. */
function UnfinishedNotice({ a, b }: { a: Run; b: Run }) {
  const open = [...(isOver(a.status) ? [] : ["A"]), ...(isOver(b.status) ? [] : ["B"])];
  if (open.length === 0) return null;
  return (
    <div className="px-4 pt-3 rail:px-5">
      <Callout tone="info" role="status">
        {open.join(" and ")} {open.length === 1 ? "is" : "are"} not over. The comparison is updated as they progress.
      </Callout>
    </div>
  );
}

function NoDifference({ a, b }: { a: Run; b: Run }) {
  return (
    <div className="px-4 pt-3 pb-3 rail:px-5">
      <Callout tone="ok">
        <b>{a.id === b.id ? "This compares a run with itself" : "No differences"}</b>
        <p>Both took the same steps with the same results. Ids, times and cost are not compared.</p>
      </Callout>
    </div>
  );
}

function Counts({ changes }: { changes: Record<Change, number> }) {
  const words: [Change, string][] = [
    ["equal", "equal"],
    ["changed", "changed"],
    ["only_a", "only in A"],
    ["only_b", "only in B"],
  ];
  return (
    <SheetFoot>
      <span className="flex flex-wrap gap-x-3 tabular-nums">
        {words.map(([change, word]) => (
          <span key={change}>
            <b className="font-strong text-ink">{changes[change].toLocaleString("en")}</b> {word}
          </span>
        ))}
      </span>
      <span className="ml-auto flex items-center gap-1 max-rail:hidden">
        <Kbd>n</Kbd>
        <Kbd>p</Kbd> next, previous difference
      </span>
    </SheetFoot>
  );
}

/** List entry: a pair of steps, or a number of hidden equal pairs. */
type Entry = { kind: "pair"; pair: StepPair } | { kind: "hidden"; first: number; count: number };

/**
 * All pairs; with `hideEqual`, equal stretches collapse to their count. `breaks` splits a stretch before that index.
 */
function entriesOf(pairs: readonly StepPair[], hideEqual: boolean, breaks?: number): Entry[] {
  const entries: Entry[] = [];
  for (const pair of pairs) {
    const last = entries.at(-1);
    if (!hideEqual || pair.change !== "equal") entries.push({ kind: "pair", pair });
    else if (last?.kind === "hidden" && pair.index !== breaks) last.count++;
    else entries.push({ kind: "hidden", first: pair.index, count: 1 });
  }
  return entries;
}

/** Index of an entry's first pair. */
const firstOf = (entry: Entry): number => (entry.kind === "pair" ? entry.pair.index : entry.first);

/** Steps of a run by index, loaded up to the last wanted one. */
function useSteps(run: Run, lastIndex: number): ReadonlyMap<number, TraceStep> {
  const { data, hasNextPage, isFetching, isError, fetchNextPage } = useInfiniteQuery(stepsQuery(useWorkspace(), run));
  const steps = useMemo(() => data?.pages.flatMap((page) => page.steps) ?? [], [data]);
  const isShort = (steps.at(-1)?.step_index ?? -1) < lastIndex;
  useEffect(() => {
    if (isShort && hasNextPage && !isFetching && !isError) void fetchNextPage();
  }, [isShort, hasNextPage, isFetching, isError, fetchNextPage]);
  return useMemo(() => new Map(steps.map((step) => [step.step_index, step])), [steps]);
}

/** Jumps to the next or previous difference (`n`, `p`). Loads more pages after the last one. */
function useDifferences(
  list: RefObject<HTMLElement | null>,
  { hasMore, more }: { hasMore: boolean; more: () => Promise<unknown> },
): (by: 1 | -1) => void {
  const at = useRef(-1);
  const [isRequested, setIsRequested] = useState(false);
  const show = (rows: readonly HTMLElement[], index: number) => {
    at.current = index;
    rows[index]?.focus({ preventScroll: true });
    rows[index]?.scrollIntoView({ block: "center" });
  };
  const rowsOf = () => [...(list.current?.querySelectorAll<HTMLElement>("[data-difference]") ?? [])];
  const go = (by: 1 | -1) => {
    const rows = rowsOf();
    const active = rows.findIndex((row) => row.contains(document.activeElement));
    const next = (active === -1 ? (by === 1 ? at.current : Math.max(at.current, 0)) : active) + by;
    if (next >= rows.length && hasMore) setIsRequested(true);
    else if (rows.length > 0) show(rows, (next + rows.length) % rows.length);
  };
  // A page may have no difference: load pages until one has, or the end.
  useEffect(() => {
    if (!isRequested) return;
    const rows = rowsOf();
    if (at.current + 1 < rows.length || !hasMore) {
      setIsRequested(false);
      if (rows.length > 0) show(rows, (at.current + 1) % rows.length);
    } else void more();
  });
  useKeys({ n: () => go(1), p: () => go(-1) });
  return go;
}
