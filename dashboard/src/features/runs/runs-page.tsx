import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { ChartColumn, Pause, Play, UserRoundX } from "lucide-react";
import { useCallback, useMemo, useRef, useState } from "react";
import type { AnyRun as Run } from "../../../../server/domain/api-types/run.ts";
import { ListHead } from "../../entities/crud/list-head.tsx";
import { ImportRun } from "../../entities/run/import-run.tsx";
import { runCountQuery } from "../../entities/run/run-api.ts";
import { isFiltered, type RunsSearch, viewOf } from "../../entities/run/runs-search.ts";
import { usePermission } from "../../entities/session/use-may.ts";
import { eraseUser } from "../../entities/user/user-api.ts";
import { useDebouncedValue } from "../../hooks/use-debounced-value.ts";
import { useKeys } from "../../hooks/use-keys.ts";
import { useRowKeys } from "../../hooks/use-row-keys.ts";
import { plural } from "../../lib/format.ts";
import { usePreference } from "../../lib/local-storage.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { NewRows } from "../../ui/data/new-rows.tsx";
import { Pagination } from "../../ui/data/pagination.tsx";
import { LiveDot, LostBadge } from "../../ui/data/stream-badge.tsx";
import { ActionDialog } from "../../ui/dialogs/action-dialog.tsx";
import { ErrorNote } from "../../ui/feedback/error-note.tsx";
import { LazyBoundary } from "../../ui/feedback/lazy-boundary.tsx";
import { toast } from "../../ui/feedback/toast.ts";
import { Button, buttonClass } from "../../ui/forms/button.tsx";
import { lazyPart } from "../../ui/lazy-part.ts";
import { BulkBar } from "./bulk-bar.tsx";
import { useColumns } from "./columns.ts";
import { analyticsFilterOf } from "./counted-of.ts";
import { HistogramPlace } from "./histogram-place.tsx";
import { ColumnsMenu, ExportMenu } from "./list-menus.tsx";
import { NoMatch, NoRuns } from "./no-runs.tsx";
import { RunsFilters } from "./runs-filters.tsx";
import { RunsTable, RunsTableSkeleton } from "./runs-table.tsx";
import { useLiveRuns } from "./use-live-runs.ts";
import { ViewsMenu } from "./views-menu.tsx";

const typingPauseMs = 200;
const countEveryMs = 15_000;

/** Lazy, so that the rows render first. */
const Histogram = lazyPart(() => import("./histogram.tsx").then((it) => ({ default: it.Histogram })));

interface RunsPageProps {
  search: RunsSearch;
  /** `replace` replaces the history entry instead of adding one. */
  onSearch: (search: RunsSearch, replace?: boolean) => void;
  onOpenRun: (runId: string) => void;
  onCompare: (runId: string, otherId: string) => void;
  onPin: (runs: Run[]) => void;
}

/** Live list of all runs in a workspace, newest first. */
export function RunsPage({ search, onSearch, onOpenRun, onCompare, onPin }: RunsPageProps) {
  const at = useWorkspace();
  const [live, setLive] = useState(true);
  const body = useRef<HTMLDivElement>(null);
  const asked = useAsked(search);
  const { page, stream, waiting, fresh, showWaiting } = useLiveRuns(
    asked,
    live,
    () => (body.current?.scrollTop ?? 0) < 8,
  );
  const runs = page.data?.data;
  const { data: total } = useQuery({ ...runCountQuery(at, asked), refetchInterval: live ? countEveryMs : false });
  const selection = useSelection(runs ?? noRuns);
  const columns = useColumns();
  const [chart, setChart] = usePreference("runs.chart", ["on", "off"], "on");
  const hasChart = chart === "on";
  const mayRun = usePermission("member");
  useRowKeys(body);
  useKeys({
    x: () => {
      const id = document.activeElement?.closest<HTMLElement>("[data-run]")?.dataset.run;
      if (id) selection.toggle({ id });
    },
    ...(selection.ids.size > 0 && { Escape: selection.clear }),
  });
  const filter = (change: RunsSearch) => onSearch({ ...viewOf(search), ...change });
  const showNew = () => {
    body.current?.scrollTo({ top: 0 });
    showWaiting();
  };

  return (
    <>
      <ListHead title="Runs">
        <LostBadge stream={stream} />
        <Button aria-pressed={live} onClick={() => setLive(!live)}>
          {!live && <Play aria-hidden className="size-4" strokeWidth={1.5} />}
          {live && stream !== "open" && <Pause aria-hidden className="size-4" strokeWidth={1.5} />}
          {live && stream === "open" && <LiveDot />}
          <span className="max-rail:sr-only">Auto-refresh</span>
        </Button>
        <ImportRun onOpenRun={onOpenRun} />
        <ViewsMenu search={search} onSearch={onSearch} />
        {mayRun && search.user && <EraseUser key={search.user} userId={search.user} />}
        {mayRun && (
          <Link to="/playground" className={buttonClass({ kind: "primary" })}>
            New run
          </Link>
        )}
      </ListHead>
      <RunsFilters
        search={search}
        onFilter={filter}
        onText={(q) => onSearch({ ...viewOf(search), q: q || undefined }, true)}
        onOpenRun={onOpenRun}
      >
        <Button
          kind="ghost"
          size="sm"
          aria-pressed={hasChart}
          className="max-rail:hidden"
          onClick={() => setChart(hasChart ? "off" : "on")}
        >
          <ChartColumn aria-hidden className="size-3.5" strokeWidth={1.5} />
          Chart
        </Button>
        <ColumnsMenu shown={columns.shown} onToggle={columns.toggle} />
        <ExportMenu search={asked} />
      </RunsFilters>
      <ErrorNote
        inset
        title={runs ? "The list is not up to date" : "The runs cannot be shown"}
        error={page.error}
        onRetry={() => void page.refetch()}
      />
      {hasChart && analyticsFilterOf(asked) && (
        <LazyBoundary fallback={<HistogramPlace />}>
          <Histogram search={asked} />
        </LazyBoundary>
      )}
      <div className="relative flex min-h-0 flex-1 flex-col">
        <NewRows count={waiting} onShow={showNew} />
        <section
          ref={body}
          aria-label="Runs"
          className="min-h-0 flex-1 overflow-y-auto focus-visible:shadow-none has-[+[role=toolbar]]:pb-16"
        >
          {page.isPending && !page.error && <RunsTableSkeleton />}
          {runs && runs.length > 0 && (
            <RunsTable
              runs={runs}
              columns={columns.shown}
              folds={columns.folds}
              search={search}
              fresh={fresh}
              selected={selection.ids}
              onSelect={selection.toggle}
              onSelectAll={selection.selectAll}
              onSort={filter}
            />
          )}
          {runs?.length === 0 && <Empty search={search} onSearch={onSearch} />}
        </section>
        {selection.runs.length > 0 && (
          <BulkBar runs={selection.runs} onCompare={onCompare} onPin={onPin} onClear={selection.clear} />
        )}
      </div>
      <Pagination
        noun="run"
        page={page.data}
        search={asked}
        oldestFirst={asked.order === "asc"}
        sorted={asked.sort !== undefined}
        total={total}
        onPage={(place) => onSearch({ ...viewOf(search), ...place })}
      />
    </>
  );
}

const noRuns: Run[] = [];

/** Search sent to the server, with debounced text. Keeps its identity while its content is equal. */
function useAsked(search: RunsSearch): RunsSearch {
  const q = useDebouncedValue(search.q?.trim() || undefined, typingPauseMs);
  const asked = JSON.stringify({ ...search, q: search.q === undefined ? undefined : q });
  return useMemo(() => JSON.parse(asked), [asked]);
}

function Empty({ search, onSearch }: Pick<RunsPageProps, "search" | "onSearch">) {
  if (!isFiltered(search) && !search.after && !search.before) return <NoRuns />;
  return (
    <NoMatch
      search={search}
      onClear={() => onSearch({})}
      onWiden={() => onSearch({ ...viewOf(search), since: "7d" })}
    />
  );
}

/** Selected rows, limited to the shown ones. */
function useSelection(visibleRuns: readonly Run[]) {
  const [ids, setIds] = useState<ReadonlySet<string>>(new Set());
  const toggle = useCallback(({ id }: Pick<Run, "id">) => {
    setIds((before) => {
      const after = new Set(before);
      if (!after.delete(id)) after.add(id);
      return after;
    });
  }, []);
  const selectAll = (all: boolean) => setIds(new Set(all ? visibleRuns.map(({ id }) => id) : []));
  const clear = useCallback(() => setIds(new Set()), []);
  return { ids, runs: visibleRuns.filter(({ id }) => ids.has(id)), toggle, selectAll, clear };
}

/** Deletes all data of a user after their id was typed. */
function EraseUser({ userId }: { userId: string }) {
  const at = useWorkspace();
  const [isConfirming, setIsConfirming] = useState(false);
  return (
    <>
      <Button kind="danger-quiet" onClick={() => setIsConfirming(true)}>
        <UserRoundX aria-hidden className="size-4" strokeWidth={1.5} />
        Erase user
      </Button>
      {isConfirming && (
        <ActionDialog
          title={`Erase ${userId}`}
          act="Erase user"
          acting="Erasing"
          typed={userId}
          refused="The user was not erased"
          run={() => eraseUser(at, userId)}
          stale={[{}]} // Any query may contain data of the user.
          onClose={() => setIsConfirming(false)}
          onDone={({ status, deleted: { runs, threads } }) =>
            toast(
              status === "completed" ? "User erased" : "Erasing the user",
              `${plural(runs, "run")}, ${plural(threads, "thread")}, memory and files`,
            )
          }
        >
          All {at.mode} data of this user is deleted: runs with their traces, threads, memory, files and schedules. Runs
          in progress are cancelled. Only a backup can restore it.
        </ActionDialog>
      )}
    </>
  );
}
